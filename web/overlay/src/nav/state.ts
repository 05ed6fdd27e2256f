// The state of navigation in observables. As in the page's own state, one module sets each of them and all others watch it.

import { Observable } from "../browser/observable.ts";
import type { Place } from "../geo/geo.ts";
import type { KeptDrive } from "./resume.ts";
import type { RouteLine } from "./routeline.ts";
import type { Destination } from "../state/state.ts";
import type { Avoided, Reason, Route, Stop } from "./types.ts";

/** Phase is the state of navigation: off, choosing a destination and a route, led, or arrived. */
export type Phase = "off" | "choosing" | "led" | "arrived";

/** VoiceMode selects the utterances that are spoken. */
export type VoiceMode = "off" | "alerts" | "all";

/** Led is a route that is being driven: a new object for each new route. */
export interface Led {
  route: Route;
  line: RouteLine;
  /** Why it replaced another one; null for the first one. */
  reason: Reason | "resumed" | "declined" | null;
  /** Ids of the entities that are the reason. */
  entityIDs: readonly string[];
}

/** Progress is the position of the car on the route. */
export interface Progress {
  /** Metres of the line behind the car. */
  metres: number;
  /** On the line. */
  place: Place;
  /** Degrees from north, of the line. */
  bearing: number;
  /** Metres of the line that the car has driven for certain: no more are added once it is beside the line. */
  driven: number;
  /** Metres per second. */
  speed: number;
  /** Whether the car has left the route and a new one is not there yet. */
  isOff: boolean;
  /** Metres from the car to the route, and where that is nearest; 0 on the route. */
  offset: number;
  nearest: Place;
  /** No fix has come for a while: the place is reckoned. */
  isReckoned: boolean;
}

/** Arrival is the time and the distance to a stop. */
export interface Arrival {
  /** Metres along the route. */
  metres: number;
  /** Seconds from now. */
  seconds: number;
  /** Milliseconds since 1970, by the service's clock. */
  at: number;
}

/** Offer is a better way that is taken unless the driver declines it. */
export interface Offer {
  route: Route;
  line: RouteLine;
  /** Ids of the entities that it avoids. */
  entityIDs: readonly string[];
  /** Seconds that it is shorter. */
  gain: number;
  /** When it is taken, in milliseconds of performance.now(). */
  until: number;
}

/** Trouble is the reason why there is no route, or no new one. */
export type Trouble = "noRoute" | "noRoad" | "offMap" | "noRegion" | "noConnection" | "noPosition" | "tooSoon" | "failed";

/** Arrived describes the end of a drive. */
export interface Arrived {
  destination: Destination;
  line: RouteLine;
}

/** Notice is a sentence about the drive. */
export interface Notice {
  text: string;
}

/** NavState is the state of navigation. */
export interface NavState {
  /** Set by NavActions alone. */
  readonly phase: Observable<Phase>;
  readonly destination: Observable<Destination | null>;
  /** All stops in their order, without where the drive begins; the last one is the destination. */
  readonly stops: Observable<readonly Stop[]>;
  /** Classes of roads that the driver avoids. */
  readonly avoid: Observable<readonly Avoided[]>;
  /** Set by the choice of the way: the routes that are offered, and which of them is chosen. */
  readonly routes: Observable<readonly Route[]>;
  readonly chosen: Observable<number>;
  /** Set by drive.ts: the route that is driven; null unless the phase is "led" or "arrived". */
  readonly led: Observable<Led | null>;
  /** Set by drive.ts with each fix and each second. */
  readonly progress: Observable<Progress | null>;
  /** Set by drive.ts: arrivals at all stops that are left, in their order. */
  readonly arrivals: Observable<readonly Arrival[]>;
  readonly offer: Observable<Offer | null>;
  readonly trouble: Observable<Trouble | null>;
  /** Set by drive.ts: whether a new route is being searched. */
  readonly isSearching: Observable<boolean>;
  /** Set by drive.ts: a drive of before that the driver is asked to continue. */
  readonly asking: Observable<KeptDrive | null>;
  /** Set by drive.ts in the phase "arrived". */
  readonly arrived: Observable<Arrived | null>;
  /** Set by drive.ts: ids of the entities that close the route with no way around, a new list each time; null: none do. */
  readonly blocked: Observable<readonly string[] | null>;
  /** Set by routenotices.ts: a sentence on a change of the route, to be shown and spoken once. */
  readonly notice: Observable<Notice | null>;
  /** Set by voice.ts. */
  readonly voice: Observable<VoiceMode>;
  /** Whether the whole route is shown from above, north up. */
  readonly overview: Observable<boolean>;
}

/** makeNavState returns the initial state. */
export function makeNavState(): NavState {
  return {
    phase: new Observable<Phase>("off"),
    destination: new Observable<Destination | null>(null),
    stops: new Observable<readonly Stop[]>([]),
    avoid: new Observable<readonly Avoided[]>([]),
    routes: new Observable<readonly Route[]>([]),
    chosen: new Observable<number>(0),
    led: new Observable<Led | null>(null),
    progress: new Observable<Progress | null>(null),
    arrivals: new Observable<readonly Arrival[]>([]),
    offer: new Observable<Offer | null>(null),
    trouble: new Observable<Trouble | null>(null),
    isSearching: new Observable<boolean>(false),
    asking: new Observable<KeptDrive | null>(null),
    arrived: new Observable<Arrived | null>(null),
    blocked: new Observable<readonly string[] | null>(null),
    notice: new Observable<Notice | null>(null),
    voice: new Observable<VoiceMode>("all"),
    overview: new Observable<boolean>(false),
  };
}
