// Everything that the page knows, in cells: whoever changes a thing sets its cell, whoever shows it watches. Who sets each
// cell is said with it; nobody else does.

import type { Banner } from "./announcer.ts";
import type { AlertPin, ListedAlert } from "./alertrules.ts";
import { Observable } from "./observable.ts";
import type { ServerClock } from "./serverclock.ts";
import type { Place } from "./geo.ts";
import type { Motion, Pose } from "./deadreckoning.ts";
import type { PositionStatus, Fix } from "./position.ts";
import { en } from "./i18n/en.ts";
import { makeWords, type Words } from "./i18n/words.ts";
import type { Settings } from "./settings.ts";
import type { Theme } from "./sun.ts";
import type { Entity, Kind, OverlayConfig, Source, SourceHealth } from "./wire.ts";

/** Where the browser keeps what the driver chose; see readKept in settings.ts. */
export const choicesKey = "wayside.choices";

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

/** AlertCandidate is an entity as the choice of what lies ahead takes it. */
export interface AlertCandidate extends AlertPin {
  entity: Entity;
}

/** Alerts is what lies ahead. */
export interface Alerts {
  /** Nearest first. */
  listed: readonly ListedAlert<AlertCandidate>[];
  /** What is announced at this moment: a tone is due once for each new value that is not null. */
  announce: ListedAlert<AlertCandidate> | null;
  banner: Banner<AlertCandidate> | null;
}

export interface State {
  /** Set by position.ts: the latest fix as the browser gave it. */
  readonly fix: Observable<Fix | null>;
  /** Set by position.ts: how far we are with that. */
  readonly positionStatus: Observable<PositionStatus>;
  /** Set with each fix: what is known of the car's way. For a drawing between fixes ask pose(). */
  readonly motion: Observable<Motion | null>;
  /** Set by nearbyreader.ts: all entities around the car that are not gone, whatever the driver chose to see. */
  readonly known: Observable<readonly Entity[]>;
  /** Set by nearbyreader.ts: there is more around than that. */
  readonly truncated: Observable<boolean>;
  /** Set by nearbyreader.ts: ids of the kinds that the law hides here. */
  readonly hidden: Observable<readonly string[]>;
  /** Set by main.ts: those of them that the driver wants to see. */
  readonly entities: Observable<readonly Entity[]>;
  /** Set by sourcecatalog.ts: the listed sources, and those that were listed before and still have pins. */
  readonly sources: Observable<readonly Source[]>;
  /** Set by main.ts at start. */
  readonly kinds: Observable<readonly Kind[]>;
  readonly config: Observable<OverlayConfig | null>;
  /** Set by nearbyreader.ts: how the sources do. */
  readonly health: Observable<readonly SourceHealth[]>;
  /** Set by nearbyreader.ts; null: nothing was tried yet. */
  readonly connection: Observable<Connection | null>;
  /** Set by nearbyreader.ts: what to add to performance.now() for the service's time; see serverTime in decay.ts. */
  readonly clock: Observable<ServerClock>;
  /** Set by the panels when the driver chooses, and begun from what the browser kept: what holds. */
  readonly settings: Observable<Settings>;
  /** Set by main.ts when the language changes: what the page says. */
  readonly words: Observable<Words>;
  /** Set by theme.ts from the settings and the sun. */
  readonly theme: Observable<Theme>;
  /** Set by the panels and by a touch on the map: id of the entity whose card is open. */
  readonly selected: Observable<string | null>;
  /** Set by the panels: ids of the entities on which the driver voted. */
  readonly voted: Observable<ReadonlySet<string>>;
  /** Set by alertmonitor.ts. */
  readonly alerts: Observable<Alerts>;
  /** Set by the panels' button. */
  readonly cameraMode: Observable<CameraMode>;
  /** Set by camera.ts: whether the map follows the car. A touch on the map releases it, actions.recentre() takes it back. */
  readonly following: Observable<boolean>;
  /** Set by main.ts and map.ts: whether the browser can draw a map. If not, the list of what lies ahead is the page. */
  readonly drawable: Observable<boolean>;
  /** Set by main.ts: so many pixels at the left of the map lie under panels. */
  readonly covered: Observable<number>;
  /** Set by main.ts: whom the data and the map in view are from, each once. Plain text. */
  readonly attributions: Observable<readonly string[]>;
  /** pose is where and how the car is at this moment. */
  pose(): Pose | null;
}

/** makeState begins with nothing known but the settings and what the position has to say. */
export function makeState(settings: Settings, { fix, positionStatus }: Pick<State, "fix" | "positionStatus">, pose: State["pose"]): State {
  return {
    fix,
    positionStatus,
    motion: new Observable<Motion | null>(null),
    known: new Observable<readonly Entity[]>([]),
    truncated: new Observable<boolean>(false),
    hidden: new Observable<readonly string[]>([]),
    entities: new Observable<readonly Entity[]>([]),
    sources: new Observable<readonly Source[]>([]),
    kinds: new Observable<readonly Kind[]>([]),
    config: new Observable<OverlayConfig | null>(null),
    health: new Observable<readonly SourceHealth[]>([]),
    connection: new Observable<Connection | null>(null),
    clock: new Observable<ServerClock>(null),
    settings: new Observable<Settings>(settings),
    words: new Observable<Words>(makeWords("en", en)),
    theme: new Observable<Theme>("day"),
    selected: new Observable<string | null>(null),
    voted: new Observable<ReadonlySet<string>>(new Set()),
    alerts: new Observable<Alerts>({ listed: [], announce: null, banner: null }),
    cameraMode: new Observable<CameraMode>("heading"),
    following: new Observable<boolean>(true),
    drawable: new Observable<boolean>(true),
    covered: new Observable<number>(0),
    attributions: new Observable<readonly string[]>([]),
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
