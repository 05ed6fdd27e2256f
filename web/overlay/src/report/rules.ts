// Kinds that can be reported, and texts on the outcome of a report (pure).

import { HTTPError } from "../net/api.ts";
import type { Key } from "../i18n/en.ts";
import type { Say } from "../i18n/words.ts";
import type { Kind } from "../net/wire.ts";

/** Milliseconds in which a report can be taken back, and in which its outcome is shown. */
export const undoDuration = 10_000;

/** Milliseconds for which the undo of a report is shown. */
export const undoneDuration = 5000;

/** Milliseconds after which the choice of a kind closes by itself: a driver who forgot it sees the map again. */
export const choiceDuration = 20_000;

/** The hazard whose subtypes are chosen from a second page. */
export const hazard = "alert.hazard";

/** The first page: the most frequent reports, most frequent first. */
const first: readonly string[] = ["alert.police", "alert.accident", "traffic.jam", hazard, "alert.construction", "alert.road_closed"];

const others: readonly string[] = ["object_on_road", "car_stopped", "animal", "pothole", "ice", "fog", "flooding"].map((name) => `${hazard}.${name}`);

/** choices returns the kinds of a page: those that the service knows, without those that a restriction hides here. */
export function choices(page: "first" | "hazards", kinds: readonly Kind[], hidden: readonly string[]): Kind[] {
  const isHidden = (id: string): boolean => hidden.some((one) => id === one || id.startsWith(`${one}.`));
  const ids = page === "first" ? first : [...others, hazard];
  return ids.flatMap((id) => kinds.filter((kind) => kind.id === id && !isHidden(id)));
}

/** ReportAnswer is the service's answer to a report. */
export interface ReportAnswer {
  entity: { id: string; kind_id: string };
  /** Nobody else reads it yet. */
  waits: boolean;
  /** Absent: the report is a new entity. */
  counted_as?: "confirm";
  renewed?: boolean;
}

/** Undo identifies what an undo deletes: the report, or the vote that it counted as; null: nothing. */
export type Undo = "report" | "vote" | null;

/** undoOf returns how a report is taken back. */
export function undoOf({ counted_as: counted, renewed }: ReportAnswer): Undo {
  if (counted === undefined) return "report";
  return renewed === true ? null : "vote";
}

/** outcomeText returns the outcome of a report as a sentence; kind is the name of its kind. */
export function outcomeText(answer: ReportAnswer, kind: string, say: Say): string {
  if (answer.renewed === true) return say("report.renewed");
  if (answer.counted_as !== undefined) return say("report.confirmed");
  return answer.waits ? say("report.waits", { kind }) : say("report.done", { kind });
}

type Failure = Extract<Key, "report.refused" | "report.tooMany" | "report.failed" | "account.ended" | "link.offline">;

/** failureOf returns the text for an error. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof HTTPError)) return "link.offline";
  switch (error.status) {
    case 401:
      return "account.ended";
    case 422:
      return "report.refused";
    case 429:
      return "report.tooMany";
    default:
      return "report.failed";
  }
}

/** slowest is the speed in m/s above which the car's heading is that of the road. */
const slowest = 2;

/** bodyOf returns the body of a report: where the driver was, to about a metre, and when. */
export function bodyOf(kind: string, pose: { lat: number; lng: number; heading: number | null; speed: number | null }, observed: number | null): Record<string, unknown> {
  const round = (degrees: number): number => Number(degrees.toFixed(5));
  return {
    kind,
    lat: round(pose.lat),
    lng: round(pose.lng),
    ...(pose.heading !== null && (pose.speed ?? 0) >= slowest && { heading: ((Math.round(pose.heading) % 360) + 360) % 360 }),
    ...(observed !== null && { observed_at: new Date(observed).toISOString() }),
  };
}
