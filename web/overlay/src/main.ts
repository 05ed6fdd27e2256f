// The page that a driver opens in the car: it ties the modules together and decides nothing.
//
//   wire.ts        what the service answers (types)
//   api.ts         the one way out: reads of this service; requestbudget.ts pays for them out of tokenbucket.ts
//   state.ts       everything that the page knows, in cells (cell.ts)
//   geo.ts         distances and directions (pure)
//   position.ts    where the driver is; drive.ts pretends to drive; motion.ts fills in what lies between fixes (pure)
//   nearbyreader.ts      keeps what is near up to date; sseparser.ts and nearbydata.ts read what comes (pure), decay.ts says when to try (pure)
//   sourcecatalog.ts  reads the sources again when a pin comes from one that is not known
//   sights.ts      which of it is shown, and to whom it is owed (pure)
//   lookout.ts     what lies ahead; ahead.ts and announce.ts decide it (pure)
//   light.ts       day or night; sun.ts knows (pure)
//   map.ts         opens MapLibre on the map of basemap.ts
//   camera.ts      where the map looks; car.ts draws the car
//   resolution.ts  how finely the map is drawn
//   pins.ts        sources and layers of the pins; icons.ts draws images for them, and these reckon (pure): clusters.ts,
//                  difference.ts, pixels.ts, shapes.ts, touch.ts
//   panels         menu.ts, notice.ts, attribution.ts; dom.ts makes elements
//   i18n/          every text that is shown; settings.ts what the driver chose; format.ts figures (pure)

import { getAlerts, getConfig, getDrive, getKinds } from "./api.ts";
import { Cell } from "./cell.ts";
import { greyAfter } from "./freshness.ts";
import { backoff } from "./reconnect.ts";
import { serverTime } from "./serverclock.ts";
import { byId } from "./dom.ts";
import { DriveSensor, parseSpeedUp } from "./drive.ts";
import { loadTexts, makeWords } from "./i18n/words.ts";
import { watchLight } from "./light.ts";
import { Lookout } from "./lookout.ts";
import { loadLibrary, mayDraw, type Library } from "./map.ts";
import { poseAt, take, type Pose } from "./motion.ts";
import { mountPanels } from "./panels.ts";
import { refill } from "./parts.ts";
import { locate, type Whereabouts } from "./position.ts";
import { RequestBudget } from "./requestbudget.ts";
import { inForce, readKept, type Language, type Settings } from "./settings.ts";
import { show, sourcesByLayer, type Shown } from "./sights.ts";
import { SourceCatalog } from "./sourcecatalog.ts";
import { openStage, type Stage } from "./stage.ts";
import { keptUnder, makeState, type Actions, type State } from "./state.ts";
import { readStored, store } from "./storage.ts";
import { NearbyReader } from "./nearbyreader.ts";

const every = 1000; // ms between two looks at what has aged
const upUnder = "wayside.up"; // where the browser keeps what is up on the map
const reservedRequests = 4; // requests that a question about an alert does not take

/** kept is what the driver chose before. */
function kept(): Settings {
  return inForce(readKept(readStored(keptUnder)).choices, navigator.languages);
}

/** keepUp keeps state.cameraMode over a reload, in this browser alone: it says more of a screen than of a driver. */
function keepUp({ cameraMode }: State): void {
  if (readStored(upUnder) === "north") cameraMode.set("north");
  cameraMode.watch((mode) => {
    store(upUnder, mode === "north" ? mode : null);
  });
}

/** Driving is the car's position and the clock by which it moves: in a demo that runs faster, it does too. */
interface Driving {
  where: Whereabouts;
  clock: () => number;
}

function drive(query: URLSearchParams): Driving {
  if (query.get("drive") === "demo") {
    const factor = parseSpeedUp(query.get("x"));
    return { where: locate(null, new DriveSensor(getDrive, factor), Date.now), clock: () => performance.now() * factor };
  }
  return { where: locate(query.get("at"), "geolocation" in navigator ? navigator.geolocation : null, Date.now), clock: () => performance.now() };
}

/** keepMoving keeps state.motion. */
function keepMoving(state: State, clock: () => number): void {
  state.fix.watch((fix) => {
    if (fix === null) return;
    // A place that was named replaces all that was known of the way.
    state.motion.set(take(fix.accuracy === null ? null : state.motion.get(), fix, clock()));
  });
}

/** keepSpeaking keeps state.words and the document's language. */
function keepSpeaking(state: State): void {
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

/** keepShowing keeps state.entities, and shown with how old they look. */
function keepShowing(state: State): Cell<readonly Shown[]> {
  const shown = new Cell<readonly Shown[]>([]);
  let byLayer = sourcesByLayer([]);
  const look = (): void => {
    const connection = state.connection.get();
    const now = performance.now();
    const lost = connection?.how === "lost" ? now - connection.since : 0;
    const all = show(state.known.get(), byLayer, state.settings.get(), serverTime(state.clock.get(), now, Date.now()), lost);
    shown.set(all);
    const before = state.entities.get();
    if (all.length !== before.length || all.some(({ entity }, i) => entity !== before[i])) state.entities.set(all.map(({ entity }) => entity));
  };
  state.sources.watch((sources) => {
    byLayer = sourcesByLayer(sources);
    look();
  });
  state.known.watch(look);
  state.settings.watch(look);
  setInterval(look, every);
  return shown;
}

/** keepClear keeps state.covered: the car is not to drive under the list. Panels across the screen, as on a phone, do not count. */
function keepClear(state: State, panels: HTMLElement): void {
  const beside = [...panels.querySelectorAll(".side > *")];
  const look = (): void => {
    const widths = beside.map((panel) => panel.getBoundingClientRect()).filter(({ height }) => height > 0);
    const covered = Math.max(0, ...widths.map(({ right }) => right));
    state.covered.set(covered < window.innerWidth * 0.6 ? Math.round(covered) : 0);
  };
  const watcher = new ResizeObserver(look);
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
  const { where, clock } = drive(new URLSearchParams(location.search));
  const pose = (): Pose | null => {
    const motion = state.motion.get();
    return motion === null ? null : poseAt(motion, clock());
  };
  const state = makeState(kept(), where, pose);
  const now = { mono: () => performance.now(), wall: () => Date.now() };
  const budget = new RequestBudget(now.mono);
  const nearbyReader = new NearbyReader(state, budget, now);
  const lookout = new Lookout(state, clock, (ahead, signal) => {
    const connected = state.connection.get();
    if (connected === null || connected.how === "lost" || !budget.tryTake(reservedRequests)) return null;
    const onResponse = (answer: Response): void => {
      budget.observe(answer, false);
    };
    return getAlerts(ahead, { signal, onResponse });
  });
  let stage: Stage | null = null;
  const actions: Actions = {
    recentre: () => {
      state.following.set(true);
    },
    select: (id) => {
      state.selected.set(id);
    },
    show: (place) => stage?.show(place),
    zoomBy: (levels) => stage?.zoomBy(levels),
    namePlace: where.name,
    locate: where.again,
    refresh: () => {
      nearbyReader.refresh();
    },
    dismiss: (id) => {
      lookout.dismiss(id);
    },
  };
  watchLight(state);
  keepSpeaking(state);
  keepUp(state);
  keepMoving(state, clock);
  const shown = keepShowing(state);
  nearbyReader.start();
  new SourceCatalog(state, budget, now.mono).start();
  lookout.start();
  state.drawable.set(loading !== null);
  const panels = mountPanels(state, actions);
  byId("panels").append(panels);
  keepClear(state, panels);
  const open = async (loading: Promise<Library>): Promise<void> => {
    const [library] = await Promise.all([loading, readStart(state)]);
    stage = await openStage({ library, container: byId("map"), state, actions, shown, isGrey: () => isGrey(state) });
  };
  if (loading === null) {
    void readStart(state);
    return;
  }
  open(loading).catch((error: unknown) => {
    console.warn(error); // many a car's browser may not draw: that is no fault of the page
    refill(byId("map"), []);
    state.drawable.set(false); // the list needs no map
  });
}

main();
