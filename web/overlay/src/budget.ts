// How often the page may ask the service, so that nobody is ever told to wait: a guest has 60 requests a minute, and shares them
// with whoever else is behind the same address (pure).
//
// Times are milliseconds of a clock that never jumps (performance.now).

/** Budget is a bucket of requests. Begin with `guestBudget`. */
export interface Budget {
  /** Requests that the service grants. */
  quota: number;
  /** In so many milliseconds. */
  window: number;
  /** What may be asked at once, at the time `at`. */
  tokens: number;
  at: number;
  /** Until then nothing may be asked. */
  blockedUntil: number;
}

// A third may be spent at once and the rest drips in, so that no window at all holds more than the quota.
const atOnce = 1 / 3;

const burst = (quota: number): number => Math.max(1, Math.floor(quota * atOnce));
const perMillisecond = ({ quota, window }: Budget): number => Math.max(quota - burst(quota), 0.5) / window;

const guestQuota = 60;
const guestWindow = 60_000;

/** guestBudget is full, at a time. */
export function guestBudget(now: number): Budget {
  return { quota: guestQuota, window: guestWindow, tokens: burst(guestQuota), at: now, blockedUntil: -Infinity };
}

function filled(budget: Budget, now: number): Budget {
  const passed = Math.max(0, now - budget.at);
  return { ...budget, at: Math.max(now, budget.at), tokens: Math.min(burst(budget.quota), budget.tokens + passed * perMillisecond(budget)) };
}

/** Answered by spend. */
export interface Spending {
  budget: Budget;
  /** Milliseconds until it may be asked; 0: now, and it is paid for. */
  wait: number;
}

/** spend asks for one request. leave is how many must be left for what matters more, such as a read after waking up. */
export function spend(budget: Budget, now: number, leave = 0): Spending {
  const full = filled(budget, now);
  const blocked = Math.max(0, full.blockedUntil - now);
  const wanted = Math.min(1 + leave, burst(full.quota));
  const missing = wanted - full.tokens;
  const wait = Math.max(blocked, missing > 1e-9 ? Math.ceil(missing / perMillisecond(full)) : 0);
  return wait > 0 ? { budget: full, wait } : { budget: { ...full, tokens: full.tokens - 1 }, wait: 0 };
}

/** Limits is what the headers of an answer say. */
export interface Limits {
  /** RateLimit-Policy */
  policy: string | null;
  /** RateLimit */
  state: string | null;
  /** Retry-After */
  retryAfter: string | null;
}

/** limitsOf reads the headers that learn takes. */
export function limitsOf(headers: { get(name: string): string | null }): Limits {
  return { policy: headers.get("RateLimit-Policy"), state: headers.get("RateLimit"), retryAfter: headers.get("Retry-After") };
}

/**
 * learn heeds an answer: the service's quota is taken over, and what it has left, if that is less than thought. refused: it
 * answered 429 or 503. Headers that make no sense change nothing.
 */
export function learn(budget: Budget, now: number, limits: Limits, refused: boolean): Budget {
  let learnt = filled(budget, now);
  const quota = parameter(limits.policy, "q");
  const window = parameter(limits.policy, "w");
  if (quota !== null && window !== null && quota > 0 && window > 0 && (quota !== learnt.quota || window * 1000 !== learnt.window)) {
    learnt = { ...learnt, quota, window: window * 1000, tokens: Math.min(burst(quota), learnt.tokens) };
  }
  const left = parameter(limits.state, "r");
  if (left !== null) learnt = { ...learnt, tokens: Math.min(learnt.tokens, left) };
  const wait = retryAfterSeconds(limits.retryAfter);
  if (refused) {
    const pause = wait ?? learnt.window / Math.max(1, learnt.quota) / 1000;
    learnt = { ...learnt, tokens: Math.min(learnt.tokens, 1), blockedUntil: Math.max(learnt.blockedUntil, now + pause * 1000) };
  }
  return learnt;
}

/** parameter reads q of `"default";q=60;w=60`; null: it is not there, or no whole number. */
function parameter(header: string | null, name: string): number | null {
  const [, digits] = new RegExp(`;\\s*${name}=(\\d{1,9})(?=\\s*(;|,|$))`).exec(header ?? "") ?? [];
  return digits === undefined ? null : Number(digits);
}

// Longer is a mistake, and would keep a car without pins for the rest of the drive.
const longestPause = 600;

/** retryAfterSeconds reads Retry-After in seconds, the only form that the service writes; null: there is none. */
export function retryAfterSeconds(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header.trim()) ? Math.min(Number(header), longestPause) : null;
}
