import { afterEach, beforeAll, expect, test } from "vitest";
import type { Page, Route } from "playwright-core";
import { closeCars, eventually, openBrowser, openCar, town, type Car } from "./harness.ts";
import { panel, until } from "./leddrive.ts";

beforeAll(openBrowser);
afterEach(closeCars);

/** Bytes of the longest texts. */
const longest = 40_000;

const markup = [
  "<img src=x onerror=pwned()>", "<script>pwned()</script>", "<svg onload=pwned()>", "<svg><script>pwned()</script></svg>", "<iframe srcdoc='<script>parent.pwned()</script>'>",
  "<iframe src=javascript:parent.pwned()>", "<object data=javascript:pwned()>", "<embed src=javascript:pwned()>", "<a href=javascript:pwned()>x</a>", "<body onload=pwned()>",
  "<input autofocus onfocus=pwned()>", "<details open ontoggle=pwned()>", "<video><source onerror=pwned()></video>", "<math><mi xlink:href=javascript:pwned()>x</mi></math>", "<style>@import'//evil.example/x'</style>",
  "<link rel=stylesheet href=//evil.example/x.css>", "<meta http-equiv=refresh content='0;url=//evil.example'>", "<base href=//evil.example/>", "<template><img src=x onerror=pwned()></template>", "<noscript><p title='</noscript><img src=x onerror=pwned()>'>",
  "\"><img src=x onerror=pwned()>", "' onmouseover='pwned()", "`${pwned()}`", "</strong><script>pwned()</script>", "<!--><img src=x onerror=pwned()>-->",
  "&lt;img src=x onerror=pwned()&gt;", "&#60;script&#62;pwned()&#60;/script&#62;", "\\u003cscript>pwned()</script>", "%3Cscript%3Epwned()%3C/script%3E", "<scr\u0000ipt>pwned()</scr\u0000ipt>",
  "<marquee onstart=pwned()>", "<form action=javascript:pwned()><button>x", "<button popovertarget=x onbeforetoggle=pwned()>x", "<x contenteditable onblur=pwned()>", "<img srcset=//evil.example/x.png>",
];
const code = [
  "javascript:pwned()", "data:text/html,<script>pwned()</script>", "{{constructor.constructor('pwned()')()}}", "{name} {what} {0} %s %d $& $1", "__proto__", "constructor", "toString", "url(//evil.example/x)", "expression(pwned())",
  "%00%0d%0aSet-Cookie:x=1", "\r\n\r\nevent: reroute\ndata: {}\n\n", "\u2028\u2029pwned()", "'; DROP TABLE places; --",
];
const scripts = ["\u202egnp.\u2066exe\u0000\u001b[31m", "شارع الملك فهد", "רחוב הרצל", "\u200b\u200c\u200d\ufeff", "\ud800", "👨‍👩‍👧‍👦"];
const long = (text: string): string => text.repeat(Math.ceil(longest / text.length)).slice(0, longest);
const oversized = [long("W"), long("ﷺ"), long("e\u0301\u0323\u0302"), long("a\n"), long("👨‍👩‍👧"), long("\u202eab "), long("<img src=x onerror=pwned()>")];

/** payloads are 60 and more texts that a name may be. */
const payloads = [...markup, ...code, ...scripts, ...oversized];

/** Members of answers whose values are texts that others wrote. */
const names: ReadonlySet<string> = new Set(["text", "name", "ref", "exits", "destinations", "announcement", "rotary_name", "summary", "street", "city", "country", "postcode", "attribution", "warnings"]);

/** Hostile replaces all texts of answers, beginning with one payload. */
class Hostile {
  first = 0;

  /** json replaces each name by the next payload. */
  json(value: unknown): string {
    let next = this.first;
    return JSON.stringify(value, (key, one: unknown) => (names.has(key) && typeof one === "string" ? payloads[next++ % payloads.length] : one));
  }
}

async function answerHostile(route: Route, hostile: Hostile): Promise<void> {
  const answer = await route.fetch();
  await route.fulfill({ response: answer, body: hostile.json(await answer.json()) });
}

interface Look {
  active: string[];
  wide: number;
  boxes: { what: string; left: number; top: number; right: number; bottom: number }[];
  texts: number;
}

/** lookAt finds what executes, and panels that overflow the window. */
const lookAt = (page: Page): Promise<Look> =>
  page.evaluate(() => {
    const mine = [...document.querySelectorAll("body *")].filter((node) => !["SCRIPT", "LINK"].includes(node.tagName));
    const active = mine.filter((node) => [...node.attributes].some(({ name, value }) => /^on/i.test(name) || /^\s*(javascript|data:text)/i.test(value)) || ["IFRAME", "OBJECT", "EMBED", "META", "BASE", "MARQUEE"].includes(node.tagName)).map((node) => node.outerHTML.slice(0, 200));
    const shown = [...document.querySelectorAll(".maneuver, .news, .trip, .offer, .choosing, .where, .junction-name")].filter((node) => node.getClientRects().length > 0);
    return {
      active,
      wide: document.documentElement.scrollWidth,
      boxes: shown.map((node) => {
        const { left, top, right, bottom } = node.getBoundingClientRect();
        return { what: node.className, left, top, right, bottom };
      }),
      texts: Math.max(0, ...[...document.querySelectorAll(".maneuver, .news")].map((node) => node.textContent.length)),
    };
  });

const size = { width: 1000, height: 750 };

async function expectHarmless(page: Page, what: string): Promise<void> {
  const { active, wide, boxes, texts } = await lookAt(page);
  expect(active, what).toEqual([]);
  expect(wide, what).toBeLessThanOrEqual(size.width);
  expect(texts, what).toBeLessThan(500);
  for (const { what: panelName, left, top, right, bottom } of boxes) {
    if (panelName.includes("junction-name")) {
      expect(right - left, `a name on the map: ${what}`).toBeLessThan(size.width / 2); // its place may lie outside of the window
      continue;
    }
    expect(left >= -1 && top >= -1 && right <= size.width + 1 && bottom <= size.height + 1, `${panelName} at ${[left, top, right, bottom].map(Math.round).join(" ")}: ${what}`).toBe(true);
    if (panelName.includes("maneuver")) expect(bottom - top, what).toBeLessThan(340);
  }
}

declare global {
  interface Window {
    pwnedBy: string[];
  }
}

async function openHostile(hostile: Hostile): Promise<{ car: Car; dialogs: string[] }> {
  const car = await openCar(null, { place: null, sensor: true, stopped: true, map: "blank", locale: "en-IE", viewport: size });
  const dialogs: string[] = [];
  car.page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await car.page.addInitScript(() => {
    window.pwnedBy = [];
    Object.assign(window, { pwned: () => window.pwnedBy.push(location.href) });
  });
  await car.page.route(/\/v2\/(navigation\/route|navigation\/sessions$|geocode)/, (route) => answerHostile(route, hostile));
  return { car, dialogs };
}

test("hostile names are texts in results, choices, maneuvers and news, and fit", async () => {
  expect(payloads.length).toBeGreaterThanOrEqual(60);
  const hostile = new Hostile();
  const { car, dialogs } = await openHostile(hostile);
  const { page } = car;
  await page.goto("/");
  await car.sendFix({ ...town, speed: 0 });

  // Each search has as many payloads as it has results; a choice of ways has many.
  for (; hostile.first < payloads.length; hostile.first += 9) {
    const what = `from payload ${String(hostile.first)}`;
    await page.locator("#where-to").click();
    await page.fill("#where-to-field", `street ${String(hostile.first)}`);
    await until(page, "there are results", async () => (await page.locator(".where .result").count()) > 0);
    await expectHarmless(page, `results ${what}`);
    await page.locator(".where .result").first().click();
    await until(page, "there are ways", async () => (await page.locator(".way").count()) > 0);
    await expectHarmless(page, `ways ${what}`);
    if (hostile.first + 9 < payloads.length) await page.locator("#nav-choice-close").click();
  }

  // While led, each stream of events brings a route with the next payloads, because of a closure with such a street.
  const [told, reasons] = [new Set<string>(), new Set<string>()];
  let route = "";
  let current = 0; // payload of the event that each stream brings, as often as the page opens one
  let streams = 0; // that brought it
  let lookedUpAt = Infinity; // streams when the page had read the closure of the current one
  await page.route("**/v2/navigation/sessions", async (asked) => {
    const answer = await asked.fetch();
    const opened = (await answer.json()) as { route: unknown };
    route = JSON.stringify(opened.route);
    await asked.fulfill({ response: answer, body: JSON.stringify(opened) });
  });
  await page.route("**/v2/navigation/sessions/*/events", async (asked) => {
    hostile.first = current;
    const event = hostile.json({ route: JSON.parse(route) as unknown, reason: "closed", entity_ids: [`hostile:${String(current)}`], at: new Date().toISOString() });
    streams++;
    await asked.fulfill({ contentType: "text/event-stream", body: `event: reroute\ndata: ${event}\n\n` });
  });
  await page.route("**/v2/entities/hostile*", async (asked) => {
    const number = Number(/(\d+)$/.exec(decodeURIComponent(asked.request().url()))?.[1]);
    const street = payloads[number];
    await asked.fulfill({ json: { entity: { id: "hostile:1", layer_slug: street, kind_id: "alert.road_closed", geom: { type: "Point", coordinates: [5, 52] }, geom_line: null, properties: { street } } } });
    if (number === current) lookedUpAt = Math.min(lookedUpAt, streams);
  });
  await page.locator("#nav-start").click();
  await until(page, "the page leads", async () => (await panel(page)).figure !== "");
  for (; current < payloads.length; current++) {
    [streams, lookedUpAt] = [0, Infinity];
    await eventually("another route is led", async () => {
      await page.clock.fastForward(1500); // the page waits before it reads the events again
      return streams > lookedUpAt && (await panel(page)).news !== ""; // the page opens the next stream after it has shown what it read
    });
    const { name, news } = await panel(page);
    told.add(name);
    reasons.add(news);
    if (current === payloads.length - 1) await car.screenshot("navigation-hostile");
    await expectHarmless(page, `led: ${(payloads[current] ?? "").slice(0, 30)}`);
  }
  expect(told.size, "different maneuvers").toBeGreaterThan(0.9 * payloads.length);
  expect(reasons.size, "different news").toBeGreaterThan(0.9 * payloads.length);
  expect(await page.evaluate(() => window.pwnedBy)).toEqual([]);
  expect(dialogs).toEqual([]);
});
