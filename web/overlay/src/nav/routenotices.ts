// Explains in one sentence why the route has changed, or that it is closed without an alternative.

import { getJSON } from "../net/api.ts";
import { cleanText, entityLabel, streetOf } from "../pins/entitylabels.ts";
import type { Entity } from "../net/wire.ts";
import type { NavDeps } from "./deps.ts";
import type { Led } from "./state.ts";

const answerTimeout = 1500; // ms: news without its reason is better than late news
const longest = 80; // characters

/** mountRouteNotices sets nav.notice for each route that replaces another one because of the roads. A driver who left the route gets no notice. */
export function mountRouteNotices({ host, nav }: NavDeps): void {
  nav.led.watch((led) => {
    if (led === null || (led.reason !== "closed" && led.reason !== "faster")) return;
    void reasonOf(led).then((what) => {
      if (nav.led.get() !== led) return;
      const { say } = host.locale.get();
      const text = led.reason === "closed" ? (what === "" ? say("nav.news.closed") : say("nav.news.closedBy", { what })) : say("nav.news.faster");
      nav.notice.set({ text });
    });
  });

  nav.blocked.watch((blocked) => {
    if (blocked === null) return;
    nav.notice.set({ text: host.locale.get().say("nav.news.blocked") });
  });

  /** reasonOf returns the kind and the street of the first entity that is the reason; "" if it cannot be read. */
  const reasonOf = async ({ entityIDs }: Led): Promise<string> => {
    const [id] = entityIDs;
    if (id === undefined) return "";
    const entity = host.state.known.get().find((one) => one.id === id) ?? (await read(id));
    if (entity === null) return "";
    const label = entityLabel(entity, host.state.kinds.get(), host.locale.get());
    return [label, cleanText(streetOf(entity), longest)].filter((part) => part !== "").join(", ");
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
