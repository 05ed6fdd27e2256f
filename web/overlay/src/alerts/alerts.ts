// Types of the alerts ahead.

import type { AlertPin, ListedAlert } from "./alertrules.ts";
import type { Banner } from "./announcer.ts";
import type { Entity } from "../net/wire.ts";

/** AlertCandidate is an entity in the form that the alert rules take. */
export interface AlertCandidate extends AlertPin {
  entity: Entity;
}

/** Alerts are the alerts ahead. */
export interface Alerts {
  /** Nearest first. */
  listed: readonly ListedAlert<AlertCandidate>[];
  /** The pin that is announced; each new value that is not null is due for one sound. */
  announce: ListedAlert<AlertCandidate> | null;
  banner: Banner<AlertCandidate> | null;
  /** The announced pin that the car has just passed; null at most updates. */
  passed: AlertCandidate | null;
}
