// Types of the service's answers about routes, sessions and places (docs/navigation.md), and of the driver's choices.

import type { Destination } from "../state/state.ts";

/** Modifier is the direction of a maneuver. */
export type Modifier = "uturn" | "sharp right" | "right" | "slight right" | "straight" | "slight left" | "left" | "sharp left";

/** Maneuver is the action at the start of a step. */
export interface Maneuver {
  type: string;
  modifier?: Modifier;
  /** Number of the exit of a roundabout. */
  exit?: number;
  bearing_before: number;
  bearing_after: number;
  /** Longitude, latitude. */
  location: readonly [number, number];
}

/** Component is a part of a banner's line. */
export interface Component {
  type: "text" | "icon" | "delimiter" | "exit" | "exit-number" | "lane";
  text: string;
  /** Of a lane, from left to right. */
  directions?: readonly string[];
  /** Whether a lane leads where the route goes. */
  active?: boolean;
  active_direction?: string;
}

/** BannerLine is a line of a banner. */
export interface BannerLine {
  text: string;
  type: string;
  modifier?: Modifier;
  /** Of a roundabout: 180 is straight on. */
  degrees?: number;
  driving_side: "left" | "right";
  components: readonly Component[];
}

/** Banner is shown once so many metres of its step are left. It is about the maneuver at the step's end. */
export interface Banner {
  distanceAlongGeometry: number;
  primary: BannerLine;
  secondary: BannerLine | null;
  /** Lanes, or the maneuver that follows shortly after. */
  sub?: BannerLine;
}

/** Voice is spoken once so many metres of its step are left. */
export interface Voice {
  distanceAlongGeometry: number;
  announcement: string;
  ssmlAnnouncement: string;
  /** Path of the announcement as audio, where the service makes such. */
  clip?: string;
}

/** Lane is a lane before a junction. */
export interface Lane {
  valid: boolean;
  valid_indication?: string;
  indications: readonly string[];
}

/** Intersection is a junction that a step passes; the first one is where it begins. */
export interface Intersection {
  location: readonly [number, number];
  bearings: readonly number[];
  entry: readonly boolean[];
  in?: number;
  out?: number;
  lanes?: readonly Lane[];
  classes?: readonly string[];
}

/** Step is a step of a leg, from one maneuver to the next. */
export interface Step {
  /** An encoded polyline with six decimals. */
  geometry: string;
  maneuver: Maneuver;
  mode: "driving" | "ferry";
  driving_side: "left" | "right";
  name: string;
  ref?: string;
  destinations?: string;
  exits?: string;
  rotary_name?: string;
  /** Seconds. */
  duration: number;
  /** Metres. */
  distance: number;
  intersections: readonly Intersection[];
  bannerInstructions?: readonly Banner[];
  voiceInstructions?: readonly Voice[];
}

/** Incident is an entity on a leg. */
export interface Incident {
  /** Id of the entity. */
  id: string;
  type: string;
  kind_id: string;
  description?: string;
  impact: "critical" | "major" | "minor" | "low";
  closed: boolean;
  /** Metres of the leg. */
  length: number;
  affected_road_names: readonly string[];
  geometry_index_start: number;
  geometry_index_end: number;
}

/** MaxSpeed is a speed limit. */
export type MaxSpeed = { speed: number; unit: "km/h" | "mph" } | { unknown: true } | { none: true };

/** Congestion is the state of traffic on a segment. */
export type Congestion = "unknown" | "low" | "moderate" | "heavy" | "severe";

/** Annotation has one value for each segment of a leg's line. */
export interface Annotation {
  /** Metres. */
  distance: readonly number[];
  /** Seconds. */
  duration: readonly number[];
  maxspeed: readonly MaxSpeed[];
  congestion: readonly Congestion[];
}

/** Leg is the part of a route up to a stop. */
export interface Leg {
  steps: readonly Step[];
  /** Metres. */
  distance: number;
  /** Seconds. */
  duration: number;
  summary: string;
  incidents: readonly Incident[];
  annotation?: Annotation;
}

/** Route is a route in OSRM's form, with extensions of the service. */
export interface Route {
  legs: readonly Leg[];
  /** Metres. */
  distance: number;
  /** Seconds, with present delays. */
  duration: number;
  /** Language of the announcements, such as "de". */
  voiceLocale?: string;
  wayside: {
    duration_ms: number;
    /** Without delays. */
    free_flow_ms: number;
    metric_version: number;
    /** Ids of the entities on the route. */
    conditions: readonly string[];
    /** Ids of the entities that would be on the route otherwise. */
    avoided: readonly string[];
    warnings: readonly string[];
  };
}

/** RoutesAnswer is the answer to a request of routes. */
export interface RoutesAnswer {
  routes: readonly Route[];
  data_version: string;
}

/** Session is the service's knowledge of a drive. */
export interface Session {
  id: string;
  route: Route;
}

/** Reason is the reason for a new route. */
export type Reason = "closed" | "faster" | "left" | "region";

/** SessionEvent is an event of the service during a drive. */
export type SessionEvent = {
  entity_ids: readonly string[];
  /** Seconds that are left of the drive, by the service. */
  duration_s: number;
  arrival_at: string;
  at: string;
} & ({ name: "route"; route: Route; /** Why it is not the first of the session; absent: it is. */ reason?: Reason } | { name: "reroute"; route: Route; reason: Reason } | { name: "condition"; reason: "came" | "gone" | "closed" } | { name: "eta" });

/** Moved is the event that the session's node stops, and another one continues. */
export interface Moved {
  name: "moved";
}

/** Stop is a place on the way, or the destination. */
export type Stop = Destination;

/** Avoided are classes of roads that the driver avoids, in the service's terms. */
export type Avoided = "motorway" | "toll" | "ferry";

/** RouteOptions are the driver's options for a route. */
export interface RouteOptions {
  avoid: readonly Avoided[];
  /** Degrees from north in which the car drives; null if unknown or standing. */
  heading: number | null;
  language: string;
  units: "metric" | "imperial";
}

/** Found is a result of a search. */
export interface Found extends Destination {
  id: string;
  /** In OpenStreetMap's words: "amenity", "charging_station". */
  key: string;
  value: string;
  /** Metres from where it was searched; null without a place to search from. */
  metres: number | null;
  /** Degrees from north, likewise. */
  bearing: number | null;
}
