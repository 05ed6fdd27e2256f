// What the service answers, as far as the page reads it (openapi.json has it whole).

/** Point is a GeoJSON position: longitude first. */
export type Position = [lng: number, lat: number];

export interface Entity {
  id: string;
  layer_slug: string;
  kind_id: string;
  geom: { type: "Point"; coordinates: Position };
  geom_line: { type: "LineString"; coordinates: Position[] } | null;
  first_seen_at: string;
  last_seen_at: string;
  /** null: it does not expire by itself. */
  expires_at: string | null;
  status: "reported" | "confirmed" | "disputed";
  /** 0 to 1. */
  confidence: number;
  confirm_count: number;
  dispute_count: number;
  properties: Record<string, unknown>;
}

export interface SourceHealth {
  id: string;
  status: "online" | "degraded" | "offline";
}

export interface NearbyAnswer {
  entities: Entity[];
  sources: SourceHealth[];
  fetched_at_utc: string;
  truncated?: boolean;
  /** Ids of the kinds that the law hides here. */
  hidden_kinds?: string[];
}

export interface Kind {
  id: string;
  group: string;
  label: string;
  icon_url: string;
}

export interface OverlayConfig {
  version: string;
  /** null: there is no map below the pins. */
  base_map: { style_url: string; attribution: string } | null;
  primary_network: string;
}

/** Source is an item of the source catalogue. */
export interface Source {
  id: string;
  label: string;
  /** Must be shown wherever data of the source is. */
  attribution: string;
  /** Of its data; empty or (from a node of a release before) absent: not stated. */
  licence?: string;
  layer_slugs: string[];
  /** null: every kind of its layers. */
  kind_ids: string[] | null;
  default_on: boolean;
  source_type: "builtin" | "feed-pull" | "feed-push";
}

/** Drive is a round through the demo town. */
export interface Drive {
  coordinates: Position[];
  /** At each place, metres a second. */
  speeds: number[];
}

/** Account is who is signed in. */
export interface Account {
  email: string;
  tier: "account" | "premium";
}

/** BegunPairing is what a screen is told that wants to be signed in by a phone. */
export interface BegunPairing {
  /** For people: "KLBM-LLGH". */
  user_code: string;
  /** For the screen alone. */
  device_code: string;
  verification_url: string;
  expires_at: string;
  interval_seconds: number;
}

/** Alert is an entity that lies ahead, as the service sees it. */
export interface Alert {
  entity: Pick<Entity, "id">;
  distance_m: number;
  lead_m: number;
  /** It is to be announced now; true for one at most. */
  announce: boolean;
}
