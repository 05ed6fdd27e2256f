import { afterAll, beforeAll, expect, test } from "vitest";
import type { Frame, Locator } from "playwright-core";
import type { Context } from "../overlay/src/apps/host.ts";
import { installed, openAppsService, type AppsService } from "./appsservice.ts";
import { floods, hostile, large, listening, nested, page } from "./appserver.ts";
import { eventually, stopClock, type Car } from "./harness.ts";
import { pass } from "./leddrive.ts";
import { checkLayout, phoneTouch, violations } from "./pagechecks.ts";
import { desktop } from "./testconsole.ts";

// Apps beside the map, in a browser with real sites: the service at 127.0.0.1, apps at localhost, and a third site by a name that only
// the browser resolves. All tests share one service, one server of apps, and one driver's page.

let apps: AppsService;
let car: Car;

interface Heard {
  at: number;
  origin: string;
  data: Context;
}

const schema = [
  { key: "token", label: "Token", type: "text", secret: true, required: true, max_length: 20 },
  { key: "plug", label: "Plug", type: "select", options: ["CCS", "Type 2"], default: "CCS" },
  { key: "power", label: "Power", type: "number", min: 0, max: 350, step: 50 },
  { key: "free", label: "Free", type: "boolean" },
  { key: "note", label: "Note", type: "text" },
];

beforeAll(async () => {
  apps = await openAppsService();
  for (const [name, more] of Object.entries({ Trip: { kinds: ["notifications"] }, Charging: { config_schema: schema }, Broken: {}, Never: {}, Moves: {}, Refuses: {}, Hostile: {}, Nested: {}, Flood: {}, Large: {}, Other: { widget_url: `${apps.server.other}/other` }, Spare: { config_schema: schema } })) await apps.submit(name, more);
  const { answers, third } = apps.server;
  answers.set("/broken", (response) => response.writeHead(500).end("broken"));
  answers.set("/never", () => undefined);
  answers.set("/moves", (response) => response.writeHead(302, { Location: `${third}/moved` }).end());
  answers.set("/moved", page(listening));
  answers.set("/refuses", page(listening, { "X-Frame-Options": "DENY" }));
  answers.set("/hostile", page(hostile));
  answers.set("/nested", page(nested(`${third}/within`)));
  answers.set("/within", page(`${listening} setInterval(() => { parent.postMessage({ type: "ready" }, "*"); top.postMessage({ type: "ready" }, "*"); }, 100);`));
  answers.set("/flood", page(floods));
  answers.set("/large", page(large));
  car = await apps.signIn("driver@example.org", { place: { lat: 52, lng: 5 }, map: "blank", stopped: "later" });
  for (const name of ["Trip", "Broken", "Never", "Moves", "Refuses", "Hostile", "Nested", "Flood", "Large", "Other"]) await apps.install(car, name, {});
  await apps.install(car, "Charging", { token: "s3cret", plug: "Type 2", free: false });
  await car.page.goto("/");
  await tab("Trip").waitFor();
});

afterAll(async () => {
  await car.context.close();
  await apps.end();
});

const tab = (name: string): Locator => car.page.getByRole("tab", { name, exact: true });
const panel = (name: string): Locator => car.page.locator(`[role="tabpanel"][aria-label="${name}"]`);

/** frameOf waits for the page in an app's frame. */
function frameOf(name: string): Promise<Frame> {
  const path = name.startsWith("/") ? name : `/${name.toLowerCase()}`;
  return eventually(`the frame of ${name}`, () => Promise.resolve(car.page.frames().find((frame) => frame.url().includes(path))));
}

async function show(name: string): Promise<Frame> {
  const shown = tab(name);
  if ((await shown.getAttribute("aria-selected")) !== "true") await shown.click();
  return frameOf(name);
}

/** lookCount is how often the page read what is installed. */
const lookCount = (): number => car.requests.filter((url) => url.endsWith("/v2/account/apps")).length;

/** heard returns what the host has said to a page that listens. */
const heard = (frame: Frame): Promise<Heard[]> => frame.evaluate(() => (window as unknown as { log?: Heard[] }).log ?? []);

/** press opens a page of the menu, presses buttons of it by id, and closes the menu. */
async function press(name: string, ...buttons: string[]): Promise<void> {
  await car.page.locator(".menu-button").click();
  await car.page.locator(`#menu-${name}`).click();
  for (const button of buttons) await car.page.locator(`#${button}`).click();
  await car.page.locator("#menu header button").last().click();
}

test("a frame has exactly these attributes, no referrer and no features", async () => {
  const frame = await show("Trip");
  const attributes = await panel("Trip").locator("iframe").evaluate((made) => Object.fromEntries(made.getAttributeNames().map((name) => [name, made.getAttribute(name)])));
  expect(attributes).toEqual({
    title: "Trip",
    sandbox: "allow-scripts allow-same-origin allow-forms",
    allow: "",
    referrerpolicy: "no-referrer",
    loading: "eager",
    src: `${apps.server.origin}/trip`,
  });
  expect(await frame.evaluate(() => document.referrer)).toBe("");
  const features = await frame.evaluate(() => (document as unknown as { featurePolicy: { allowedFeatures(): string[] } }).featurePolicy.allowedFeatures());
  expect(features.sort()).toEqual([]);
  const policy = (await car.context.request.get(`${apps.address}/`)).headers()["content-security-policy"] ?? "";
  expect(policy).toContain(`frame-src ${[apps.server.origin, apps.server.other].sort().join(" ")};`);
  expect(policy).toContain("frame-ancestors 'none'");
  const [context] = (await heard(frame)).map(({ data }) => data);
  expect(context?.slot).toBe("notifications");
});

test("a context has exactly the keys of D16.8, blanks are missing, and secrets are whole", async () => {
  const frame = await show("Charging");
  const [first] = await eventually("a context", async () => (await heard(frame)).length > 0 && heard(frame));
  expect(first?.origin).toBe(apps.address);
  expect(Object.keys(first?.data ?? {}).sort()).toEqual(["config", "device", "size", "slot", "theme", "type", "uiSize", "units"]);
  expect(first?.data).toMatchObject({ type: "context", slot: "widget", uiSize: 5, units: "metric", device: { kind: "desktop", input: "pointer" } });
  expect(first?.data.config).toEqual({ token: "s3cret", plug: "Type 2", free: false });
  const { width, height } = (await panel("Charging").locator("iframe").boundingBox()) ?? { width: 0, height: 0 };
  expect(first?.data.size).toEqual({ width: Math.round(width), height: Math.round(height) });
});

test("theme, units and density reach every frame, hidden ones too", async () => {
  const [frame, hidden] = [await show("Charging"), await frameOf("Trip")];
  await press("display", "theme-day", "theme-night", "units-imperial", "density-more");
  const changed = await eventually("the look", async () => {
    const all = await heard(frame);
    const last = all[all.length - 1]?.data;
    return last?.units === "imperial" && last.uiSize === 6 ? all : null;
  });
  const themes = changed.map(({ data }) => data.theme);
  expect(themes).toContain("day");
  expect(themes[themes.length - 1]).toBe("night");
  const behind = await heard(hidden);
  expect(behind[behind.length - 1]?.data).toMatchObject({ theme: "night", units: "imperial", uiSize: 6 });
  await press("display", "units-metric", "density-less");
});

test("each ready gets an answer, ten in any second", async () => {
  const frame = await show("Charging");
  const before = (await heard(frame)).length;
  await frame.evaluate(() => {
    for (let i = 0; i < 25; i++) parent.postMessage({ type: "ready" }, "*");
    for (const other of ["ready", null, { type: "context" }]) parent.postMessage(other, "*");
  });
  const all = await eventually("25 answers", async () => (await heard(frame)).length >= before + 25 && heard(frame));
  const times = all.slice(before).map(({ at }) => at);
  expect(times).toHaveLength(25);
  expect((times[24] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1900);
});

test("a change of the slot's size reaches the app within 250 ms", async () => {
  const frame = await show("Charging");
  await eventually("a context", async () => (await heard(frame)).length > 1);
  await frame.evaluate(() => {
    const sizedAt: Record<number, number> = {};
    Object.assign(window, { sizedAt });
    addEventListener("message", ({ data }) => {
      sizedAt[(data as Context).size.width] = Date.now();
    });
  });
  let width = 333;
  await eventually("a size that arrives in time", async () => {
    width = width === 333 ? 323 : 333;
    const resized = await car.page.evaluate((stage) => {
      document.body.style.setProperty("--stage", `${String(stage)}px`);
      return Date.now();
    }, width + 4); // borders included
    const sized = await eventually("the size", async () => {
      const at = await frame.evaluate((width) => (window as unknown as { sizedAt: Record<number, number> }).sizedAt[width], width);
      return at !== undefined && at >= resized && at;
    });
    return sized - resized < 250; // a busy machine needs more than the page takes, but not each time
  });
  await car.page.evaluate(() => document.body.style.removeProperty("--stage"));
});

test("a hidden frame keeps its state", async () => {
  const frame = await show("Charging");
  await frame.evaluate(() => Object.assign(window, { mark: 7 }));
  await show("Trip");
  await panel("Charging").waitFor({ state: "hidden" });
  await tab("Trip").click(); // folds the slot
  await eventually("the slot is folded", async () => (await car.page.locator(".stage").isHidden()) && (await tab("Trip").getAttribute("aria-selected")) === "false");
  await show("Charging");
  expect(await frame.evaluate(() => (window as unknown as { mark: number }).mark)).toBe(7);
});

test("a drive of ten minutes says nothing to an app", async () => {
  const frame = await show("Charging");
  const standing = await eventually("the size of the slot", async () => {
    const all = await heard(frame);
    const { width, height } = (await panel("Charging").locator("iframe").boundingBox()) ?? { width: NaN, height: NaN };
    const last = all[all.length - 1]?.data.size;
    return last?.width === Math.round(width) && last.height === Math.round(height) && all;
  });
  for (let fix = 0; fix < 60; fix++) await car.moveTo({ lat: 52 + fix * 0.0009, lng: 5 });
  await eventually("the car has moved", () => Promise.resolve(car.requests.some((url) => /[?&]lat=52\.0[345]/.test(url))));
  await car.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
  expect(await heard(frame)).toEqual(standing);
  await car.moveTo({ lat: 52, lng: 5 });
});

test("hostile pages get nowhere, and the map goes on", async () => {
  const dialogs: string[] = [];
  car.page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  car.page.on("download", (download) => dialogs.push(download.url()));
  const frame = await show("Hostile");
  const found = await eventually("the page has tried all", () => frame.evaluate(() => (window as unknown as { found: Record<string, unknown>; done?: boolean }).done === true && (window as unknown as { found: Record<string, unknown> }).found));
  expect(found).toMatchObject({ popup: "null", top: "SecurityError", position: 1, reads: "SecurityError", storage: "SecurityError", frameElement: "null" });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(dialogs).toEqual([]);
  expect(car.context.pages()).toHaveLength(1);
  expect(new URL(car.page.url()).origin).toBe(apps.address);
  const within = await show("Nested").then(() => frameOf("within"));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await heard(within)).toEqual([]);
  const outer = (await heard(await frameOf("/nested"))).filter(({ origin }) => origin === apps.address);
  expect(outer.length, "answers to ready of the nested frame").toBeLessThanOrEqual(2);
});

test("what does not load shows a card after ten seconds, what loads and is silent sooner, and both can be tried again", async () => {
  await car.page.evaluate(() => {
    const loaded: string[] = [];
    Object.assign(window, { loaded });
    document.addEventListener("load", ({ target }) => target instanceof HTMLIFrameElement && loaded.push(target.title), true);
  });
  await stopClock(car.page);
  const silent = ["Broken", "Refuses", "Moves"];
  for (const name of ["Never", ...silent]) await tab(name).click();
  await eventually("they are loaded", async () => {
    const loaded = await car.page.evaluate(() => (window as unknown as { loaded: string[] }).loaded);
    return silent.every((name) => loaded.includes(name));
  });
  await pass(car.page, 3100);
  await panel("Moves").locator(".app-card").waitFor();
  expect(await panel("Never").locator(".app-card").getAttribute("hidden"), "the card of what is still awaited").not.toBeNull();
  expect(apps.server.visits.filter((visit) => visit.includes("/moved"))).toEqual([]);
  await tab("Never").click();
  await pass(car.page, 7000);
  await panel("Never").getByText("Never does not load.").waitFor();
  await tab("Broken").click();
  await panel("Broken").getByText("Broken does not respond.").waitFor();
  await tab("Refuses").click();
  await panel("Refuses").getByText("Refuses does not respond.").waitFor();
  await car.page.clock.resume();
  apps.server.answers.set("/never", page(listening));
  await tab("Never").click();
  await panel("Never").getByRole("button", { name: "Try again" }).click();
  await panel("Never").locator(".app-card").waitFor({ state: "hidden" });
  await eventually("the app hears its context", async () => (await heard(await frameOf("Never"))).length > 0);
});

/** countFrames returns how many frames the page draws in two seconds. */
const countFrames = (): Promise<number> =>
  car.page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let count = 0;
        const end = performance.now() + 2000;
        const tick = (): void => {
          count++;
          if (performance.now() < end) requestAnimationFrame(tick);
          else resolve(count);
        };
        requestAnimationFrame(tick);
      }),
  );

test("an app that floods the page is stopped with a word, and the map keeps drawing", async () => {
  await show("Flood");
  await panel("Flood").getByText("Flood was stopped: it was slowing down the map.").waitFor();
  expect(await panel("Flood").locator("iframe").count()).toBe(0);
  let tries = 0;
  await eventually("the map draws on", async () => {
    const atRest = await countFrames();
    await (tries++ === 0 ? show("Large") : panel("Large").getByRole("button", { name: "Start again" }).click());
    const frames = await countFrames();
    await panel("Large").getByText("Large was stopped: it was slowing down the map.").waitFor();
    return frames > Math.min(20, atRest / 3); // a busy machine draws fewer also at rest, and each second others
  });
  await panel("Flood").waitFor({ state: "attached" });
  await tab("Flood").click();
  apps.server.answers.set("/flood", page(listening));
  await panel("Flood").getByRole("button", { name: "Start again" }).click();
  await eventually("it is heard of", async () => (await heard(await frameOf("Flood"))).length > 0);
});

test("after a frame has gone elsewhere, it hears nothing", async () => {
  const frame = await show("Trip");
  await frame.evaluate((to) => {
    location.href = to;
  }, `${apps.server.other}/elsewhere`);
  const gone = await frameOf("elsewhere"); // another app's origin, which the page's policy lets in
  await new Promise((resolve) => setTimeout(resolve, 500));
  await press("display", "theme-day", "theme-night");
  expect(await heard(gone)).toEqual([]);
  await gone.evaluate((to) => {
    location.href = to;
  }, `${apps.server.third}/nowhere`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(apps.server.visits.filter((visit) => visit.includes("nowhere"))).toEqual([]);
});

test("the menu installs by touch, names what is wrong, and uninstalls", async () => {
  await car.page.locator(".menu-button").click();
  await car.page.locator("#menu-apps").click();
  await car.page.locator(`#apps-${apps.idOf("Spare")}`).click();
  const sizes = await car.page.locator(".apps-menu button, .apps-menu input").evaluateAll((controls) => controls.map((one) => Math.min(one.getBoundingClientRect().height, one.getBoundingClientRect().width)));
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(60);
  await car.page.locator("#apps-save").click();
  await car.page.getByText("Enter a value.").waitFor();
  await car.page.locator("#field-token").fill("another");
  await car.page.locator(".number button").last().click();
  await car.page.locator("#field-free").click();
  await car.page.locator("#apps-save").click();
  await car.page.getByText("Installed.", { exact: true }).waitFor();
  expect(await car.page.locator("#field-token").inputValue()).toBe("••••");
  expect((await installed(car)).find(({ app }) => app.name === "Spare")?.config).toEqual({ token: "••••", plug: "CCS", power: 0, free: true });
  await car.page.locator("#menu header button").last().click();
  const frame = await show("Spare");
  await eventually("its config", async () => (await heard(frame))[0]?.data.config["token"] === "another");
  await car.page.locator(".menu-button").click();
  await car.page.locator("#menu-apps").click();
  await car.page.locator(`#apps-${apps.idOf("Spare")}`).click();
  await car.page.locator("#field-note").fill("now");
  await car.page.locator("#apps-save").click();
  await eventually("the new config", async () => (await heard(frame)).some(({ data }) => data.config["note"] === "now" && data.config["token"] === "another"));
  await frame.evaluate(() => Object.assign(window, { mark: 1 }));
  await car.page.locator("#apps-restart").click();
  await eventually("the page is loaded anew", async () => (await (await frameOf("Spare")).evaluate(() => (window as unknown as { mark?: number }).mark)) === undefined);
  await car.page.locator("#apps-uninstall").click();
  await car.page.locator("#apps-uninstall").click();
  await tab("Spare").waitFor({ state: "detached" });
  expect(await panel("Spare").count()).toBe(0);
  await car.page.locator("#menu header button").last().click();
});

test("a paired screen shows and hides, and no more", async () => {
  await car.page.route("**/v2/account", async (route) => {
    const { account } = (await (await route.fetch()).json()) as { account: object };
    await route.fulfill({ json: { account: { ...account, scope: "screen" } } });
  });
  await car.page.reload();
  await tab("Trip").waitFor();
  await car.page.locator(".menu-button").click();
  await car.page.locator("#menu-apps").click();
  await car.page.getByText("To install apps, sign in on your phone.").waitFor();
  const controls = car.page.locator(".apps-menu button, .apps-menu input");
  expect(new Set(await controls.evaluateAll((all) => all.map((one) => one.getAttribute("role"))))).toEqual(new Set(["switch"]));
  await car.page.getByRole("switch", { name: "Trip" }).click();
  await tab("Trip").waitFor({ state: "detached" });
  await car.page.getByRole("switch", { name: "Trip" }).click();
  await tab("Trip").waitFor();
  await car.page.locator("#menu header button").last().click();
  await car.page.unroute("**/v2/account");
});

test("a new version replaces an open frame, and a suspension takes it away, as soon as the stream says so", async () => {
  await car.page.reload(); // the page looks each minute, too, which is far away now
  await tab("Charging").waitFor();
  await car.page.locator('.notice [data-about="data"]').waitFor(); // which the stream has told
  const frame = await show("Charging");
  await frame.evaluate(() => Object.assign(window, { mark: 1 }));
  await apps.resubmit("Charging", { config_schema: schema }, "/app/second");
  const next = await frameOf("app/second");
  expect(await next.evaluate(() => (window as unknown as { mark?: number }).mark)).toBeUndefined();
  expect(await panel("Charging").locator("iframe").count()).toBe(1);
  const looks = lookCount();
  await apps.suspend("Charging");
  await tab("Charging").waitFor({ state: "detached" });
  expect(await panel("Charging").count()).toBe(0);
  expect(lookCount() - looks, "reads of what is installed").toBe(1);
});

test("an app of an origin that the page does not let in asks for a reload", async () => {
  const { page, context } = await apps.signIn("second@example.org", { place: { lat: 52, lng: 5 } });
  await page.goto("/");
  await page.locator(".menu-button").click();
  await page.locator("#menu-apps").click();
  await page.locator(`#apps-${apps.idOf("Other")}`).click();
  await page.locator("#apps-save").click();
  await page.getByText("Installed.", { exact: true }).waitFor();
  await page.locator("#menu header button").last().click();
  await page.getByText("Reload the page to show Other.").waitFor();
  expect(page.frames().filter((frame) => frame.url().includes("/other"))).toEqual([]);
  await page.getByRole("button", { name: "Reload" }).click();
  await eventually("its frame", () => Promise.resolve(page.frames().find((frame) => frame.url() === `${apps.server.other}/other`)));
  await context.close();
});

test("the pages about apps are readable on a phone and on a desk", async () => {
  await apps.propose("Spare", { config_schema: schema, changelog: "Another page.", domains: ["one.example.org", "a-very-long-name-of-a-host.another.example.org"] }, "/app/third");
  const spare = apps.idOf("Spare");
  const visits: [Car, string[]][] = [
    [car, ["/apps", "/apps/charging", `/account/apps/${spare}`, "/account"]],
    [apps.developer, ["/apps/new", "/apps/own", `/apps/own/${spare}`]],
    [apps.curator, ["/review", `/apps/review/${spare}`]],
  ];
  for (const [{ page }, paths] of visits) {
    for (const path of paths) {
      await page.goto(path);
      for (const [size, viewport] of [["phone", { width: 360, height: 740 }], ["desk", desktop]] as const) {
        await page.setViewportSize(viewport);
        await checkLayout(page, `${path}, ${size}`, phoneTouch);
      }
      expect(await violations(page), path).toEqual([]);
    }
  }
});

test("a page without apps loads nothing of them", async () => {
  const guest = await apps.visit("/", { place: { lat: 52, lng: 5 } });
  await guest.page.locator("#where-to").waitFor();
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(guest.requests.filter((url) => /apps|menupages/.test(url))).toEqual([]);
  expect(await guest.page.locator(".slot").count()).toBe(0);
  await guest.page.locator(".menu-button").click();
  await guest.page.locator("#menu-apps").click();
  await guest.page.getByText("Sign in to install apps beside the map.").waitFor();
});
