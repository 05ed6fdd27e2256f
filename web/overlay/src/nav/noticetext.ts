// The sentence on a new route: the reason first, then what it costs (pure).

import type { Locale } from "../i18n/locale.ts";

const minute = 60_000; // ms

/** Closure is why a route was replaced because of a closure. */
export interface Closure {
  /** Label of its kind; "" if unknown. */
  label: string;
  /** Its street; "" if unknown. */
  street: string;
  /** Milliseconds since it was reported; null if unknown. */
  age: number | null;
}

/** closureText returns the sentence on a route around a closure that takes so many milliseconds longer; null if that is unknown. */
export function closureText({ label, street, age }: Closure, longer: number | null, { say, format }: Locale): string {
  if (label === "") return say("nav.news.closed");
  const reported = age !== null && age >= minute ? say("nav.news.age", { age: format.duration(age) }) : "";
  const what = [label, street, reported].filter((part) => part !== "").join(", ");
  return longer !== null && longer >= minute ? say("nav.news.closedByLonger", { what, more: format.duration(longer) }) : say("nav.news.closedBy", { what });
}
