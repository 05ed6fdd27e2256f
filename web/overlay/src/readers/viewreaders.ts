// The readers of other places than the car's surroundings, in one file that viewreadersloader.ts loads.

export { NearestReader } from "./nearestreader.ts";
export { ViewReader } from "./viewreader.ts";
