// Maps failed requests to texts for the driver (pure).

import type { Words } from "../i18n/words.ts";
import { RouteError, TooSoon } from "./api.ts";
import type { Trouble } from "./state.ts";

/** carHasNoRoad ends the service's message about the first place, which is the car's. A later position may be on the map. */
const carHasNoRoad = " coordinate 0";

/** troubleOf maps an error of a request to the trouble that the driver reads. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof TooSoon) return "tooSoon";
  if (error instanceof TypeError) return "noConnection"; // fetch fails so without a connection
  if (!(error instanceof RouteError)) return "failed";
  switch (error.code) {
    case "NoRoute":
      return "noRoute";
    case "NoSegment":
      return error.message.endsWith(carHasNoRoad) ? "offMap" : "noRoad";
    case "NoRegion":
      return "noRegion";
    default:
      return "failed";
  }
}

/** troubleText returns a sentence on what is wrong and what to do. */
export const troubleText = (trouble: Trouble, { say }: Pick<Words, "say">): string => say(`nav.trouble.${trouble}`);
