import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { placeOf } from "../overlay/src/pins/shapes.ts";
import { eventually, openCar, screens, type Car, type CarOptions } from "./harness.ts";
import { check, checkLayout } from "./pagechecks.ts";
import { phoneScreen } from "./phonesignin.ts";
import { findOne } from "./serviceclient.ts";

/** 200 % zoom of 1280 by 800. */
const zoomed = { width: 640, height: 400 };

async function openWithList(options: CarOptions = {}): Promise<Car> {
  const car = await openCar("/", { place: placeOf(await findOne("camera.speed")), ...options });
  const { page } = car;
  await page.locator("canvas").waitFor();
  if (!(await page.locator(".list").isVisible())) await page.locator(".controls [aria-expanded]").click();
  await eventually("several pins are listed", async () => (await page.locator(".list .line").count()) > 2);
  return car;
}

/** mapDrawn waits until the map is complete and the car stands on it where it will stay: the camera has followed it. */
async function mapDrawn(page: Page): Promise<void> {
  await page.locator(".scale").waitFor(); // it is drawn after the first pins and the streets
  await page.locator(".car-mark").evaluate(async (mark) => {
    let before = "";
    for (let frames = 0; frames < 5; ) {
      await new Promise(requestAnimationFrame);
      const { x, y } = mark.getBoundingClientRect();
      const now = `${x.toFixed()} ${y.toFixed()}`;
      frames = now === before ? frames + 1 : 0;
      before = now;
    }
  });
}

/** focused names the element that has the focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const node = document.activeElement;
    if (node === null || node === document.body) return "BODY";
    return node.closest(".list, .card, .menu, .controls, .banner, .notice, .demo")?.classList.item(0) ?? (node.classList.contains("menu-button") ? "menu-button" : node.tagName);
  });

const line = (page: Page): Promise<number> => page.evaluate(() => [...document.querySelectorAll(".list .line")].findIndex((one) => one === document.activeElement));

test("a keyboard walks the page: the list is one stop, arrows move in it, and the focus is never lost", async () => {
  const { page } = await openWithList({ locale: "en-IE", map: "blank" });
  const stops: string[] = [];
  for (let i = 0; i < 12 && (stops.length === 0 || stops.at(-1) !== "BODY"); i++) {
    await page.keyboard.press("Tab");
    stops.push(await focused(page));
  }
  expect(stops.filter((stop) => stop === "list"), stops.join()).toHaveLength(1);
  expect(stops).toContain("menu-button");
  expect(stops).toContain("controls");

  await page.locator(".list .line[tabindex='0']").focus();
  await page.keyboard.press("ArrowDown");
  expect(await line(page)).toBe(1);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  expect(await line(page)).toBe(0);
  await page.keyboard.press("End");
  expect(await line(page)).toBe((await page.locator(".list .line").count()) - 1);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");

  await page.keyboard.press("Enter");
  await eventually("the card has the focus", async () => (await focused(page)) === "card");
  await page.locator(".card header button").focus();
  await page.keyboard.press("Enter");
  await eventually("the list has it again", async () => (await focused(page)) === "list");

  // What disappears for another reason takes the focus to a neighbour.
  await page.locator(".list .line[tabindex='0']").focus();
  await page.evaluate(() => document.activeElement?.closest("li")?.remove());
  await eventually("a neighbour has the focus", async () => (await focused(page)) === "list");
});

test("headings are in order, and the page has one title", async () => {
  const { page } = await openWithList({ map: "blank" });
  const levels = await page.evaluate(() => [...document.querySelectorAll("h1, h2, h3, h4")].filter((one) => one.closest("[hidden]") === null).map((one) => Number(one.tagName[1])));
  expect(levels.filter((level) => level === 1)).toHaveLength(1);
  levels.forEach((level, i) => {
    expect(level - (levels[i - 1] ?? 0)).toBeLessThanOrEqual(1);
  });
});

test.each([
  ["/", "list"],
  ["/?drive=loop", "drive"],
])("at 200 %% zoom nothing lies over anything else (%s)", async (path, name) => {
  const car = await openCar(path, { viewport: zoomed, locale: "en-IE" });
  const { page } = car;
  await page.locator(".list .line").first().waitFor({ state: "attached" });
  await mapDrawn(page);
  await car.screenshot(`zoomed-${name}`);
  await checkLayout(page, name);
  const over = await page.evaluate(() => {
    const mark = document.querySelector(".car-mark")?.getBoundingClientRect();
    if (mark === undefined) return ["no car"];
    const shown = [...document.querySelectorAll(".panels button, .demo, .notice, .list, .banner")].filter((one) => one.getClientRects().length > 0);
    return shown.filter((one) => {
      const box = one.getBoundingClientRect();
      return Math.min(box.right, mark.right) - Math.max(box.left, mark.left) > 2 && Math.min(box.bottom, mark.bottom) - Math.max(box.top, mark.top) > 2;
    }).map((one) => one.className);
  });
  expect(over, "panels over the car").toEqual([]);
});

test("on a phone the car stays above the list, and above a card", async () => {
  const car = await openWithList({ viewport: phoneScreen, locale: "en-IE", choices: { theme: "day" } });
  const { page } = car;
  const isAbove = async (panel: string): Promise<boolean> => {
    const [mark, ...below] = await Promise.all([".car-mark", panel, ".controls"].map((selector) => page.locator(selector).boundingBox()));
    return mark !== null && mark !== undefined && mark.y > 0 && below.every((box) => box !== null && mark.y + mark.height < box.y);
  };
  await eventually("the car is above the list", () => isAbove(".list"));
  await page.locator(".list .line").first().click();
  await eventually("the car is above the card", () => isAbove(".card"));
  await mapDrawn(page);
  await car.screenshot("phone-card");
  await page.locator(".card header button").click();
  await page.locator('.controls [aria-expanded="true"]').click();
  await eventually("without a panel it is in the middle", async () => {
    const mark = await page.locator(".car-mark").boundingBox();
    return mark !== null && Math.abs(mark.y + mark.height / 2 - phoneScreen.height / 2) < 2;
  });
});

test.each([
  ["large", screens.middle, "day"],
  ["phone", phoneScreen, "night"],
] as const)("Arabic is written from right to left (%s)", async (name, viewport, theme) => {
  const car = await openWithList({ viewport, choices: { language: "ar", theme } });
  const { page } = car;
  await eventually("the page is in Arabic", async () => (await page.evaluate(() => `${document.documentElement.lang} ${document.documentElement.dir}`)) === "ar rtl");
  await page.locator(".list h2", { hasText: /\p{Script=Arabic}/u }).first().waitFor();
  await mapDrawn(page);
  await check(page, "list");
  await car.screenshot(`arabic-${name}-list`);
  await page.locator(".list .line").first().click();
  await page.locator(".card").waitFor();
  await check(page, "card");
  await car.screenshot(`arabic-${name}-card`);
  await page.locator(".menu-button").click();
  const menu = await page.locator(".menu").boundingBox();
  expect(menu?.x).toBe(0);
  await check(page, "menu");
  await page.locator("#menu-display").click();
  await checkLayout(page, "display");
  await car.screenshot(`arabic-${name}-menu`);
});

test.each([
  ["contrast", { contrast: "more" }],
  ["forced", { forcedColors: "active" }],
] as const)("the page can be used with %s colours", async (name, media) => {
  const car = await openWithList({ choices: { theme: "day" } });
  const { page } = car;
  await page.emulateMedia(media);
  await check(page, name);
  await car.screenshot(`colours-${name}`);
});
