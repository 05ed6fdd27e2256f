import { afterAll, beforeAll, expect, test } from "vitest";
import type { Frame, Locator } from "playwright-core";
import { openAppsService, type AppsService } from "./appsservice.ts";
import { listening, page } from "./appserver.ts";
import { eventually, touch, type Car } from "./harness.ts";

// Apps that take the keyboard: whatever they do, what the driver types beside them arrives where it was typed.

let apps: AppsService;
let car: Car;

/** grabs takes the focus all the time. */
const grabs = `${listening}
  const field = document.createElement("input");
  document.body.append(field);
  window.stop = false;
  setInterval(() => { if (!stop) { window.focus(); field.focus(); } }, 1);
`;

beforeAll(async () => {
  apps = await openAppsService();
  for (const name of ["Grabs", "Calm"]) await apps.submit(name);
  apps.server.answers.set("/grabs", page(grabs));
  car = await apps.signIn("driver@example.org", { place: { lat: 52, lng: 5 } });
  for (const name of ["Grabs", "Calm"]) await apps.install(car, name, {});
  await car.page.goto("/");
  await tab("Grabs").waitFor();
});

afterAll(async () => {
  await car.context.close();
  await apps.end();
});

const tab = (name: string): Locator => car.page.getByRole("tab", { name, exact: true });
const frameOf = (path: string): Promise<Frame> => eventually(`the frame of ${path}`, () => Promise.resolve(car.page.frames().find((frame) => frame.url().endsWith(path))));

async function show(name: string): Promise<void> {
  if ((await tab(name).getAttribute("aria-selected")) !== "true") await tab(name).click();
}

const isFrameActive = (): Promise<boolean> => car.page.evaluate(() => document.activeElement?.tagName === "IFRAME");

const text = "Long street 12, the old town by the river, second yard on the left behind the mill";

const stopped = (name: string): Locator => panel(name).getByText(`${name} was stopped: it took the keyboard.`);
const panel = (name: string): Locator => car.page.locator(`[role="tabpanel"][aria-label="${name}"]`);

/** openField opens the destination field as the driver does, and returns it. */
async function openField(): Promise<Locator> {
  const field = car.page.locator("#where-to-field");
  await car.page.locator(".where-to").click();
  await field.click();
  return field;
}

/** type types into the destination field key by key, and expects all of it there. */
async function type(field: Locator): Promise<void> {
  for (const key of text) {
    await car.page.keyboard.type(key);
    expect(await isFrameActive(), `after ${key}`).toBe(false);
  }
  expect(await field.inputValue()).toBe(text);
  await field.fill("");
  await car.page.locator("#where-to-close").click();
}

test("every key of the destination field arrives beside an app that takes the focus in a loop, which is stopped", async () => {
  await show("Grabs");
  await frameOf("/grabs");
  const field = await openField();
  await stopped("Grabs").waitFor(); // sooner than a driver finds the first key
  await type(field);
  expect(car.page.frames().filter((frame) => frame.url().endsWith("/grabs"))).toEqual([]);
});

test("a hidden app that takes the focus is stopped, and nobody else's key is lost", async () => {
  await panel("Grabs").getByRole("button", { name: "Start again" }).click();
  const frame = await frameOf("/grabs");
  await frame.locator("input").click({ force: true });
  await show("Calm");
  await eventually("the hidden app has no frame", async () => (await panel("Grabs").locator("iframe").count()) === 0);
  for (let i = 0; i < 50; i++) expect(await isFrameActive(), `look ${String(i)}`).toBe(false);
  await type(await openField());
  await show("Grabs");
  await stopped("Grabs").waitFor();
});

test("a hidden app does not take the keys of the one that is shown", async () => {
  await panel("Grabs").getByRole("button", { name: "Start again" }).click();
  const grabbing = await frameOf("/grabs");
  await grabbing.evaluate(() => Object.assign(window, { stop: true }));
  await show("Calm");
  const calm = await frameOf("/calm");
  await calm.evaluate(() => {
    document.body.append(document.createElement("input"));
  });
  await calm.locator("input").click();
  await grabbing.evaluate(() => Object.assign(window, { stop: false }));
  await eventually("the hidden app has no frame", async () => (await panel("Grabs").locator("iframe").count()) === 0);
});

test("an app that behaves keeps its state, and can be typed in after the destination field", async () => {
  await show("Calm");
  const frame = await frameOf("/calm");
  await frame.evaluate(() => Object.assign(window, { mark: 7 }));
  await openField();
  const box = await panel("Calm").boundingBox();
  if (box === null) throw new Error("the app has no place");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await touch(car.page, x, y); // ends the typing beside it
  expect(await car.page.locator(".stage.shielded").count()).toBe(0);
  await frame.locator("input").click();
  await car.page.keyboard.type("abc");
  await eventually("the app's own field has the text", async () => (await frame.locator("input").inputValue()) === "abc");
  expect(await frame.evaluate(() => (window as unknown as { mark: number }).mark)).toBe(7);
});
