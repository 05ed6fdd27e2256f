// The request budget that all reads of the page share.

import { guestBucket, adjust, rateLimitHeaders, take, type TokenBucket } from "./tokenbucket.ts";

/** RequestBudget limits the page's requests by a token bucket that follows the service's rate limit headers. */
export class RequestBudget {
  readonly #now: () => number;
  #bucket: TokenBucket;

  constructor(now: () => number) {
    this.#now = now;
    this.#bucket = guestBucket(now());
  }

  /** tryTake takes one request and reports whether it may be sent now. reserve is how many must remain for more important requests. */
  tryTake(reserve = 0): boolean {
    const { bucket, wait } = take(this.#bucket, this.#now(), reserve);
    this.#bucket = bucket;
    return wait === 0;
  }

  /** observe reads a response's rate limit headers. A 429 for too many streams says nothing about other requests. */
  observe(response: Response, isStream: boolean): void {
    const refused = response.status === 503 || (response.status === 429 && !isStream);
    this.#bucket = adjust(this.#bucket, this.#now(), rateLimitHeaders(response.headers), refused);
  }
}
