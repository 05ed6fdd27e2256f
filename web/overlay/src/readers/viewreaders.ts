// What reads other places than the car's surroundings, in one file that elsewhere.ts loads.

export { NearestReader } from "./nearestreader.ts";
export { ViewReader } from "./viewreader.ts";
