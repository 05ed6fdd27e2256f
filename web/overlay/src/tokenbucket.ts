// How often the page may ask the service, so that nobody is ever told to wait: a guest has 60 requests a minute, and shares them
// with whoever else is behind the same address (pure).
//
// Times are milliseconds of a clock that never jumps (performance.now).

/** TokenBucket is a bucket of requests. Begin with `guestBudget`. */
export interface TokenBucket {
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
const burstShare = 1 / 3;

const burst = (quota: number): number => Math.max(1, Math.floor(quota * burstShare));
const refillRate = ({ quota, window }: TokenBucket): number => Math.max(quota - burst(quota), 0.5) / window;

const guestQuota = 60;
const guestWindow = 60_000;

/** guestBucket is full, at a time. */
export function guestBucket(now: number): TokenBucket {
  return { quota: guestQuota, window: guestWindow, tokens: burst(guestQuota), at: now, blockedUntil: -Infinity };
}

function refilled(bucket: TokenBucket, now: number): TokenBucket {
  const elapsed = Math.max(0, now - bucket.at);
  return { ...bucket, at: Math.max(now, bucket.at), tokens: Math.min(burst(bucket.quota), bucket.tokens + elapsed * refillRate(bucket)) };
}

/** Answered by spend. */
export interface TakeResult {
  bucket: TokenBucket;
  /** Milliseconds until it may be asked; 0: now, and it is paid for. */
  wait: number;
}

/** take asks for one request. leave is how many must be left for what matters more, such as a read after waking up. */
export function take(bucket: TokenBucket, now: number, reserve = 0): TakeResult {
  const full = refilled(bucket, now);
  const blocked = Math.max(0, full.blockedUntil - now);
  const needed = Math.min(1 + reserve, burst(full.quota));
  const missing = needed - full.tokens;
  const wait = Math.max(blocked, missing > 1e-9 ? Math.ceil(missing / refillRate(full)) : 0);
  return wait > 0 ? { bucket: full, wait } : { bucket: { ...full, tokens: full.tokens - 1 }, wait: 0 };
}

/** RateLimitHeaders is what the headers of an answer say. */
export interface RateLimitHeaders {
  /** RateLimit-Policy */
  policy: string | null;
  /** RateLimit */
  state: string | null;
  /** Retry-After */
  retryAfter: string | null;
}

/** rateLimitHeaders reads the headers that learn takes. */
export function rateLimitHeaders(headers: { get(name: string): string | null }): RateLimitHeaders {
  return { policy: headers.get("RateLimit-Policy"), state: headers.get("RateLimit"), retryAfter: headers.get("Retry-After") };
}

/**
 * learn heeds an answer: the service's quota is taken over, and what it has left, if that is less than thought. refused: it
 * answered 429 or 503. Headers that make no sense change nothing.
 */
export function adjust(bucket: TokenBucket, now: number, headers: RateLimitHeaders, refused: boolean): TokenBucket {
  let adjusted = refilled(bucket, now);
  const quota = parameter(headers.policy, "q");
  const window = parameter(headers.policy, "w");
  if (quota !== null && window !== null && quota > 0 && window > 0 && (quota !== adjusted.quota || window * 1000 !== adjusted.window)) {
    adjusted = { ...adjusted, quota, window: window * 1000, tokens: Math.min(burst(quota), adjusted.tokens) };
  }
  const left = parameter(headers.state, "r");
  if (left !== null) adjusted = { ...adjusted, tokens: Math.min(adjusted.tokens, left) };
  const wait = retryAfterSeconds(headers.retryAfter);
  if (refused) {
    const pause = wait ?? adjusted.window / Math.max(1, adjusted.quota) / 1000;
    adjusted = { ...adjusted, tokens: Math.min(adjusted.tokens, 1), blockedUntil: Math.max(adjusted.blockedUntil, now + pause * 1000) };
  }
  return adjusted;
}

/** parameter reads q of `"default";q=60;w=60`; null: it is not there, or no whole number. */
function parameter(header: string | null, name: string): number | null {
  const [, digits] = new RegExp(`;\\s*${name}=(\\d{1,9})(?=\\s*(;|,|$))`).exec(header ?? "") ?? [];
  return digits === undefined ? null : Number(digits);
}

// Longer is a mistake, and would keep a car without pins for the rest of the drive.
const maxRetryAfter = 600;

/** retryAfterSeconds reads Retry-After in seconds, the only form that the service writes; null: there is none. */
export function retryAfterSeconds(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header.trim()) ? Math.min(Number(header), maxRetryAfter) : null;
}
