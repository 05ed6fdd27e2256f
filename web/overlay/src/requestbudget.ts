// The one budget of requests from which everything in the page that reads is paid.

import { guestBucket, adjust, rateLimitHeaders, take, type TokenBucket } from "./tokenbucket.ts";

export class RequestBudget {
  readonly #now: () => number;
  #bucket: TokenBucket;

  constructor(now: () => number) {
    this.#now = now;
    this.#bucket = guestBucket(now());
  }

  /** tryTake is for one request, now; false: not yet. leave is how many must be left for what matters more. */
  tryTake(reserve = 0): boolean {
    const { bucket, wait } = take(this.#bucket, this.#now(), reserve);
    this.#bucket = bucket;
    return wait === 0;
  }

  /** observe takes over what an answer says of the limits. That a caller has too many streams says nothing of other requests. */
  observe(response: Response, isStream: boolean): void {
    const refused = response.status === 503 || (response.status === 429 && !isStream);
    this.#bucket = adjust(this.#bucket, this.#now(), rateLimitHeaders(response.headers), refused);
  }
}
