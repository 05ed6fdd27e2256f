// Types of the service's answers, as far as the page reads them; openapi.json is complete.

/** Position is a GeoJSON position: longitude first. */
export type Position = [lng: number, lat: number];

/** Entity is an entity on the map. */
export interface Entity {
  id: string;
  layer_slug: string;
  kind_id: string;
  geom: { type: "Point"; coordinates: Position };
  geom_line: { type: "LineString"; coordinates: Position[] } | null;
  first_seen_at: string;
  last_seen_at: string;
  /** null if it does not expire. */
  expires_at: string | null;
  status: "reported" | "confirmed" | "disputed";
  /** 0 to 1. */
  confidence: number;
  confirm_count: number;
  dispute_count: number;
  properties: Record<string, unknown>;
}

/** AppsChange is a change of the catalogue of apps, from a stream. */
export interface AppsChange {
  revision: number;
  /** Ids of apps that are served otherwise than before, or no longer; none: any may be. */
  changed: readonly string[];
}

/** SourceHealth is the state of a source. */
export interface SourceHealth {
  id: string;
  status: "online" | "degraded" | "offline";
}

/** NearbyAnswer is the answer to a read of nearby entities. */
export interface NearbyAnswer {
  entities: Entity[];
  sources: SourceHealth[];
  fetched_at_utc: string;
  truncated?: boolean;
  /** Ids of the kinds that a restriction hides here. */
  hidden_kinds?: string[];
}

/** ViewCluster stands for several entities of a view, in their middle. */
export interface ViewCluster {
  id: string;
  lat: number;
  lng: number;
  count: number;
  /** The gravest kind among them. */
  kind_id: string;
}

/** ViewAnswer is the answer to a read of a view: entities or clusters. */
export interface ViewAnswer extends NearbyAnswer {
  /** null if the entities are given one by one; otherwise there are none. */
  clusters: ViewCluster[] | null;
}

/** Nearest is the nearest entity to a place. */
export interface Nearest {
  entity: Entity;
  /** A large place near the entity; null or, from a node of an older release, absent if there is none. */
  place?: { name: string; distance_m: number } | null;
}

/** NearestAnswer is the answer to a read of the nearest entity. */
export interface NearestAnswer {
  /** null if there is no entity anywhere. */
  nearest: Nearest | null;
}

/** Kind is a kind of entities. */
export interface Kind {
  id: string;
  group: string;
  label: string;
  icon_url: string;
  /** Of several kinds the highest is shown first; absent from nodes of older releases. */
  gravity?: number;
  colour?: string;
}

/** Extent is a rectangle in degrees; west is greater than east where it crosses 180°. */
export interface Extent {
  west: number;
  south: number;
  east: number;
  north: number;
}

/** OverlayConfig is the configuration of the page. */
export interface OverlayConfig {
  version: string;
  /** null if there is no base map. */
  base_map: { style_url: string; attribution: string } | null;
  primary_network: string;
  /** Extent of the public data; null or, from a node of an older release, absent if there is none. */
  extent?: Extent | null;
  /** The service is a demo and has a drive; absent from a node of an older release. */
  demo?: boolean;
}

/** Source is an item of the source catalogue. */
export interface Source {
  id: string;
  label: string;
  /** Must be shown with the source's data. */
  attribution: string;
  /** Licence of the data; empty or, from a node of an older release, absent if not stated. */
  licence?: string;
  layer_slugs: string[];
  /** null for every kind of its layers. */
  kind_ids: string[] | null;
  default_on: boolean;
  source_type: "builtin" | "feed-pull" | "feed-push";
}

/** Drive is a way through the demo's town. */
export interface Drive {
  coordinates: Position[];
  /** Metres per second at each place. */
  speeds: number[];
}

/** GuidedDrive leads to a destination, with one wrong turn. */
export interface GuidedDrive extends Drive {
  /** Name of the destination. */
  name: string;
  to: Position;
  /** Indexes of the first and last places between which there are no fixes. */
  tunnels: [first: number, last: number][];
}

/** DemoDrives are a round trip, and a drive to a destination where the demo serves the town's roads. */
export interface DemoDrives extends Drive {
  guided?: GuidedDrive;
}

/** Account is the signed-in account. */
export interface Account {
  email: string;
  tier: "account" | "premium";
  /** "screen" for one that a phone signed in. */
  scope?: string;
}

/** BegunPairing is the answer to a screen that asks to be signed in by a phone. */
export interface BegunPairing {
  /** Shown to people: "KLBM-LLGH". */
  user_code: string;
  /** Known to the screen only. */
  device_code: string;
  verification_url: string;
  expires_at: string;
  interval_seconds: number;
}

/** Alert is an alert ahead, computed by the service. */
export interface Alert {
  entity: Pick<Entity, "id">;
  distance_m: number;
  lead_m: number;
  /** Should be announced now; true for at most one. */
  announce: boolean;
  /** Whether the distance is along the road or as the crow flies. Older services do not say. */
  match?: "road" | "cone";
}

/** AlertAnswer is the service's answer to a query for alerts ahead. */
export interface AlertAnswer {
  alerts: Alert[];
  /** Along which roads it looked: the session's route or the most probable way; null: by direction only. Older services do not say. */
  along?: "route" | "probable" | null;
  /** To be sent with the next query. */
  state?: string | null;
}
