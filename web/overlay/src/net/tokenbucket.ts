// A token bucket for the page's requests: a guest has 60 requests a minute, shared with all clients behind the same address. The page
// stays below that, so that the service never has to refuse it (pure).
//
// Times are milliseconds of a monotonic clock (performance.now).

/** TokenBucket is the state of the bucket. Start with `guestBucket`. */
export interface TokenBucket {
  /** Requests per window that the service grants. */
  quota: number;
  /** Length of the window in milliseconds. */
  window: number;
  /** Requests that may be sent immediately, as of the time `at`. */
  tokens: number;
  at: number;
  /** No request may be sent before. */
  blockedUntil: number;
}

// The burst is a third of the quota and the rest is refilled steadily, so that no window exceeds the quota.
const burstShare = 1 / 3;

const burst = (quota: number): number => Math.max(1, Math.floor(quota * burstShare));
const refillRate = ({ quota, window }: TokenBucket): number => Math.max(quota - burst(quota), 0.5) / window;

const guestQuota = 60;
const guestWindow = 60_000;

/** guestBucket returns a full bucket. */
export function guestBucket(now: number): TokenBucket {
  return { quota: guestQuota, window: guestWindow, tokens: burst(guestQuota), at: now, blockedUntil: -Infinity };
}

function refilled(bucket: TokenBucket, now: number): TokenBucket {
  const elapsed = Math.max(0, now - bucket.at);
  return { ...bucket, at: Math.max(now, bucket.at), tokens: Math.min(burst(bucket.quota), bucket.tokens + elapsed * refillRate(bucket)) };
}

/** TakeResult is the result of take. */
export interface TakeResult {
  bucket: TokenBucket;
  /** Milliseconds to wait; 0 if a token was taken. */
  wait: number;
}

/** take takes one token. reserve is how many must remain for more important requests, such as a read after waking up. */
export function take(bucket: TokenBucket, now: number, reserve = 0): TakeResult {
  const full = refilled(bucket, now);
  const blocked = Math.max(0, full.blockedUntil - now);
  const needed = Math.min(1 + reserve, burst(full.quota));
  const missing = needed - full.tokens;
  const wait = Math.max(blocked, missing > 1e-9 ? Math.ceil(missing / refillRate(full)) : 0);
  return wait > 0 ? { bucket: full, wait } : { bucket: { ...full, tokens: full.tokens - 1 }, wait: 0 };
}

/** RateLimitHeaders are a response's rate limit headers. */
export interface RateLimitHeaders {
  /** RateLimit-Policy */
  policy: string | null;
  /** RateLimit */
  state: string | null;
  /** Retry-After */
  retryAfter: string | null;
}

/** rateLimitHeaders reads the headers that adjust takes. */
export function rateLimitHeaders(headers: { get(name: string): string | null }): RateLimitHeaders {
  return { policy: headers.get("RateLimit-Policy"), state: headers.get("RateLimit"), retryAfter: headers.get("Retry-After") };
}

/**
 * adjust adopts the quota of a response, and its remaining requests if they are fewer than expected. refused: the status was 429 or
 * 503. Invalid headers change nothing.
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

/** parameter reads q of `"default";q=60;w=60`; null if it is missing or not a whole number. */
function parameter(header: string | null, name: string): number | null {
  const [, digits] = new RegExp(`;\\s*${name}=(\\d{1,9})(?=\\s*(;|,|$))`).exec(header ?? "") ?? [];
  return digits === undefined ? null : Number(digits);
}

// Seconds: a longer pause is an error, and would leave a car without pins for the rest of the drive.
const maxRetryAfter = 600;

/** retryAfterSeconds reads Retry-After in seconds, the only form that the service writes; null if it is missing or invalid. */
export function retryAfterSeconds(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header.trim()) ? Math.min(Number(header), maxRetryAfter) : null;
}
