// Navigation: all of it that is loaded when a destination is first asked for. This module connects the others and contains no rules.
//
//   entry.ts          what the page has of navigation before that: a button, the address, the loader
//   types.ts          types of the service's answers; api.ts requests; state.ts the state in observables; deps.ts what the parts are given
//   routeline.ts      a route as a line with what is known of its segments; snaptoroute.ts where a fix is on it (both pure)
//   drivereducer.ts   what a drive does after each fix, answer and command (pure); drive.ts executes it
//                     its parts: progress.ts, offroute.ts, reroute.ts, arrival.ts, eta.ts, ledcamera.ts, resume.ts
//   sessionopener.ts  opens the sessions of a drive (opening.ts, pure); sessionlink.ts reads the events of one
//   routelayers.ts    the route on the map (routefeatures.ts, pure); junctionnames.ts; overview.ts
//   maneuverpanel.ts  the next maneuver (maneuver.ts, pure; maneuvericon.ts); steplist.ts all of them where there is no map
//   trippanel.ts      what is left, and the end of the drive; prompts.ts questions; routenotices.ts why the route has changed
//   whereto.ts        where to (placesearch.ts, results.ts, pure); placekeeper.ts the driver's places (keptplaces.ts, pure)
//                     accountplaces.ts those of the account; speechrecognition.ts dictation; placename.ts names of places without one
//   choice.ts         which way (routefacts.ts, autostart.ts, pure); alternativelayers.ts the ways on the map; stopbuttons.ts; stopsview.ts (stops.ts, pure)
//   chargersview.ts   chargers on the way; chargerfinder.ts finds them (chargers.ts, pure)
//   voice.ts          what is said: voicerules.ts when, speechqueue.ts in which order (both pure), speaker.ts by whom

import styleURL from "./nav.css?url"; // imported as a style it would make Vite add its own loader to the first load
import { element } from "../browser/dom.ts";
import type { NavActions, NavDeps, Navigation, NavigationHost } from "./deps.ts";
import { NavigationAPI } from "./api.ts";
import { mountChoice } from "./choice.ts";
import { Drive } from "./drive.ts";
import { mountJunctionNames } from "./junctionnames.ts";
import { mountManeuverPanel } from "./maneuverpanel.ts";
import { mountRouteNotices } from "./routenotices.ts";
import { mountStopButtons } from "./stopbuttons.ts";
import { mountOverview } from "./overview.ts";
import { PlaceKeeper } from "./placekeeper.ts";
import { mountPrompts } from "./prompts.ts";
import { mountRouteLayers } from "./routelayers.ts";
import { mountStepList } from "./steplist.ts";
import { makeNavState } from "./state.ts";
import { mountTripPanel } from "./trippanel.ts";
import { mountVoice } from "./voice.ts";
import { mountWhereTo } from "./whereto.ts";
import { namePlace } from "./placename.ts";

/** loadStyle returns when the style of navigation's panels is there, or cannot be had. */
export function loadStyle(): Promise<void> {
  const link = element("link", { rel: "stylesheet", href: styleURL });
  const loaded = new Promise<void>((resolve) => {
    link.onload = link.onerror = () => {
      resolve();
    };
  });
  document.head.append(link);
  return loaded;
}

/** mountNavigation adds navigation to the page; it is called once. */
export function mountNavigation(host: NavigationHost): Navigation {
  const nav = makeNavState();
  const api = new NavigationAPI(host.budget, () => performance.now());
  const drive = new Drive(host, nav, api);
  const actions: NavActions = {
    openSearch: () => {
      if (nav.phase.get() !== "led") nav.phase.set("choosing");
      whereTo.open();
    },
    choose: (stops) => {
      const destination = stops[stops.length - 1];
      if (destination === undefined) return;
      nav.destination.set(destination);
      nav.routes.set([]);
      nav.chosen.set(0);
      nav.trouble.set(null);
      nav.stops.set(stops);
      nav.phase.set("choosing");
      choice.offer();
      if (destination.name === "") void namePlace(deps, destination);
    },
    lead: (stops) => {
      drive.resumeTo(stops, []);
    },
    start: (route) => {
      drive.start(route);
    },
    changeStops: (stops) => {
      drive.changeStops(stops);
    },
    decline: () => {
      drive.decline();
    },
    accept: () => {
      drive.accept();
    },
    resume: () => {
      drive.resume();
    },
    answer: (goesOn) => {
      const kept = nav.asking.get();
      if (kept !== null && goesOn) drive.resumeTo(kept.stops, kept.avoid);
      else drive.forget();
    },
    end: () => {
      drive.end();
    },
  };
  const deps: NavDeps = { host, nav, api, actions };
  mountRouteLayers(deps);
  mountJunctionNames(deps);
  mountManeuverPanel(deps);
  const trip = mountTripPanel(deps);
  mountPrompts(deps);
  mountRouteNotices(deps);
  mountStepList(deps);
  mountOverview(deps);
  mountVoice(deps, trip);
  const keeper = new PlaceKeeper(host.preferences);
  const whereTo = mountWhereTo({ ...deps, keeper });
  const choice = mountChoice({ ...deps, keeper, addStop: whereTo.addStop });
  mountStopButtons(deps, choice);
  let listed: boolean | null = null;
  nav.phase.watch((phase) => {
    const isLed = phase === "led" || phase === "arrived";
    if (isLed && listed === null) {
      listed = host.listOpen.get();
      host.listOpen.set(false);
    } else if (!isLed && listed !== null) {
      host.listOpen.set(listed);
      listed = null;
    }
    host.slots.all.setAttribute("data-nav", phase);
  });
  return { nav, ...actions };
}
