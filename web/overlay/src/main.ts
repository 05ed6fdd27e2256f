// The page that a driver opens in the car. This module connects the others and contains no rules.
//
//   wire.ts                types of the service's answers
//   api.ts                 requests to the service; requestbudget.ts limits them by a token bucket (tokenbucket.ts)
//   state.ts               the page's state in observables (observable.ts)
//   geo.ts                 distances and bearings (pure)
//   position.ts            the driver's position; demodrive.ts simulates it; deadreckoning.ts interpolates between fixes (pure)
//   nearbyreader.ts        reads the entities around the car; pure parts: sseparser.ts, nearbydata.ts, reconnect.ts, serverclock.ts
//   sourcecatalog.ts       reads the sources, again when a pin comes from an unknown one
//   visibility.ts          which entities are visible; freshness.ts how they look; attribution.ts whose data they are (pure)
//   alertmonitor.ts        the alerts ahead; rules in alertrules.ts and announcer.ts (pure)
//   theme.ts               day or night, by the sun (sun.ts, pure)
//   map.ts                 opens MapLibre with the style of basemap.ts; mapview.ts adds everything on the map
//   camera.ts              the map's camera; car.ts the car marker
//   resolution.ts          the map's pixel ratio
//   pins.ts                sources and layers of the pins; icons.ts their images; pure parts: clusters.ts, featurediff.ts,
//                          icontint.ts, shapes.ts, linecolours.ts, hittest.ts
//   panels.ts              panels over the map: menu.ts, notice.ts, attributionline.ts and others, built from widgets.ts and dom.ts
//   i18n/                  all texts; settings.ts the driver's choices (pure); format.ts numbers and units (pure)

import { getAlerts, getConfig, getDrive, getKinds } from "./api.ts";
import { Observable } from "./observable.ts";
import { greyAfter } from "./freshness.ts";
import { backoff } from "./reconnect.ts";
import { serverTime } from "./serverclock.ts";
import { byId } from "./dom.ts";
import { DriveSensor, parseSpeedUp } from "./demodrive.ts";
import { loadTexts, makeWords } from "./i18n/words.ts";
import { keepTheme } from "./theme.ts";
import { AlertMonitor } from "./alertmonitor.ts";
import { loadLibrary, mayDraw, type Library } from "./map.ts";
import { poseAt, addFix, type Pose } from "./deadreckoning.ts";
import { mountPanels } from "./panels.ts";
import { replaceChildren } from "./widgets.ts";
import { locate, type PositionSource } from "./position.ts";
import { RequestBudget } from "./requestbudget.ts";
import { effectiveSettings, parseStoredChoices, type Language, type Settings } from "./settings.ts";
import { sourcesByLayer } from "./attribution.ts";
import { visibleEntities, type VisibleEntity } from "./visibility.ts";
import { SourceCatalog } from "./sourcecatalog.ts";
import { openMapView, type MapView } from "./mapview.ts";
import { choicesKey, makeState, type Actions, type State } from "./state.ts";
import { readStored, store } from "./storage.ts";
import { NearbyReader } from "./nearbyreader.ts";

const agingInterval = 1000; // ms between two updates of ages
const cameraModeKey = "wayside.up"; // key in the browser's local storage
const namesKey = "wayside.names"; // likewise
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
}

function openPosition(query: URLSearchParams): Vehicle {
  if (query.get("drive") === "demo") {
    const factor = parseSpeedUp(query.get("x"));
    return { position: locate(null, new DriveSensor(getDrive, factor), Date.now), clock: () => performance.now() * factor };
  }
  return { position: locate(query.get("at"), "geolocation" in navigator ? navigator.geolocation : null, Date.now), clock: () => performance.now() };
}

/** keepMoving sets state.motion. */
function keepMoving(state: State, clock: () => number): void {
  state.fix.watch((fix) => {
    if (fix === null) return;
    // A place that was set by hand replaces the track so far.
    state.motion.set(addFix(fix.accuracy === null ? null : state.motion.get(), fix, clock()));
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
  });
}

/** keepVisible sets state.entities and returns them with their appearance. */
function keepVisible(state: State): Observable<readonly VisibleEntity[]> {
  const shown = new Observable<readonly VisibleEntity[]>([]);
  let byLayer = sourcesByLayer([]);
  const update = (): void => {
    const connection = state.connection.get();
    const now = performance.now();
    const lost = connection?.how === "lost" ? now - connection.since : 0;
    const visible = visibleEntities(state.known.get(), byLayer, state.settings.get(), serverTime(state.clock.get(), now, Date.now()), lost);
    shown.set(visible);
    const before = state.entities.get();
    if (visible.length !== before.length || visible.some(({ entity }, i) => entity !== before[i])) state.entities.set(visible.map(({ entity }) => entity));
  };
  state.sources.watch((sources) => {
    byLayer = sourcesByLayer(sources);
    update();
  });
  state.known.watch(update);
  state.settings.watch(update);
  setInterval(update, agingInterval);
  return shown;
}

/** keepCovered sets state.covered, so that the car is not drawn under the list. Panels as wide as a phone's screen do not count. */
function keepCovered(state: State, panels: HTMLElement): void {
  const beside = [...panels.querySelectorAll(".side > *")];
  const update = (): void => {
    const widths = beside.map((panel) => panel.getBoundingClientRect()).filter(({ height }) => height > 0);
    const covered = Math.max(0, ...widths.map(({ right }) => right));
    state.covered.set(covered < window.innerWidth * 0.6 ? Math.round(covered) : 0);
  };
  const watcher = new ResizeObserver(update);
  for (const panel of beside) watcher.observe(panel);
}

/** isGrey reports whether pins are drawn without colour. */
function isGrey(state: State): boolean {
  const connection = state.connection.get();
  return connection?.how === "lost" && performance.now() - connection.since >= greyAfter;
}

/** readStart reads what is needed to open the map, and retries until it succeeds. */
async function readStart(state: State): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      const [config, kinds] = await Promise.all([getConfig(), getKinds()]);
      state.kinds.set(kinds);
      state.config.set(config);
      return;
    } catch {
      const wait = backoff(failures, Math.random());
      await new Promise((resolve) => {
        setTimeout(resolve, wait);
      });
    }
  }
}

function main(): void {
  const loading = mayDraw() ? loadLibrary() : null; // started first, since it takes longest
  const { position, clock } = openPosition(new URLSearchParams(location.search));
  const pose = (): Pose | null => {
    const motion = state.motion.get();
    return motion === null ? null : poseAt(motion, clock());
  };
  const state = makeState(stored(), position, pose);
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
  const actions: Actions = {
    recentre: () => {
      state.following.set(true);
    },
    select: (id) => {
      state.selected.set(id);
    },
    show: (place) => mapView?.show(place),
    zoomBy: (levels) => mapView?.zoomBy(levels),
    namePlace: position.setManually,
    locate: position.resume,
    refresh: () => {
      nearbyReader.refresh();
    },
    dismiss: (id) => {
      alertMonitor.dismiss(id);
    },
  };
  keepTheme(state);
  keepLanguage(state);
  keepMapMode(state);
  keepMoving(state, clock);
  const shown = keepVisible(state);
  nearbyReader.start();
  new SourceCatalog(state, budget, now.mono).start();
  alertMonitor.start();
  state.drawable.set(loading !== null);
  const panels = mountPanels(state, actions);
  byId("panels").append(panels);
  keepCovered(state, panels);
  const open = async (loaded: Promise<Library>): Promise<void> => {
    const [library] = await Promise.all([loaded, readStart(state)]);
    mapView = await openMapView({ library, container: byId("map"), state, actions, shown, isGrey: () => isGrey(state) });
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
