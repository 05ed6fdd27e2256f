import { expect, test } from "vitest";
import { languages, type Choices } from "../overlay/src/settings/settings.ts";
import { loadTexts, makeWords } from "../overlay/src/i18n/words.ts";
import { driveUntil, openDemoDrive } from "./demodrive.ts";
import { check } from "./pagechecks.ts";
import { eventually, openCar, screens, type Car, type CarOptions } from "./harness.ts";
import { phoneScreen } from "./phonesignin.ts";

/** openWith opens the page for a driver with stored choices. */
async function openWith(choices: Choices, options: CarOptions = {}, path = "/?at=52,5"): Promise<Car> {
  const car = await openCar(path, { choices, ...options });
  await car.page.locator(".menu-button").waitFor();
  return car;
}

async function openCard({ page }: Car): Promise<void> {
  const line = page.locator(".line").first();
  if (!(await page.locator(".list").isVisible())) await page.locator(".controls [aria-expanded]").click();
  await line.click();
  await page.locator(".card").waitFor();
}

const menuPages = ["account", "kinds", "sources", "networks", "display", "sound", "credits"];

test.each([
  ["day", "en", screens.middle, 5],
  ["night", "de", screens.smallTargets, 10],
  ["night", "fr", phoneScreen, 5],
  ["day", "nl", phoneScreen, 0],
] as const)("by %s in %s everything can be touched and read by anybody", async (theme, language, viewport, density) => {
  const car = await openWith({ theme, language, density, tones: true }, { viewport });
  const { page } = car;
  await check(page, "page");
  await openCard(car);
  await check(page, "card");
  await page.locator(".menu-button").click();
  await check(page, "menu");
  for (const name of menuPages) {
    await page.locator(`#menu-${name}`).click();
    await check(page, name);
    await car.screenshot(`menu-${name}-${theme}-${language}`);
    await page.locator(".menu header button").first().click();
  }
});

test("every language applies immediately, without a reload", async () => {
  const car = await openWith({ language: "en" }, { map: "blank" });
  await car.page.locator(".menu-button").click();
  await car.page.locator("#menu-display").click();
  for (const language of languages) {
    const { say } = makeWords(language, await loadTexts(language));
    await car.page.locator(`#language-${language}`).click();
    await eventually(language, async () => (await car.page.locator("#menu-title").textContent()) === say("menu.display"));
    expect(await car.page.evaluate(() => [document.documentElement.lang, document.activeElement?.id])).toEqual([language, `language-${language}`]);
  }
  expect(car.requests.filter((url) => url.endsWith("/?at=52,5"))).toHaveLength(1);
});

test("choices apply immediately and after a reload", async () => {
  const car = await openWith({ units: "metric" }, { map: "blank" });
  const { page } = car;
  await page.locator(".menu-button").click();
  await page.locator("#menu-display").click();
  await page.locator("#theme-night").click();
  await page.locator("#units-imperial").click();
  await page.locator("#density-more").click();
  await page.locator("#camera-north").click();
  await eventually("miles in the list", async () => / (ft|mi)$/.test((await page.locator(".line strong").first().textContent()) ?? ""));
  const look = (): Promise<unknown> => page.evaluate(() => [document.documentElement.dataset["theme"], getComputedStyle(document.documentElement).fontSize]);
  const up = (): Promise<string | null> => page.locator(".controls [data-mode]").getAttribute("data-mode");
  expect([await look(), await up()]).toEqual([["night", "22px"], "north"]);
  await page.reload();
  await page.locator(".menu-button").waitFor();
  expect([await look(), await up()]).toEqual([["night", "22px"], "north"]);
});

test("kinds and sources are turned off and on", async () => {
  const car = await openWith({}, { map: "blank" });
  const { page } = car;
  const kinds = (): Promise<string[]> => page.locator(".line .kind").allTextContents();
  await eventually("police in the list", async () => (await kinds()).includes("Police"));
  await page.locator(".menu-button").click();
  await page.locator("#menu-kinds").click();
  await page.locator('[id="kind-alert.police"]').click();
  await eventually("no police", async () => !(await kinds()).includes("Police"));
  await page.locator("#all-alerts-true").click();
  await eventually("police again", async () => (await kinds()).includes("Police"));
  await page.locator(".menu header button").first().click();
  await page.locator("#menu-sources").click();
  const first = page.locator('[id^="source-"]').first();
  await first.click();
  expect(await first.getAttribute("aria-checked")).toBe("false");
});

test("the menu is left by keyboard, and the focus comes back", async () => {
  const car = await openWith({}, { map: "blank" });
  await car.page.locator(".menu-button").focus();
  await car.page.keyboard.press("Enter");
  await car.page.locator("#menu-sound").focus();
  await car.page.keyboard.press("Enter");
  await car.page.keyboard.press("Escape");
  expect(await car.page.evaluate(() => document.activeElement?.id)).toBe("menu-sound");
  await car.page.keyboard.press("Escape");
  expect(await car.page.evaluate(() => document.activeElement?.className)).toContain("menu-button");
});

const account = { account: { email: "driver@example.org", tier: "account", id: "x", role: "driver", created_at: "2026-01-01T00:00:00Z" } };

test("a guest pairs the car, votes, takes the vote back and signs out", async () => {
  const car = await openWith({ theme: "night" });
  const { page, context } = car;
  let approved = false;
  const asked: string[] = [];
  const put: string[] = [];
  await context.route("**/v2/auth/pair/token", (route) =>
    approved ? route.fulfill({ json: account }) : route.fulfill({ status: 202, json: { status: "waiting" } }),
  );
  await context.route("**/v2/auth/sign-out", (route) => route.fulfill({ status: 204 }));
  await context.route("**/v2/account/preferences", (route) => {
    if (route.request().method() === "PUT") put.push(route.request().postData() ?? "");
    return route.fulfill({ json: { preferences: {} } });
  });
  await context.route("**/v2/entities/feed*", (route) => route.fulfill({ json: { explain: { votes: { yours: null } } } }));
  await context.route("**/v2/entities/incident*", (route) => route.fulfill({ json: { explain: { votes: { yours: null } } } }));
  for (const vote of ["confirm", "dispute", "vote"]) {
    await context.route(`**/v2/entities/*/${vote}`, (route) => {
      asked.push(`${route.request().method()} ${vote}`);
      return route.fulfill({ json: { entity: {} } });
    });
  }
  await openCard(car);
  expect(await page.locator(".votes").isVisible()).toBe(false);
  await page.locator(".ballot .strong").click();
  const code = page.locator(".pairing .code");
  await code.waitFor();
  expect(await code.textContent()).toMatch(/^[B-DF-HJ-NP-TV-Z]{4}-[B-DF-HJ-NP-TV-Z]{4}$/);
  await eventually("the QR code is drawn", () => page.locator(".qr").evaluate((image) => (image as HTMLImageElement).naturalWidth > 50));
  await check(page, "pairing");
  await car.screenshot("pairing-night");
  expect(car.errors.splice(0)).toHaveLength(1); // the 401 of the first account read
  approved = true;
  await page.locator(".votes").waitFor();
  await eventually("what was chosen as a guest is in the account", () => Promise.resolve(put.includes('{"theme":"night"}')));
  await eventually("the code is gone", () => page.locator(".pairing").isHidden());
  const there = page.locator(".votes .confirm");
  await there.click();
  await eventually("the vote is shown", async () => (await there.getAttribute("aria-pressed")) === "true");
  await there.click();
  await eventually("it is taken back", async () => (await there.getAttribute("aria-pressed")) === "false");
  await page.locator(".votes .dispute").click();
  await eventually("all three were asked for", () => Promise.resolve(asked.join() === "POST confirm,DELETE vote,POST dispute"));
  await car.screenshot("card-voted");
  await page.locator(".menu-button").click();
  await page.locator("#menu-account").click();
  await eventually("who is signed in", async () => (await page.locator(".pages").textContent())?.includes("driver@example.org"));
  await page.locator("#account-do").click();
  await eventually("a guest again", async () => (await page.locator(".pages").textContent())?.includes("Not signed in"));
});

test("the banner counts down, is said once and can be dismissed", async () => {
  const opened = await openDemoDrive(true, { choices: { units: "metric" } });
  const { car } = opened;
  const { page } = car;
  await driveUntil("a banner", opened, ({ banner }) => banner !== null && !banner.figure.endsWith("km"));
  expect(await page.locator(".banner .figure").textContent()).toMatch(/^(\d+ m|< 50 m|here)$/);
  expect(await page.locator('[role="alert"]').textContent()).toMatch(/ in \d+ met/);
  await check(page, "banner");
  await car.screenshot("banner");
  const kind = await page.locator(".banner .kind").textContent();
  await page.locator(".banner .away").click();
  expect((await page.locator(".banner").isVisible()) && (await page.locator(".banner .kind").textContent()) === kind).toBe(false);
});

test("without a map the list is the page, and a place can be typed", async () => {
  const car = await openCar(null, { place: null, viewport: screens.smallTargets });
  const { page } = car;
  await page.addInitScript(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await page.goto("/");
  const field = page.locator(".typing input");
  await field.waitFor();
  await check(page, "a place to type");
  await field.fill("nowhere");
  await page.keyboard.press("Enter");
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  await field.fill("52, 5");
  await page.keyboard.press("Enter");
  await page.locator(".line").first().waitFor();
  await check(page, "list");
  await car.screenshot("list-only");
  expect(car.errors.splice(0).filter((text) => !text.includes("WebGL"))).toEqual([]);
});
