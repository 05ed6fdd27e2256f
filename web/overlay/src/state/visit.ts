// Whether the driver has been here before, which decides between the first-visit card and locating the driver at once.

import { parsePlace } from "../car/position.ts";
import { choicesKey } from "./state.ts";
import { readStored, store } from "../browser/storage.ts";

/** Key in the browser's local storage of how the driver uses the page: located, or only to look around. */
export const visitKey = "wayside.visit";

/** Visit is the way in which the page opens: with the first-visit card, by locating the driver, or looking around. */
export type Visit = "first" | "locate" | "look";

/** visitOf decides by the address and by the browser's storage: the use of the page, and the driver's choices (pure). */
export function visitOf(query: URLSearchParams, visited: string | null, choices: string | null): Visit {
  if (["demo", "loop"].includes(query.get("drive") ?? "") || parsePlace(query.get("at")) !== null) return "locate"; // the address names the position
  if (visited === null) return choices === null ? "first" : "locate"; // drivers of an earlier release have only choices
  return visited === "look" ? "look" : "locate";
}

/** presentVisit must be called before the driver's choices are stored. */
export const presentVisit = (query: URLSearchParams): Visit => visitOf(query, readStored(visitKey), readStored(choicesKey));

/** rememberVisit stores how the next visit opens. */
export function rememberVisit(visit: Exclude<Visit, "first">): void {
  store(visitKey, visit);
}
