// The page that a driver opens in the car. This module connects the others and contains no rules.
//
// A folder imports only those above it in this list; build/imports.test.ts verifies this. "(pure)" marks modules without DOM, network and clock.
//
//   geo/       geo.ts distances and bearings; sun.ts the sun's altitude (both pure)
//   browser/   wrappers of the browser: observable.ts, dom.ts, widgets.ts, focus.ts, storage.ts
//   settings/  settings.ts the driver's choices; kindchoice.ts those of kinds (both pure)
//   net/       wire.ts types of the service's answers; api.ts requests to the service; requestbudget.ts limits them by a token bucket
//              (tokenbucket.ts); pure parts: sseparser.ts, reconnect.ts, serverclock.ts
//   i18n/      words.ts and a file for each language: all texts; format.ts numbers and units (pure); locale.ts both together
//   car/       position.ts the driver's position; demodrive.ts simulates it; deadreckoning.ts interpolates between fixes (pure)
//   pins/      rules of pins (pure): visibility.ts which are visible, freshness.ts how they look, attribution.ts whose data they are,
//              entitylabels.ts and details.ts (loaded by detailsloader.ts) their texts, wellknown.ts known properties; shapes.ts,
//              linecolours.ts, icontint.ts, featurediff.ts, clusters.ts and hittest.ts for the map
//   alerts/    rules of alerts (pure): alertrules.ts, announcer.ts, roadanswer.ts, drivenlimit.ts, stillthererules.ts; alertsounds.ts
//   state/     state.ts the page's state in observables; account.ts the driver's account, with the choices; visit.ts whether the
//              driver was here before; theme.ts day or night; pincache.ts where the browser keeps the last pins
//   readers/   readers of the service, which set the state: nearbyreader.ts the entities around the car (nearbydata.ts, offlinepins.ts,
//              pure); sourcecatalog.ts the sources, again when a pin comes from an unknown one; alertmonitor.ts the alerts ahead;
//              viewreadersloader.ts loads viewreaders.ts: viewreader.ts reads the view while the driver looks around, nearestreader.ts finds
//              the nearest data where there is none around; both ask with viewquery.ts (pure)
//   offline/   offline.ts service worker and stored pins; wakelock.ts; loaded after the first pins
//   map/       map.ts opens MapLibre on plain ground; mapview.ts adds everything on the map; baselayers.ts the base map below the
//              pins, with the styles of basemap.ts: streets after the first pins, then names; pinlayers.ts sources and layers of the
//              pins, icons.ts their images; camera.ts the map's camera, stationaryzoom.ts its zoom while the car stands (pure), car.ts
//              the car marker; extent.ts the extent of the public data, where the map opens (pure); longpressprompt.ts the question after
//              a long press; resolution.ts the map's pixel ratio; attributionline.ts
//   report/    entry.ts the button of reports; loads panel.ts, whose rules are in rules.ts (pure)
//   apps/      entry.ts whether there are apps; loads apps.ts, which lists the modules of apps
//   nav/       entry.ts the button "Where to"; loads navigation.ts, which lists the modules of navigation
//   panels/    panels.ts panels over the map: menu.ts, notice.ts, card.ts, list.ts and others; speedometer.ts own speed and limit;
//              firstvisit.ts the card of the first visit; stillthere.ts the question of a vote while passing

import { getAlerts, getConfig, getDrive, getKinds } from "./net/api.ts";
import { Observable } from "./browser/observable.ts";
import { loadViewReaders } from "./readers/viewreadersloader.ts";
import { isGrey } from "./pins/freshness.ts";
import { backoff } from "./net/reconnect.ts";
import { serverTime } from "./net/serverclock.ts";
import { byId } from "./browser/dom.ts";
import { DriveSensor, parseSpeedUp } from "./car/demodrive.ts";
import { directionOf, loadTexts, makeWords } from "./i18n/words.ts";
import { keepTheme } from "./state/theme.ts";
import type { Place } from "./geo/geo.ts";
import { NavigationEntry } from "./nav/entry.ts";
import { makeLocale } from "./i18n/locale.ts";
import { AlertMonitor } from "./readers/alertmonitor.ts";
import { loadLibrary, mayDraw, startWorker, type Library } from "./map/map.ts";
import { poseAt, addFix, type Pose } from "./car/deadreckoning.ts";
import { mountPanels } from "./panels/panels.ts";
import { replaceChildren } from "./browser/widgets.ts";
import { locate, type PositionSource } from "./car/position.ts";
import { RequestBudget } from "./net/requestbudget.ts";
import { effectiveSettings, parseStoredChoices, type Language, type Settings } from "./settings/settings.ts";
import { sourcesByLayer } from "./pins/attribution.ts";
import { placeOf } from "./pins/shapes.ts";
import type { Entity, GuidedDrive, OverlayConfig } from "./net/wire.ts";
import { visibleEntities, type VisibleEntity } from "./pins/visibility.ts";
import { SourceCatalog } from "./readers/sourcecatalog.ts";
import { StyleReader } from "./map/baselayers.ts";
import { mapLookOf, openMapView, type MapView } from "./map/mapview.ts";
import { choicesKey, makeState, type Actions, type State } from "./state/state.ts";
import { readStored, store } from "./browser/storage.ts";
import { presentVisit, rememberVisit, type Visit } from "./state/visit.ts";
import { NearbyReader } from "./readers/nearbyreader.ts";

const agingInterval = 1000; // ms between two updates of ages
const cameraModeKey = "wayside.up"; // key in the browser's local storage
const namesKey = "wayside.names"; // likewise
const offlineDelay = 4000; // ms, when the start is over, or the connection has stalled
const reservedRequests = 4; // requests that a query of alerts leaves for the stream

/** stored returns the driver's stored choices with the defaults. */
function stored(): Settings {
  return effectiveSettings(parseStoredChoices(readStored(choicesKey)).choices, navigator.languages);
}

/** keepMapMode stores state.cameraMode and state.names in this browser only: they depend on the screen more than on the driver. */
function keepMapMode({ cameraMode, names }: State): void {
  if (readStored(cameraModeKey) === "north") cameraMode.set("north");
  cameraMode.watch((mode) => {
    store(cameraModeKey, mode === "north" ? mode : null);
  });
  if (readStored(namesKey) === "off") names.set(false);
  names.watch((shown) => {
    store(namesKey, shown ? null : "off");
  });
}

/** Vehicle is the car's position and the clock by which it moves, which is faster in a faster demo. */
interface Vehicle {
  position: PositionSource;
  clock: () => number;
  /** startDrive takes the position from the demo's drive. */
  startDrive: () => void;
}

/** drivesOf lists the values of &drive=: to a destination, and around the town. */
const drivesOf = ["demo", "loop"];

/** openPosition determines the position; lead is called with where the demo's drive leads. */
function openPosition(query: URLSearchParams, visit: Visit, lead: (guided: GuidedDrive) => void): Vehicle {
  const factor = parseSpeedUp(query.get("x"));
  const drives = drivesOf.includes(query.get("drive") ?? "");
  const loops = query.get("drive") === "loop";
  const sensor = "geolocation" in navigator ? navigator.geolocation : null;
  const position = locate(drives ? null : query.get("at"), sensor, Date.now, visit === "locate" && !drives);
  const startDrive = (): void => {
    position.follow(new DriveSensor(() => getDrive(loops ? null : factor), factor, loops ? null : lead));
  };
  if (drives) startDrive();
  return { position, clock: () => performance.now() * factor, startDrive };
}

/** keepMoving sets state.motion. */
function keepMoving(state: State, clock: () => number): void {
  let byHand = true;
  state.fix.watch((fix) => {
    if (fix === null) return;
    // A place that was set by hand replaces the track so far, and so does the first fix after it.
    const isNew = byHand || fix.accuracy === null;
    byHand = fix.accuracy === null;
    state.motion.set(addFix(isNew ? null : state.motion.get(), fix, clock()));
  });
}

/** keepAddress keeps the drive in the page's address, so that a reload continues it. */
function keepAddress(state: State): void {
  state.driving.watch((driving) => {
    const query = new URLSearchParams(location.search);
    if (driving === drivesOf.includes(query.get("drive") ?? "")) return;
    if (driving) query.set("drive", "demo");
    else query.delete("drive");
    const search = query.toString();
    history.replaceState(null, "", location.pathname + (search === "" ? "" : `?${search}`));
  });
}

/** keepLanguage sets state.words and the document's language. */
function keepLanguage(state: State): void {
  let wanted: Language = "en";
  state.settings.watch(({ language }) => {
    if (language === wanted) return;
    wanted = language;
    loadTexts(language).then(
      (texts) => {
        if (language === wanted) state.words.set(makeWords(language, texts));
      },
      (error: unknown) => {
        console.error(error); // the texts stay in English
      },
    );
  });
  state.words.watch(({ language }) => {
    document.documentElement.lang = language;
    document.documentElement.dir = directionOf(language);
  });
}

/** keepVisible sets state.entities and state.viewEntities, and returns the entities on the map with their appearance. */
function keepVisible(state: State): Observable<readonly VisibleEntity[]> {
  const shown = new Observable<readonly VisibleEntity[]>([]);
  let byLayer = sourcesByLayer([]);
  const keep = (observable: Observable<readonly Entity[]>, visible: readonly VisibleEntity[]): void => {
    const before = observable.get();
    if (visible.length !== before.length || visible.some(({ entity }, i) => entity !== before[i])) observable.set(visible.map(({ entity }) => entity));
  };
  const update = (): void => {
    const connection = state.connection.get();
    const now = performance.now();
    const lost = connection?.how === "lost" ? now - connection.since : 0;
    const visibleOf = (known: readonly Entity[]): VisibleEntity[] => visibleEntities(known, byLayer, state.settings.get(), serverTime(state.clock.get(), now, Date.now()), lost);
    const visible = visibleOf(state.known.get());
    const view = state.view.get();
    const ids = new Set(view === null ? [] : state.known.get().map(({ id }) => id));
    const others = visibleOf(view?.entities.filter(({ id }) => !ids.has(id)) ?? []);
    shown.set(view?.clusters ? [] : [...visible, ...others]); // clusters count what is around the car, too
    keep(state.entities, visible);
    keep(state.viewEntities, others);
  };
  state.view.watch((view) => {
    const chosen = state.selected.get();
    const closes = view === null && state.viewEntities.get().some(({ id }) => id === chosen);
    update();
    if (closes) state.selected.set(null);
  });
  state.sources.watch((sources) => {
    byLayer = sourcesByLayer(sources);
    update();
  });
  state.known.watch(update);
  state.settings.watch(update);
  setInterval(update, agingInterval);
  return shown;
}

/** In windows so low the maneuver is beside the car instead of above it, as in nav.css. */
const lowWindow = "(max-height: 480px) and (min-width: 641px)";

/** keepCovered sets state.covered, coveredAbove and coveredBelow, so that the car is not drawn under the list or a card. */
function keepCovered(state: State, panels: HTMLElement): void {
  const side = [...panels.querySelectorAll(".side > *")];
  const [head, controls] = [".head", ".controls"].map((selector) => panels.querySelector(selector));
  const update = (): void => {
    const maneuver = window.matchMedia(lowWindow).matches ? panels.querySelectorAll(".maneuver") : [];
    const area = panels.getBoundingClientRect();
    const boxes = [...side, ...maneuver].map((panel) => panel.getBoundingClientRect()).filter(({ height }) => height > 0);
    const fromRight = directionOf(state.words.get().language) === "rtl";
    const beside = boxes.filter(({ width }) => width < area.width * 0.6);
    const covered = Math.max(0, ...beside.map(({ left, right }) => (fromRight ? area.right - left : right - area.left)));
    state.covered.set(Math.round(fromRight ? -covered : covered));
    const isBelow = state.drawable.get() && boxes.length > beside.length; // and has moved the controls up
    state.coveredAbove.set(isBelow ? Math.round(head?.getBoundingClientRect().bottom ?? 0) : 0);
    state.coveredBelow.set(isBelow ? Math.round(area.bottom - (controls?.getBoundingClientRect().top ?? 0)) : 0);
  };
  const watcher = new ResizeObserver(update);
  for (const panel of [...side, head]) if (panel) watcher.observe(panel);
  let first = true;
  state.words.watch(() => {
    if (!first) update(); // the watcher reports the first size, after the page's first layout
    first = false;
  });
}

/** keepOffline loads modules that the first pins do not need: after the start, or when the connection is lost. */
function keepOffline(state: State, reader: NearbyReader): void {
  let loading = false;
  const load = (): void => {
    if (loading) return;
    loading = true;
    import("./offline/offline.ts").then(
      ({ startOffline }) => {
        startOffline(state, reader);
      },
      (error: unknown) => {
        console.warn(error); // the page works without
      },
    );
  };
  state.connection.watch((connection) => {
    if (connection?.how === "lost") load();
  });
  setTimeout(load, offlineDelay);
}

/** readStart reads the data for opening the map, and retries until it succeeds. */
async function readStart(state: State): Promise<OverlayConfig> {
  for (let failures = 1; ; failures++) {
    try {
      const [config, kinds] = await Promise.all([getConfig(), getKinds()]);
      state.kinds.set(kinds);
      state.config.set(config);
      return config;
    } catch {
      const wait = backoff(failures, Math.random());
      await new Promise((resolve) => {
        setTimeout(resolve, wait);
      });
    }
  }
}

/** makeActions makes the actions of the panels; mapView returns the map once it is open. */
function makeActions(state: State, { position, startDrive }: Vehicle, mapView: () => MapView | null, refresh: () => void, monitor: AlertMonitor, entry: NavigationEntry): Actions {
  const namePlace = (place: Place): void => {
    state.driving.set(false);
    position.setManually(place);
    state.following.set(true);
  };
  return {
    recentre: () => {
      state.following.set(true);
    },
    select: (id) => {
      state.selected.set(id);
    },
    show: (place) => mapView()?.show(place),
    showNearest: () => {
      const nearest = state.nearest.get();
      if (nearest !== null) mapView()?.showFromAbove(placeOf(nearest.entity));
    },
    zoomBy: (levels) => mapView()?.zoomBy(levels),
    namePlace,
    nameMiddle: () => {
      const place = mapView()?.middle();
      if (place !== undefined) namePlace(place);
    },
    locate: () => {
      rememberVisit("locate");
      state.driving.set(false);
      position.resume();
      state.following.set(true);
    },
    lookAround: () => {
      state.following.set(false);
      mapView()?.showExtent();
    },
    startDrive: () => {
      state.driving.set(true);
      state.motion.set(null); // the drive begins elsewhere
      startDrive();
      state.following.set(true);
    },
    endDrive: () => {
      const place = state.pose();
      state.driving.set(false);
      if (place !== null) position.setManually({ lat: place.lat, lng: place.lng }, "left");
    },
    driveTo: (destination) => {
      entry.driveTo(destination);
    },
    refresh,
    dismiss: (id) => {
      monitor.dismiss(id);
    },
  };
}

/** showFirstVisit opens the card of the first visit. Without it, the page works as after "Look around". */
function showFirstVisit(state: State, actions: Actions): void {
  import("./panels/firstvisit.ts").then(
    ({ openFirstVisit }) => {
      openFirstVisit(state, actions);
    },
    (error: unknown) => {
      state.welcoming.set(false);
      console.warn(error);
    },
  );
}

function main(): void {
  const draws = mayDraw();
  if (draws) startWorker(import.meta.url);
  const loading = draws ? loadLibrary() : null; // started first, since it takes longest
  const query = new URLSearchParams(location.search);
  const visit = presentVisit(query);
  const vehicle = openPosition(query, visit, ({ name, to: [lng, lat] }) => {
    entry.run((navigation) => {
      navigation.lead([{ place: { lat, lng }, name, detail: "" }]);
    });
  });
  const { clock } = vehicle;
  const pose = (): Pose | null => {
    const motion = state.motion.get();
    const own = motion === null ? null : poseAt(motion, clock());
    return state.guidance.get()?.pose(own) ?? own;
  };
  const state = makeState(stored(), vehicle.position, pose);
  state.driving.set(drivesOf.includes(query.get("drive") ?? ""));
  state.welcoming.set(visit === "first");
  const now = { mono: () => performance.now(), wall: () => Date.now() };
  const budget = new RequestBudget(now.mono);
  const nearbyReader = new NearbyReader(state, budget, now);
  const alertMonitor = new AlertMonitor(state, clock, (ahead, signal) => {
    const connected = state.connection.get();
    if (connected === null || connected.how === "lost" || !budget.tryTake(reservedRequests)) return null;
    const onResponse = (answer: Response): void => {
      budget.observe(answer, false);
    };
    return getAlerts(ahead, { signal, onResponse });
  });
  let mapView: MapView | null = null;
  const elsewhere = loadViewReaders(state, budget, now);
  const refresh = (): void => {
    nearbyReader.refresh();
    elsewhere.refresh();
  };
  const map = new Observable<MapView["map"] | null>(null);
  const entry = new NavigationEntry(() => ({ state, actions, locale, budget, map, clock, preferences: panels.preferences, sounds: panels.sounds, slots: panels.slots, listOpen: panels.listOpen }));
  const actions = makeActions(state, vehicle, () => mapView, refresh, alertMonitor, entry);
  keepTheme(state);
  keepLanguage(state);
  keepMapMode(state);
  keepMoving(state, clock);
  keepAddress(state);
  const shown = keepVisible(state);
  nearbyReader.start();
  new SourceCatalog(state, budget, now.mono).start();
  alertMonitor.start();
  state.drawable.set(loading !== null);
  const locale = makeLocale(state);
  const panels = mountPanels(state, actions, locale, entry);
  byId("panels").append(panels.element);
  keepCovered(state, panels.element);
  entry.takeAddress(query);
  entry.awaitSent(panels.preferences);
  if (visit === "first") showFirstVisit(state, actions);
  keepOffline(state, nearbyReader);
  const open = async (loaded: Promise<Library>): Promise<void> => {
    const reading = readStart(state).then((config) => {
      const styles = new StyleReader(config);
      styles.read(mapLookOf(state)).catch(() => undefined); // it is read again when it is needed
      return styles;
    });
    const [library, styles] = await Promise.all([loaded, reading]);
    mapView = await openMapView({ library, container: byId("map"), state, actions, locale, shown, styles, isGrey: () => isGrey(state.connection.get(), performance.now()) });
    map.set(mapView.map);
  };
  if (loading === null) {
    void readStart(state);
    return;
  }
  open(loading).catch((error: unknown) => {
    console.warn(error); // many cars' browsers have no WebGL: this is no error of the page
    replaceChildren(byId("map"), []);
    state.drawable.set(false); // the list works without a map
  });
}

main();
