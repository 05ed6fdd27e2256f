// The one budget of requests from which everything in the page that reads is paid.

import { guestBudget, learn, limitsOf, spend, type Budget } from "./budget.ts";

export class Purse {
  readonly #now: () => number;
  #budget: Budget;

  constructor(now: () => number) {
    this.#now = now;
    this.#budget = guestBudget(now());
  }

  /** pay is for one request, now; false: not yet. leave is how many must be left for what matters more. */
  pay(leave = 0): boolean {
    const { budget, wait } = spend(this.#budget, this.#now(), leave);
    this.#budget = budget;
    return wait === 0;
  }

  /** heed takes over what an answer says of the limits. That a caller has too many streams says nothing of other requests. */
  heed(answer: Response, isStream: boolean): void {
    const refused = answer.status === 503 || (answer.status === 429 && !isStream);
    this.#budget = learn(this.#budget, this.#now(), limitsOf(answer.headers), refused);
  }
}
