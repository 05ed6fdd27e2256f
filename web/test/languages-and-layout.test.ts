import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { en } from "../overlay/src/i18n/en.ts";
import type { Key, Texts } from "../overlay/src/i18n/en.ts";
import { loadTexts } from "../overlay/src/i18n/words.ts";
import { languages, type Language } from "../overlay/src/settings/settings.ts";
import { placeOf } from "../overlay/src/pins/shapes.ts";
import { check, checkLayout, phoneTouch } from "./pagechecks.ts";
import { driveUntil, openDemoDrive } from "./demodrive.ts";
import { countPixels, eventually, openCar, screens, type Car, type CarOptions, type Colour } from "./harness.ts";
import { pass } from "./leddrive.ts";
import { openPhone, phoneScreen, signIn } from "./phonesignin.ts";
import { findOne } from "./serviceclient.ts";
import { findChromium, flags } from "./globalsetup.ts";

const windows = { ...screens, phone: phoneScreen };

/** click also works on an element below a panel. */
const click = (page: Page, what: string): Promise<void> =>
  page.locator(what).first().evaluate((node) => {
    (node as HTMLElement).click();
  });

/** readTexts runs in the page and returns all visible and accessible texts, and the controls without a name. */
function readTexts(): { texts: string[]; nameless: string[] } {
  const texts: string[] = [];
  const nameless: string[] = [];
  const isShown = (node: Element): boolean => node.getClientRects().length > 0 && getComputedStyle(node).visibility === "visible";
  for (const node of document.querySelectorAll("#panels *")) {
    if (!isShown(node)) continue;
    for (const child of node.childNodes) if (child.nodeType === Node.TEXT_NODE) texts.push(child.textContent?.trim() ?? "");
    for (const name of ["aria-label", "alt", "placeholder", "title"]) texts.push(node.getAttribute(name) ?? "");
    if (!(node instanceof HTMLButtonElement || node instanceof HTMLAnchorElement || node instanceof HTMLInputElement)) continue;
    if ((node.getAttribute("aria-label") ?? node.textContent).trim() === "") nameless.push(node.outerHTML.slice(0, 120));
  }
  return { texts: [...new Set(texts.filter((text) => text !== ""))], nameless };
}

const keys = Object.keys(en) as Key[];

/** badTexts returns texts that must not appear: keys, unfilled placeholders, and English where there is a translation. */
function badTexts(read: readonly string[], texts: Texts): string[] {
  const own = new Set<string>(Object.values(texts));
  const english = new Set<string>(keys.filter((key) => texts[key] !== en[key]).map((key) => en[key]));
  return read.filter((text) => /^[a-z]+(\.\w+)+$/.test(text) || /[{}]|undefined|null|NaN|\[object/.test(text) || (english.has(text) && !own.has(text)));
}

/** checkTexts checks that a page is completely translated and that its layout is readable. */
async function checkTexts(page: Page, language: Language, what: string): Promise<void> {
  const { texts: read, nameless } = await page.evaluate(readTexts);
  expect(read.length, what).toBeGreaterThan(5);
  expect(badTexts(read, await loadTexts(language)), `${language}: ${what}`).toEqual([]);
  expect(nameless, `${language}: ${what}`).toEqual([]);
  await checkLayout(page, `${language}: ${what}`);
}

/** chooseLanguage chooses a language in the open menu. */
async function chooseLanguage(page: Page, language: Language): Promise<void> {
  await click(page, "#menu-display");
  await click(page, `#language-${language}`);
  const title = (await loadTexts(language))["menu.display"];
  await eventually(language, async () => (await page.locator("#menu-title").textContent()) === title);
  expect(await page.evaluate(() => document.documentElement.lang)).toBe(language);
  await click(page, ".menu header button");
}

/** openAtBanner opens the page right before a camera, with a stopped clock. */
async function openAtBanner(options: CarOptions): Promise<Car> {
  const { lat, lng } = placeOf(await findOne("camera.speed"));
  const car = await openCar("/", { sensor: true, stopped: true, map: "blank", ...options });
  await eventually("a banner", async () => {
    await car.page.clock.fastForward(20);
    await car.sendFix({ lat: lat - 0.0011, lng, heading: 0, speed: 14 });
    return car.page.locator(".banner").isVisible();
  });
  return car;
}

const menuPages = ["account", "kinds", "sources", "networks", "display", "sound", "credits"];
const menuBack = ".menu header button";
const menuClose = ".menu header button:last-child";

test.each(Object.entries(windows))("all languages fit the window, and are changed without a reload (%s)", async (_, viewport) => {
  const car = await openAtBanner({ viewport, choices: { language: "en" } });
  const { page } = car;
  if (!(await page.locator(".list").isVisible())) await click(page, ".controls [aria-expanded]");
  for (const language of languages) {
    await click(page, ".menu-button");
    await chooseLanguage(page, language);
    await checkTexts(page, language, "menu");
    for (const name of menuPages) {
      await click(page, `#menu-${name}`);
      await checkTexts(page, language, name);
      await click(page, menuBack);
    }
    await click(page, menuClose);
    await checkTexts(page, language, "banner and list");
    await click(page, ".line");
    await page.locator(".card").waitFor();
    await checkTexts(page, language, "card");
    await click(page, ".card header button");
  }
  expect(car.requests.filter((url) => url.endsWith("/"))).toHaveLength(1);
});

test("what is said of a missing place, and the pairing, fit in every language", async () => {
  const car = await openCar("/", { place: null, map: "blank", choices: { language: "en", theme: "day" }, stopped: true });
  const { page } = car;
  await eventually("the page asks for a place", async () => {
    await page.clock.fastForward(100);
    return page.locator('.notice [data-about="place"]').isVisible();
  });
  for (const name of Object.keys(windows) as (keyof typeof windows)[]) {
    await page.setViewportSize(windows[name]);
    for (const language of languages) {
      await click(page, ".menu-button");
      await chooseLanguage(page, language);
      await click(page, menuClose);
      await checkTexts(page, language, `no place, ${name}`);
    }
  }
  await click(page, ".menu-button");
  await click(page, "#menu-account");
  await click(page, "#account-do");
  await page.locator(".pairing .code").waitFor();
  expect(car.errors.splice(0), "that nobody is signed in, which is asked first").toHaveLength(1);
  await check(page, "pairing");
  await click(page, menuBack);
  for (const language of languages) {
    await chooseLanguage(page, language);
    for (const [name, viewport] of Object.entries({ ...windows, laid: { width: phoneScreen.height, height: phoneScreen.width } })) {
      await page.setViewportSize(viewport);
      await checkTexts(page, language, `pairing, ${name}`);
      expect(await page.locator(".pairing").evaluate((box) => box.scrollWidth - box.clientWidth), `${language}, ${name}: cut off`).toBeLessThanOrEqual(0);
      if (language !== "de") continue;
      await pass(page, 100, 50);
      await car.screenshot(`pairing-${name}`);
    }
  }
});

const land: Record<"day" | "night", Colour> = { day: [0xec, 0xea, 0xe4], night: [0x11, 0x16, 0x1c] };
const panel: Record<"day" | "night", Colour> = { day: [0xff, 0xff, 0xff], night: [0x1c, 0x22, 0x28] };

test("day and night change the map and the panels immediately", async () => {
  const car = await openCar("/?at=52.05,5.05", { map: "sharp", choices: { theme: "day" }, locale: "en-IE" }); // outside the town there is nothing but land
  const { page } = car;
  await eventually("land by day", async () => (await countPixels(page, land.day)) > 200_000);
  expect(await countPixels(page, land.night)).toBeLessThan(20_000);
  await page.locator(".menu-button").click();
  await page.locator("#menu-display").click();
  expect(await countPixels(page, panel.day)).toBeGreaterThan(100_000);
  await page.locator("#theme-night").click();
  await eventually("land by night", async () => (await countPixels(page, land.night)) > 200_000);
  expect(await countPixels(page, panel.night)).toBeGreaterThan(100_000);
  expect(await countPixels(page, land.day), "nothing stays bright").toBeLessThan(20_000);
  expect(await page.evaluate(() => [document.documentElement.dataset["theme"], getComputedStyle(document.body).backgroundColor])).toEqual(["night", "rgb(18, 22, 26)"]);
});

test.each(["day", "night"] as const)("by %s a drive, the menu and a card can be read and touched in every window", async (theme) => {
  const demoDrive = await openDemoDrive(true, { choices: { theme } });
  const { page } = demoDrive.car;
  await driveUntil("a banner", demoDrive, ({ banner }) => banner !== null);
  const all = async (what: string): Promise<void> => {
    for (const [name, viewport] of Object.entries({ ...windows, laid: { width: phoneScreen.height, height: phoneScreen.width } })) {
      await page.setViewportSize(viewport);
      await pass(page, 100, 50); // MapLibre waits 50 ms before it renders at another size
      await checkLayout(page, `${what}, ${name}`);
      await demoDrive.car.screenshot(`${what}-${theme}-${name}`);
    }
    await page.setViewportSize(screens.middle);
    await check(page, what);
  };
  await all("drive");
  await click(page, ".line");
  await page.locator(".card").waitFor();
  await all("card");
  await click(page, ".card header button");
  await page.locator(".menu-button").click();
  await all("menu");
});

let flat: Browser;

beforeAll(async () => {
  flat = await chromium.launch({ executablePath: findChromium(), args: [...flags.filter((flag) => !flag.includes("swiftshader")), "--disable-3d-apis"], chromiumSandbox: false });
});

afterAll(async () => {
  await flat.close();
});

test("a browser that may not draw shows the list, which can be read and touched", async () => {
  const car = await openCar("/?drive=loop&x=4", { browser: flat, place: null, locale: "en-IE" });
  const { page } = car;
  await page.locator(".line").nth(2).waitFor();
  expect(await page.evaluate(() => document.createElement("canvas").getContext("webgl"))).toBeNull();
  await page.getByText("This browser can’t draw the map.").waitFor();
  expect(await page.locator("canvas").count()).toBe(0);
  await check(page, "list only");
  for (const [name, viewport] of Object.entries(windows)) {
    await page.setViewportSize(viewport);
    await checkLayout(page, `list only, ${name}`);
    await car.screenshot(`list-only-${name}`);
  }
});

test("the phone's pages can be read and touched", async () => {
  const phone = await openPhone("/sign-in?pair=");
  const { page } = phone;
  await signIn(page, "reader@example.org", (what) => check(page, what, phoneTouch));
  await check(page, "pair, no code yet", phoneTouch);
  await phone.screenshot("phone-pair");
  await page.getByLabel("Code on the car’s screen").fill("BCDFGHJK");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("alert").waitFor();
  await check(page, "pair, a wrong code", phoneTouch);
  expect(phone.errors.splice(0), "that there is no such code").toHaveLength(1);
  const begun = (await (await page.request.post("/v2/auth/pair", { data: {} })).json()) as { user_code: string };
  await page.goto(`/pair?code=${begun.user_code}`);
  await check(page, "pair, the question", phoneTouch);
  await phone.screenshot("phone-question");
  await page.getByRole("button", { name: "Deny" }).click();
  await check(page, "pair, the answer", phoneTouch);
  await page.goto("/sign-in");
  await check(page, "signed in", phoneTouch);
  await phone.screenshot("phone-signed-in");
});
