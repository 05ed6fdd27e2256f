// Texts of providers are never executed and never lead to other sites; requests forged by other sites are refused.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestConsole, type TestConsole } from "./testconsole.ts";
import { eventually, type Car } from "./harness.ts";

let testConsole: TestConsole;

beforeAll(async () => {
  testConsole = await openTestConsole({ more: "[apps]\nenabled = true" });
});

afterAll(() => testConsole.end());

const plain = [
  ...["<script>alert(1)</script>", '"><script>alert(1)</script>', "'><img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "</textarea><b>x", "</title><script>alert(1)</script>"],
  ...["javascript:alert(1)", '" onfocus="alert(1)" autofocus="', "' onmouseover='alert(1)", "`onclick=alert(1)`", "<iframe src=//evil.example>", "<a href=javascript:alert(1)>x</a>"],
  ...["{{.Data}}", "${alert(1)}", "</bdi></code></table><h1>", "<!--", "-->", "]]>", "<![CDATA[<b>]]>", "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;img src=x onerror=alert(1)&#62;"],
  ...['<math><mi//xlink:href="data:x,<script>alert(1)</script>">', "<style>*{display:none}</style>", "<base href=//evil.example>", "<meta http-equiv=refresh content=0;url=//evil.example>"],
  ...["<form action=//evil.example><button>", "<input autofocus onfocus=alert(1)>", "<body onload=alert(1)>", "<object data=//evil.example>", "<link rel=stylesheet href=//evil.example/x.css>"],
];
// The same between characters that change direction, join, or are invisible.
const payloads = [...plain, ...plain.map((text) => `x\u00a0${text.toUpperCase()}\u200d\u0301 אב \u2066`)];

/** recordEffects records dialogs, popups and downloads. */
function recordEffects(visitor: Car): string[] {
  const seen: string[] = [];
  visitor.page.on("dialog", (dialog) => {
    seen.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  visitor.page.on("popup", () => seen.push("popup"));
  visitor.page.on("download", () => seen.push("download"));
  return seen;
}

/** elements returns the elements that a text must not have become. */
const elements = ({ page }: Car): Promise<string> =>
  page.evaluate(() => {
    const strange = [...document.querySelectorAll("main :is(iframe, object, embed, style, base, meta, link, math, svg, script), main [onerror], main [onload], main [onfocus], main [onclick], main [onmouseover], main [autofocus]")];
    const away = [...document.querySelectorAll<HTMLAnchorElement>("a[href]")].filter(({ href }) => !href.startsWith(location.origin));
    return [...strange, ...away].map(({ outerHTML }) => outerHTML.slice(0, 120)).join("\n");
  });

test("sixty hostile texts in every field stay text", async () => {
  expect(payloads).toHaveLength(60);
  const owner = await testConsole.signInAs("hostile@example.org", { map: "blank" });
  const { page } = owner;
  const seen = recordEffects(owner);
  const taken: string[] = [];
  const refused: string[] = [];
  let last = "";
  for (const text of payloads) {
    const data = { direction: "push", name: text.slice(0, 100), description: text, attribution: text, licence: text.slice(0, 200), visibility: "public" };
    const answer = await page.request.post("/v2/feeds", { data });
    if (answer.status() === 201) {
      taken.push(text);
      const registered = (await answer.json()) as { feed: { id: string }; push_ingest_token: string };
      last = registered.feed.id;
      const rows = payloads.map((other, i) => ({ external_id: `${String(i)} ${other}`, kind: "camera.speed", lat: 52 + i / 1000, lng: 5, properties: { street: other, [other]: other, nested: { [other]: [other] } } }));
      const badTexts = { external_id: text, kind: text, lat: 52, lng: 5, properties: {} };
      if (taken.length === 1) expect((await page.request.post(`/v2/feeds/${registered.push_ingest_token}/entities`, { data: [...rows, badTexts] })).status()).toBe(200);
    } else {
      expect(answer.status()).toBe(422);
      refused.push(text);
    }
  }
  expect(taken.length).toBeGreaterThanOrEqual(30);
  // Texts with invisible or direction characters are rejected as names.
  for (const text of refused) expect(text).toMatch(/[\u200d\u2066]/);

  const feeds = (await (await page.request.get("/v2/feeds")).json()) as { feeds: { id: string; name: string }[] };
  const [first] = feeds.feeds.filter(({ name }) => name === taken[0]);
  const curator = await testConsole.signInAs("curator@example.org", { role: "curator" });
  const alsoSeen = recordEffects(curator);
  const look = async (visitor: Car, path: string, texts: readonly string[]): Promise<void> => {
    await visitor.page.goto(path);
    expect(await elements(visitor), path).toBe("");
    const shown = (await visitor.page.locator("main").evaluate((node) => node.textContent)).replace(/\s+/g, " ");
    for (const text of texts) expect(shown, path).toContain(text.slice(0, 100).replace(/\s+/g, " ").trim());
  };
  await look(owner, "/feeds", taken);
  await look(curator, "/review", taken);
  for (const path of ["", "/list", "/edit", "/rotate", "/pause", "/delete"]) await look(owner, `/feeds/${first?.id ?? ""}${path}`, path === "/edit" ? [] : [taken[0] ?? ""]);
  await look(curator, `/review/${first?.id ?? ""}`, [taken[0] ?? ""]);
  await look(owner, `/feeds/${last}`, []);
  testConsole.cli("feed", "approve", first?.id ?? "");
  await eventually("the source is listed", async () => {
    await page.goto("/sources");
    return (await page.locator("main").innerText()).includes(taken[0] ?? "");
  });
  await look(owner, "/sources", [taken[0] ?? ""]);

  // Each card of the map.
  await page.goto(`/feeds/${first?.id ?? ""}`);
  const next = page.getByRole("button", { name: "Next" });
  await next.waitFor();
  // Clicked within the page: Playwright's own click looks at the map's frames before each.
  const texts = await next.evaluate((button: HTMLElement, count) => {
    return Array.from({ length: count }, () => {
      button.click();
      return document.querySelector(".map-card")?.textContent ?? "";
    });
  }, payloads.length);
  const cards = texts.map((text) => text.replace(/\s+/g, " "));
  for (const text of payloads) expect(cards.filter((card) => card.includes(text.replace(/\s+/g, " ").trim())).length, text).toBeGreaterThan(0);
  expect(await elements(owner)).toBe("");
  await owner.screenshot("console-hostile");

  // Form fields that are sent back to the page.
  for (const text of payloads.slice(0, 30)) {
    const answer = await page.request.post("/feeds/new", { form: { direction: text, name: text, description: text, visibility: text, pull_url: text, pull_auth_header: text, pull_interval_seconds: text, spec_url: text, layer_name: text, licence: text } });
    expect(answer.status()).toBe(422);
    await page.route("**/feeds/new?again", async (route) => route.fulfill({ status: 200, contentType: "text/html; charset=utf-8", headers: answer.headers(), body: await answer.text() }));
    await page.goto("/feeds/new?again");
    expect(await elements(owner), text).toBe("");
    await page.unroute("**/feeds/new?again");
  }
  expect([...seen, ...alsoSeen]).toEqual([]);
});

/** appOf is a submission with one text in every field, and twelve in its settings, where as many fit. */
function appOf(text: string, feed: string, more: readonly string[]): Record<string, unknown> {
  const short = (one: string): string => one.slice(0, 60);
  return {
    name: short(text), summary: text.slice(0, 140), description: more.join("\n"), kinds: ["pins"], feed_ids: [feed], website_url: "https://example.org/", changelog: text,
    cost: { model: "free", note: text.slice(0, 200) },
    config_schema: [
      { key: "choice", label: short(text), type: "select", help: text.slice(0, 200), options: [...new Set(more.map((one) => short(one).trim()))], default: short(text).trim() },
      ...more.slice(1).map((one, i) => ({ key: `text_${String(i)}`, label: short(one), type: "text", help: one.slice(0, 200), default: one })),
    ],
  };
}

test("sixty hostile texts in every field of apps stay text", async () => {
  const owners: Car[] = []; // ten apps of an account wait at most
  while (owners.length * 10 < payloads.length) owners.push(await testConsole.signInAs(`apps${String(owners.length)}@example.org`));
  const curator = await testConsole.signInAs("apps-curator@example.org", { role: "curator" });
  const seen = [...owners, curator].map(recordEffects);
  const taken: { id: string; slug: string; texts: string[]; owner: Car }[] = [];
  const published = payloads.filter((text) => !/[\u200d\u2066]/.test(text));
  for (const [i, owner] of owners.entries()) {
    const answer = await owner.page.request.post("/v2/feeds", { data: { direction: "push", name: "Feed", visibility: "public" } });
    const { feed } = (await answer.json()) as { feed: { id: string } };
    testConsole.cli("feed", "approve", feed.id);
    for (const text of payloads.filter((_, at) => at % owners.length === i)) {
      const at = Math.max(0, published.indexOf(text));
      const texts = [text, ...Array.from({ length: 11 }, (_, next) => published[(at + next + 1) % published.length] ?? "")];
      const submitted = await owner.page.request.post("/v2/apps", { data: appOf(text, feed.id, texts) });
      expect(submitted.status(), await submitted.text()).toBe(published.includes(text) ? 201 : 422);
      if (submitted.status() !== 201) continue;
      const { app } = (await submitted.json()) as { app: { id: string; slug: string } };
      taken.push({ ...app, texts, owner });
    }
  }
  const look = async (visitor: Car, path: string, texts: readonly string[]): Promise<void> => {
    await visitor.page.goto(path);
    const found = (await elements(visitor)).split("\n").filter((one) => !one.startsWith('<a href="https://example.org/" target="_blank" rel="nofollow noopener noreferrer">'));
    expect(found.join("\n"), path).toBe("");
    const shown = (await visitor.page.locator("main").evaluate((node) => node.textContent)).replace(/\s+/g, " ");
    for (const text of texts) expect(shown, path).toContain(text.slice(0, 60).replace(/\s+/g, " ").trim());
  };
  const all = taken.map(({ texts: [text = ""] }) => text);
  await look(curator, "/review", all);
  // Every fourth has all of the texts in its settings, and a page of each kind shows each of its other fields.
  for (const [i, { id, texts, slug, owner }] of taken.entries()) {
    if (i % 4 === 0) await look(curator, `/apps/review/${id}`, texts);
    expect((await curator.page.request.post(`/v2/apps/${id}/versions/1/approve`)).status()).toBe(200);
    if (i % 4 !== 0) continue;
    await look(curator, `/apps/${slug}`, texts);
    await look(curator, `/account/apps/${id}`, texts);
    await look(owner, `/apps/own/${id}`, texts.slice(0, 1));
    const answer = await curator.page.request.put(`/v2/account/apps/${id}`, { data: { config: { text_0: texts[0], text_1: texts[1] } } });
    expect(answer.status()).toBe(200);
    await look(curator, `/account/apps/${id}`, texts);
  }
  await look(curator, "/apps", all);
  await look(curator, "/account", []);

  // Forms that are sent back to the page.
  const [{ owner, id }] = taken as [(typeof taken)[0]];
  const fields = ["name", "summary", "description", "widget_url", "domains", "config_schema", "cost_model", "cost_note", "website_url", "privacy_url", "changelog", "report"];
  for (let i = 0; i < plain.length; i += 4) {
    const text = plain.slice(i, i + 4).join(" ");
    const form = { ...Object.fromEntries(fields.map((field, at) => [field, plain[(i + at) % plain.length] ?? ""])), kinds: "widget" };
    for (const [visitor, path, values] of [[owner, "/apps/new", form], [curator, `/account/apps/${id}`, { "config.choice": text + text, "config.text_0": text.repeat(99) }]] as const) {
      const answer = await visitor.page.request.post(path, { form: values });
      expect(answer.status()).toBe(422);
      await visitor.page.route(`**${path}?again`, async (route) => route.fulfill({ status: 200, contentType: "text/html; charset=utf-8", headers: answer.headers(), body: await answer.text() }));
      await look(visitor, `${path}?again`, []);
      await visitor.page.unroute(`**${path}?again`);
    }
  }
  expect(seen.flat()).toEqual([]);
});

test("other sites' pages send no form and read nothing", async () => {
  const owner = await testConsole.signInAs("victim@example.org");
  const made = await owner.page.request.post("/v2/feeds", { data: { direction: "push", name: "Mine", visibility: "private" } });
  const { feed } = (await made.json()) as { feed: { id: string } };
  const targets = [`/feeds/${feed.id}/delete`, `/feeds/${feed.id}/pause`, `/feeds/${feed.id}/rotate`, `/feeds/${feed.id}/edit`, "/feeds/new", "/check", "/account/delete", "/account/end-others", "/account/tokens", "/account/public-name", "/apps/new", "/sign-out", "/language", "/pair", "/sign-in", "/auth/verify"];
  const page = (path: string): string =>
    `<!doctype html><form id="f" method="post" action="${testConsole.address}${path}"><input name="email" value="victim@example.org"><input name="name" value="x"><input name="token" value="x"><input name="code" value="x"></form><script>f.submit()</script>`;
  const other: Server = createServer((request, answer) => {
    answer.writeHead(200, { "Content-Type": "text/html" }).end(page((request.url ?? "").slice(1)));
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const otherAddress = `http://127.0.0.1:${String((other.address() as AddressInfo).port)}`;
  try {
    for (const target of targets) {
      const [refused] = await Promise.all([
        owner.page.waitForResponse((answer) => answer.request().method() === "POST"),
        owner.page.goto(`${otherAddress}/${target}`).catch(() => null), // the form may navigate before the page has loaded
      ]);
      expect(refused.status(), target).toBe(403);
      await owner.page.waitForLoadState();
    }
  } finally {
    other.close();
  }
  owner.errors.splice(0); // each 403
  owner.requests.splice(0); // the other site
  await owner.page.goto("/feeds");
  expect(await owner.page.locator("main").innerText()).toContain("Mine");
});
