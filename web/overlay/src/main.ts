// The page that a driver opens in the car: it ties the modules together and decides nothing.
//
//   wire.ts        what the service answers (types)
//   api.ts         the one way out: reads of this service; requestbudget.ts pays for them out of tokenbucket.ts
//   state.ts       everything that the page knows, in cells (observable.ts)
//   geo.ts         distances and directions (pure)
//   position.ts    where the driver is; demodrive.ts pretends to drive; deadreckoning.ts fills in what lies between fixes (pure)
//   nearbyreader.ts      keeps what is near up to date; sseparser.ts and nearbydata.ts read what comes (pure), decay.ts says when to try (pure)
//   sourcecatalog.ts  reads the sources again when a pin comes from one that is not known
//   sights.ts      which of it is shown, and to whom it is owed (pure)
//   alertmonitor.ts     what lies ahead; alertrules.ts and announcer.ts decide it (pure)
//   theme.ts       day or night; sun.ts knows (pure)
//   map.ts         opens MapLibre on the map of basemap.ts
//   camera.ts      where the map looks; car.ts draws the car
//   resolution.ts  how finely the map is drawn
//   pins.ts        sources and layers of the pins; icons.ts draws images for them, and these reckon (pure): clusters.ts,
//                  featurediff.ts, icontint.ts, shapes.ts, hittest.ts
//   panels         menu.ts, notice.ts, attributionline.ts; dom.ts makes elements
//   i18n/          every text that is shown; settings.ts what the driver chose; format.ts figures (pure)

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

const agingInterval = 1000; // ms between two looks at what has aged
const cameraModeKey = "wayside.up"; // where the browser keeps what is up on the map
const reservedRequests = 4; // requests that a question about an alert does not take

/** stored is what the driver chose before. */
function stored(): Settings {
  return effectiveSettings(parseStoredChoices(readStored(choicesKey)).choices, navigator.languages);
}

/** keepCameraMode keeps state.cameraMode over a reload, in this browser alone: it says more of a screen than of a driver. */
function keepCameraMode({ cameraMode }: State): void {
  if (readStored(cameraModeKey) === "north") cameraMode.set("north");
  cameraMode.watch((mode) => {
    store(cameraModeKey, mode === "north" ? mode : null);
  });
}

/** Vehicle is the car's position and the clock by which it moves: in a demo that runs faster, it does too. */
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

/** keepMoving keeps state.motion. */
function keepMoving(state: State, clock: () => number): void {
  state.fix.watch((fix) => {
    if (fix === null) return;
    // A place that was named replaces all that was known of the way.
    state.motion.set(addFix(fix.accuracy === null ? null : state.motion.get(), fix, clock()));
  });
}

/** keepLanguage keeps state.words and the document's language. */
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
        console.error(error); // English is better than nothing
      },
    );
  });
  state.words.watch(({ language }) => {
    document.documentElement.lang = language;
  });
}

/** keepVisible keeps state.entities, and shown with how old they look. */
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

/** keepCovered keeps state.covered: the car is not to drive under the list. Panels across the screen, as on a phone, do not count. */
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

/** isGrey says whether pins have lost their colour. */
function isGrey(state: State): boolean {
  const connection = state.connection.get();
  return connection?.how === "lost" && performance.now() - connection.since >= greyAfter;
}

/** readStart reads what the map cannot be opened without, and tries until it is there. */
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
  const loading = mayDraw() ? loadLibrary() : null; // it takes longest
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
  keepCameraMode(state);
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
    console.warn(error); // many a car's browser may not draw: that is no fault of the page
    replaceChildren(byId("map"), []);
    state.drawable.set(false); // the list needs no map
  });
}

main();
