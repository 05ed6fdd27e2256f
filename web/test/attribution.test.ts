// A page in a car stays open for days. Attribution is a condition of a source's licence, also of one that is approved meanwhile.

import { afterAll, beforeAll, expect, test } from "vitest";
import { openDesk, type Desk } from "./desk.ts";
import { eventually, screens, town } from "./harness.ts";

let desk: Desk;

beforeAll(async () => {
  desk = await openDesk();
});

afterAll(() => desk.end());

test("a feed that is approved while the page is open gets its attribution and its switch", { timeout: 60_000 }, async () => {
  const owner = await desk.become("roads@example.org");
  const data = { direction: "push", name: "Roads of Testshire", attribution: "© Testshire", licence: "CC-BY-4.0", visibility: "public" };
  const made = (await (await owner.page.request.post("/v2/feeds", { data })).json()) as { feed: { id: string }; push_ingest_token: string };
  const rows = [{ external_id: "a", kind: "alert.construction", lat: town.lat + 0.001, lng: town.lng, properties: { street: "Station Road" } }];
  expect((await owner.page.request.post(`/v2/feeds/${made.push_ingest_token}/entities`, { data: rows })).status()).toBe(200);

  const car = await desk.visit("/", { place: town, viewport: screens.middle });
  const { page } = car;
  const reads = (): number => car.requests.filter((url) => url.endsWith("/v2/sources")).length;
  await eventually("the map is there", async () => (await page.locator(".attribution").textContent()) !== "");
  await eventually("the catalogue was read", () => Promise.resolve(reads() === 1));
  expect(await page.locator(".line").count()).toBe(0);

  desk.cli("feed", "approve", made.feed.id);
  await page.locator(".line", { hasText: "Station Road" }).waitFor({ timeout: 20_000 });
  await eventually("its attribution", async () => (await page.locator(".attribution").textContent())?.includes("© Testshire (CC-BY-4.0)"), 15_000);
  expect(reads()).toBe(2);
  await page.locator(".menu-button").click();
  await page.locator("#menu-sources").click();
  const source = page.locator(`[id="source-feed:${made.feed.id}"]`);
  await source.filter({ hasText: "Roads of Testshire" }).click();
  await page.locator(".line").waitFor({ state: "detached" });
  await car.shot("source-approved-meanwhile");
});
