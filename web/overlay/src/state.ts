// Everything that the page knows, in cells: whoever changes a thing sets its cell, whoever shows it watches. Who sets each
// cell is said with it; nobody else does.

import type { Banner } from "./announce.ts";
import type { PinAhead, Sight } from "./ahead.ts";
import { Cell } from "./cell.ts";
import type { ServerClock } from "./serverclock.ts";
import type { Place } from "./geo.ts";
import type { Motion, Pose } from "./motion.ts";
import type { Finding, Fix } from "./position.ts";
import { en } from "./i18n/en.ts";
import { makeWords, type Words } from "./i18n/words.ts";
import type { Settings } from "./settings.ts";
import type { Theme } from "./sun.ts";
import type { Entity, Kind, OverlayConfig, Source, SourceHealth } from "./wire.ts";

/** Where the browser keeps what the driver chose; see readKept in settings.ts. */
export const keptUnder = "wayside.choices";

/** Connection is how news reach the page. */
export type Connection =
  /** The service pushes them. */
  | { how: "live"; since: number }
  /** The page asks for them. */
  | { how: "polling"; since: number }
  /** They do not, since a moment of performance.now(); what is shown goes on ageing. */
  | { how: "lost"; since: number };

/** CameraMode is what is up on the map: the way the car goes, or north. */
export type CameraMode = "heading" | "north";

/** Seen is an entity as the choice of what lies ahead takes it. */
export interface Seen extends PinAhead {
  entity: Entity;
}

/** Alerts is what lies ahead. */
export interface Alerts {
  /** Nearest first. */
  sights: readonly Sight<Seen>[];
  /** What is announced at this moment: a tone is due once for each new value that is not null. */
  announce: Sight<Seen> | null;
  banner: Banner<Seen> | null;
}

export interface State {
  /** Set by position.ts: the latest fix as the browser gave it. */
  readonly fix: Cell<Fix | null>;
  /** Set by position.ts: how far we are with that. */
  readonly finding: Cell<Finding>;
  /** Set with each fix: what is known of the car's way. For a drawing between fixes ask pose(). */
  readonly motion: Cell<Motion | null>;
  /** Set by nearbyreader.ts: all entities around the car that are not gone, whatever the driver chose to see. */
  readonly known: Cell<readonly Entity[]>;
  /** Set by nearbyreader.ts: there is more around than that. */
  readonly truncated: Cell<boolean>;
  /** Set by nearbyreader.ts: ids of the kinds that the law hides here. */
  readonly hidden: Cell<readonly string[]>;
  /** Set by main.ts: those of them that the driver wants to see. */
  readonly entities: Cell<readonly Entity[]>;
  /** Set by sourcecatalog.ts: the listed sources, and those that were listed before and still have pins. */
  readonly sources: Cell<readonly Source[]>;
  /** Set by main.ts at start. */
  readonly kinds: Cell<readonly Kind[]>;
  readonly config: Cell<OverlayConfig | null>;
  /** Set by nearbyreader.ts: how the sources do. */
  readonly health: Cell<readonly SourceHealth[]>;
  /** Set by nearbyreader.ts; null: nothing was tried yet. */
  readonly connection: Cell<Connection | null>;
  /** Set by nearbyreader.ts: what to add to performance.now() for the service's time; see serverTime in decay.ts. */
  readonly clock: Cell<ServerClock>;
  /** Set by the panels when the driver chooses, and begun from what the browser kept: what holds. */
  readonly settings: Cell<Settings>;
  /** Set by main.ts when the language changes: what the page says. */
  readonly words: Cell<Words>;
  /** Set by light.ts from the settings and the sun. */
  readonly theme: Cell<Theme>;
  /** Set by the panels and by a touch on the map: id of the entity whose card is open. */
  readonly selected: Cell<string | null>;
  /** Set by the panels: ids of the entities on which the driver voted. */
  readonly voted: Cell<ReadonlySet<string>>;
  /** Set by lookout.ts. */
  readonly alerts: Cell<Alerts>;
  /** Set by the panels' button. */
  readonly cameraMode: Cell<CameraMode>;
  /** Set by camera.ts: whether the map follows the car. A touch on the map releases it, actions.recentre() takes it back. */
  readonly following: Cell<boolean>;
  /** Set by main.ts and map.ts: whether the browser can draw a map. If not, the list of what lies ahead is the page. */
  readonly drawable: Cell<boolean>;
  /** Set by main.ts: so many pixels at the left of the map lie under panels. */
  readonly covered: Cell<number>;
  /** Set by main.ts: whom the data and the map in view are from, each once. Plain text. */
  readonly attributions: Cell<readonly string[]>;
  /** pose is where and how the car is at this moment. */
  pose(): Pose | null;
}

/** makeState begins with nothing known but the settings and what the position has to say. */
export function makeState(settings: Settings, { fix, finding }: Pick<State, "fix" | "finding">, pose: State["pose"]): State {
  return {
    fix,
    finding,
    motion: new Cell<Motion | null>(null),
    known: new Cell<readonly Entity[]>([]),
    truncated: new Cell<boolean>(false),
    hidden: new Cell<readonly string[]>([]),
    entities: new Cell<readonly Entity[]>([]),
    sources: new Cell<readonly Source[]>([]),
    kinds: new Cell<readonly Kind[]>([]),
    config: new Cell<OverlayConfig | null>(null),
    health: new Cell<readonly SourceHealth[]>([]),
    connection: new Cell<Connection | null>(null),
    clock: new Cell<ServerClock>(null),
    settings: new Cell<Settings>(settings),
    words: new Cell<Words>(makeWords("en", en)),
    theme: new Cell<Theme>("day"),
    selected: new Cell<string | null>(null),
    voted: new Cell<ReadonlySet<string>>(new Set()),
    alerts: new Cell<Alerts>({ sights: [], announce: null, banner: null }),
    cameraMode: new Cell<CameraMode>("heading"),
    following: new Cell<boolean>(true),
    drawable: new Cell<boolean>(true),
    covered: new Cell<number>(0),
    attributions: new Cell<readonly string[]>([]),
    pose,
  };
}

/** Actions are what a panel can ask of the map and of what is behind it. */
export interface Actions {
  /** recentre lets the map follow the car again. */
  recentre(): void;
  /** select opens an entity's card; null closes it. */
  select(id: string | null): void;
  /** show moves the map to a place and lets go of the car. */
  show(place: Place): void;
  /** namePlace sets where the driver is, by hand. */
  namePlace(place: Place): void;
  /** zoomBy brings the map nearer, or farther away, by so many levels, and lets go of the car. */
  zoomBy(levels: number): void;
  /** refresh asks the service at once, after a vote. */
  refresh(): void;
  /** locate uses the car's position again, after namePlace. */
  locate(): void;
  /** dismiss takes the banner of an entity away. */
  dismiss(id: string): void;
}
