// Explains in one sentence why the route has changed, or that it is closed without an alternative.

import { getJSON } from "../net/api.ts";
import { cleanText, entityLabel, streetOf } from "../pins/entitylabels.ts";
import type { Entity } from "../net/wire.ts";
import { serverTime } from "../net/serverclock.ts";
import { closureText, type Closure } from "./noticetext.ts";
import type { NavDeps } from "./deps.ts";
import type { Led } from "./state.ts";

const answerTimeout = 1500; // ms: news without its reason is better than late news
const longest = 80; // characters

/** mountRouteNotices sets nav.notice for each route that replaces another one because of the roads. A driver who left the route gets no notice. */
export function mountRouteNotices({ host, nav }: NavDeps): void {
  let present: { led: Led | null; arrival: number | null } = { led: null, arrival: null };
  nav.arrivals.watch((arrivals) => {
    if (nav.led.get() === present.led) present.arrival = arrivals.at(-1)?.at ?? null;
  });
  nav.led.watch((led) => {
    const before = present.arrival;
    present = { led, arrival: null };
    if (led === null || (led.reason !== "closed" && led.reason !== "faster")) return;
    void reasonOf(led).then((closure) => {
      if (nav.led.get() !== led) return;
      const words = host.locale.get();
      const after = nav.arrivals.get().at(-1)?.at ?? null;
      const longer = before === null || after === null ? null : after - before;
      nav.notice.set({ text: led.reason === "closed" ? closureText(closure, longer, words) : words.say("nav.news.faster") });
    });
  });

  nav.blocked.watch((blocked) => {
    if (blocked === null) return;
    nav.notice.set({ text: host.locale.get().say("nav.news.blocked") });
  });

  /** reasonOf returns the first entity that is the reason; unknown if it cannot be read. */
  const reasonOf = async ({ entityIDs }: Led): Promise<Closure> => {
    const unknown = { label: "", street: "", age: null };
    const [id] = entityIDs;
    if (id === undefined) return unknown;
    const entity = host.state.known.get().find((one) => one.id === id) ?? (await read(id));
    if (entity === null) return unknown;
    const reported = Date.parse(entity.first_seen_at);
    return {
      label: entityLabel(entity, host.state.kinds.get(), host.locale.get()),
      street: cleanText(streetOf(entity), longest),
      age: Number.isNaN(reported) ? null : serverTime(host.state.clock.get(), performance.now(), Date.now()) - reported,
    };
  };

  const read = async (id: string): Promise<Entity | null> => {
    const abort = new AbortController();
    const timeout = setTimeout(() => {
      abort.abort();
    }, answerTimeout);
    try {
      if (!host.budget.tryTake()) return null;
      return (await getJSON<{ entity: Entity }>(`/v2/entities/${encodeURIComponent(id)}`, { signal: abort.signal })).entity;
    } catch {
      return null;
    } finally {
      clearTimeout(timeout);
    }
  };
}
