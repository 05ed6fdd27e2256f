// The page's state in observables. The module named beside each observable is the only one that sets it; all others watch it.

import type { Alerts } from "../alerts/alerts.ts";
import type { Along } from "../alerts/alertrules.ts";
import { Observable } from "../browser/observable.ts";
import type { ServerClock } from "../net/serverclock.ts";
import type { Place } from "../geo/geo.ts";
import type { Motion, Pose } from "../car/deadreckoning.ts";
import type { PositionStatus, Fix } from "../car/position.ts";
import { en } from "../i18n/en.ts";
import { makeWords, type Words } from "../i18n/words.ts";
import type { Settings } from "../settings/settings.ts";
import type { Theme } from "../geo/sun.ts";
import type { AppsChange, Entity, Extent, Kind, Nearest, OverlayConfig, Source, SourceHealth, ViewCluster } from "../net/wire.ts";

/** Key of the driver's choices in the browser's local storage; see parseStoredChoices in settings.ts. */
export const choicesKey = "wayside.choices";

/** Connection is the way in which updates reach the page. */
export type Connection =
  /** By a stream. */
  | { how: "live"; since: number }
  /** By polling. */
  | { how: "polling"; since: number }
  /** Not at all, since a time of performance.now(); shown entities continue to age. */
  | { how: "lost"; since: number };

/** Viewport is the part of the map that is on the screen. */
export interface Viewport extends Extent {
  zoom: number;
}

/** View holds the service's entities of a part of the map. */
export interface View {
  /** Including those that the driver hides. */
  entities: readonly Entity[];
  /** null if the entities are given one by one; otherwise there are none. */
  clusters: readonly ViewCluster[] | null;
  /** Ids of the sources that it comes from. */
  sources: readonly string[];
  /** Ids of the kinds that a restriction hides there. */
  hidden: readonly string[];
}

/** CameraMode is the direction at the top of the map: the heading or north. */
export type CameraMode = "heading" | "north";

/** Guidance is the data of navigation for the page while the driver is led along a route. */
export interface Guidance {
  /** pose returns the car on the route, given the pose without one; null where the car is not on it. */
  pose(own: Pose | null): Pose | null;
  /** zoom returns the zoom of the map; null for the usual one. */
  zoom(): number | null;
  /** limit returns the speed limit in km/h; null if it is unknown. */
  limit(): number | null;
  /** along returns where a pin lies along the route; null if not on it; undefined while the car is not on the route. */
  along: Along;
  /** session returns the id of the session that leads the car; null while there is none. */
  session(): string | null;
}

/** State is the state of the page. */
export interface State {
  /** Set by position.ts: the latest fix as the browser reported it. */
  readonly fix: Observable<Fix | null>;
  /** Set by position.ts: how the position was determined. */
  readonly positionStatus: Observable<PositionStatus>;
  /** Set with each fix: the state of dead reckoning. For drawing between fixes use pose(). */
  readonly motion: Observable<Motion | null>;
  /** Set by nearbyreader.ts: all entities around the car, including those that the driver hides. */
  readonly known: Observable<readonly Entity[]>;
  /** Set by nearbyreader.ts: there are more entities around. */
  readonly truncated: Observable<boolean>;
  /** Set by nearbyreader.ts: ids of the kinds that a restriction hides here. */
  readonly hidden: Observable<readonly string[]>;
  /** Set by main.ts: the entities around the car that are visible. */
  readonly entities: Observable<readonly Entity[]>;
  /** Set by viewreader.ts: the entities in the viewport while the driver looks around; null while they are not known. */
  readonly view: Observable<View | null>;
  /** Set by viewreader.ts: whether the view cannot be read. */
  readonly viewFailed: Observable<boolean>;
  /** Set by main.ts: the view's entities that are visible and not among the known ones around the car. */
  readonly viewEntities: Observable<readonly Entity[]>;
  /** Set by nearestreader.ts: the nearest entity, while there is none around the car; null if it is not known. */
  readonly nearest: Observable<Nearest | null>;
  /** Set by sourcecatalog.ts: the listed sources, and those that were listed before and still have pins. */
  readonly sources: Observable<readonly Source[]>;
  /** Set by main.ts at start. */
  readonly kinds: Observable<readonly Kind[]>;
  readonly config: Observable<OverlayConfig | null>;
  /** Set by nearbyreader.ts: health of the sources. */
  readonly health: Observable<readonly SourceHealth[]>;
  /** Set by nearbyreader.ts: the latest change of the catalogue of apps; null: none yet. */
  readonly appsChange: Observable<AppsChange | null>;
  /** Set by nearbyreader.ts; null before the first attempt. */
  readonly connection: Observable<Connection | null>;
  /** Set by nearbyreader.ts, and by viewreader.ts without a position: the offset from performance.now() to the service's time; see serverclock.ts. */
  readonly clock: Observable<ServerClock>;
  /** Set by the panels, initially from the browser's storage: the settings in effect. */
  readonly settings: Observable<Settings>;
  /** Set by main.ts when the language changes: the texts. */
  readonly words: Observable<Words>;
  /** Set by theme.ts from the settings and the sun. */
  readonly theme: Observable<Theme>;
  /** Set by the panels and by a touch on the map: id of the entity whose card is open. */
  readonly selected: Observable<string | null>;
  /** Set by the panels: ids of the entities on which the driver voted. */
  readonly voted: Observable<ReadonlySet<string>>;
  /** Set by alertmonitor.ts. */
  readonly alerts: Observable<Alerts>;
  /** Set by a button of the panels. */
  readonly cameraMode: Observable<CameraMode>;
  /** Set by the menu: whether the map has names on it. */
  readonly names: Observable<boolean>;
  /** Set by camera.ts: whether the map follows the car. A touch on the map ends it, actions.recentre() restores it. */
  readonly following: Observable<boolean>;
  /** Set by mapview.ts: the part of the map on the screen while the driver looks around (see isLookingAround), after each move; null while it follows. */
  readonly viewport: Observable<Viewport | null>;
  /** Set by mapview.ts: the map's scale, rounded to three digits; null before the map is open. */
  readonly metresPerPixel: Observable<number | null>;
  /** Set by mapview.ts: whole degrees clockwise from north of the map's top edge. */
  readonly mapBearing: Observable<number>;
  /** Set by main.ts and firstvisit.ts: whether the card of the first visit is open or being loaded. */
  readonly welcoming: Observable<boolean>;
  /** Set by nav/drive.ts: null while the driver is not led along a route. */
  readonly guidance: Observable<Guidance | null>;
  /** Set by main.ts: whether the demo's drive is on. */
  readonly driving: Observable<boolean>;
  /** Set by main.ts and map.ts: whether the browser can draw a map. If not, the list is the page. */
  readonly drawable: Observable<boolean>;
  /** Set by main.ts: width in pixels that panels cover at the left of the map; below 0 at the right. */
  readonly covered: Observable<number>;
  /** Pixels at the top and at the bottom that panels cover while one of them is as wide as the window, on phones; 0 without such a panel. */
  readonly coveredAbove: Observable<number>;
  readonly coveredBelow: Observable<number>;
  /** Set by mapview.ts: attributions of the data and the map in view, each once, as plain text. */
  readonly attributions: Observable<readonly string[]>;
  /** pose returns the car's pose at this moment. */
  pose(): Pose | null;
}

/** makeState returns the initial state. */
export function makeState(settings: Settings, { fix, positionStatus }: Pick<State, "fix" | "positionStatus">, pose: State["pose"]): State {
  return {
    fix,
    positionStatus,
    motion: new Observable<Motion | null>(null),
    known: new Observable<readonly Entity[]>([]),
    truncated: new Observable<boolean>(false),
    hidden: new Observable<readonly string[]>([]),
    entities: new Observable<readonly Entity[]>([]),
    view: new Observable<View | null>(null),
    viewFailed: new Observable<boolean>(false),
    viewEntities: new Observable<readonly Entity[]>([]),
    nearest: new Observable<Nearest | null>(null),
    sources: new Observable<readonly Source[]>([]),
    kinds: new Observable<readonly Kind[]>([]),
    config: new Observable<OverlayConfig | null>(null),
    health: new Observable<readonly SourceHealth[]>([]),
    appsChange: new Observable<AppsChange | null>(null),
    connection: new Observable<Connection | null>(null),
    clock: new Observable<ServerClock>(null),
    settings: new Observable<Settings>(settings),
    words: new Observable<Words>(makeWords("en", en)),
    theme: new Observable<Theme>("day"),
    selected: new Observable<string | null>(null),
    voted: new Observable<ReadonlySet<string>>(new Set()),
    alerts: new Observable<Alerts>({ listed: [], announce: null, banner: null, passed: null }),
    cameraMode: new Observable<CameraMode>("heading"),
    names: new Observable<boolean>(true),
    following: new Observable<boolean>(true),
    viewport: new Observable<Viewport | null>(null),
    metresPerPixel: new Observable<number | null>(null),
    mapBearing: new Observable<number>(0),
    welcoming: new Observable<boolean>(false),
    guidance: new Observable<Guidance | null>(null),
    driving: new Observable<boolean>(false),
    drawable: new Observable<boolean>(true),
    covered: new Observable<number>(0),
    coveredAbove: new Observable<number>(0),
    coveredBelow: new Observable<number>(0),
    attributions: new Observable<readonly string[]>([]),
    pose,
  };
}

/** isLookingAround reports whether the map shows a place of its own instead of following the car (pure). */
export const isLookingAround = ({ following, fix }: Pick<State, "following" | "fix">): boolean => !following.get() || fix.get() === null;

/** hasNoData reports whether nothing is known within the radius that was read around a position (pure). */
export function hasNoData(connection: Connection | null, located: boolean, known: number): boolean {
  return located && known === 0 && connection !== null && connection.how !== "lost";
}

/** isWithoutData reports whether nothing is known around the car (pure). */
export const isWithoutData = ({ connection, fix, known }: Pick<State, "connection" | "fix" | "known">): boolean => hasNoData(connection.get(), fix.get() !== null, known.get().length);

/** Destination is the place where a drive ends. */
export interface Destination {
  place: Place;
  /** The driver's name for it; "" if only the place is known. */
  name: string;
  /** A second line, such as the town; "". */
  detail: string;
}

/** Actions are the commands that panels call. */
export interface Actions {
  /** recentre makes the map follow the car again. */
  recentre(): void;
  /** select opens an entity's card; null closes it. */
  select(id: string | null): void;
  /** show moves the map to a place and stops following the car. */
  show(place: Place): void;
  /** showNearest shows the nearest data from above and stops following the car. */
  showNearest(): void;
  /** namePlace sets the driver's position by hand. */
  namePlace(place: Place): void;
  /** zoomBy changes the zoom by so many levels and stops following the car. */
  zoomBy(levels: number): void;
  /** refresh reads the entities immediately, after a vote. */
  refresh(): void;
  /** locate asks the browser for the position, and follows it. */
  locate(): void;
  /** lookAround shows the extent of the public data and stops following the car. */
  lookAround(): void;
  /** nameMiddle sets the driver's position to the middle of the map. */
  nameMiddle(): void;
  /** driveTo offers the ways to a place. */
  driveTo(destination: Destination): void;
  /** startDrive starts the demo's drive. */
  startDrive(): void;
  /** endDrive ends the demo's drive; the car stays where it is. */
  endDrive(): void;
  /** dismiss hides the banner of an entity. */
  dismiss(id: string): void;
}
