// A page may stay open for days. Attribution is a licence condition, also for sources that are approved meanwhile.

import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestConsole, type TestConsole } from "./testconsole.ts";
import { eventually, screens, town } from "./harness.ts";

let testConsole: TestConsole;

beforeAll(async () => {
  testConsole = await openTestConsole();
});

afterAll(() => testConsole.end());

test("a feed that is approved while the page is open gets its attribution and its switch", async () => {
  const owner = await testConsole.signInAs("roads@example.org");
  const data = { direction: "push", name: "Roads of Testshire", attribution: "© Testshire, © OpenStreetMap contributors", licence: "CC-BY-4.0", visibility: "public" };
  const made = (await (await owner.page.request.post("/v2/feeds", { data })).json()) as { feed: { id: string }; push_ingest_token: string };
  const rows = [{ external_id: "a", kind: "alert.construction", lat: town.lat + 0.001, lng: town.lng, properties: { street: "Station Road" } }];
  expect((await owner.page.request.post(`/v2/feeds/${made.push_ingest_token}/entities`, { data: rows })).status()).toBe(200);

  const car = await testConsole.visit("/", { place: town, viewport: screens.middle });
  const { page } = car;
  const catalogueReads = (): number => car.requests.filter((url) => url.endsWith("/v2/sources")).length;
  await eventually("the map is there", async () => (await page.locator(".attribution").textContent()) !== "");
  await eventually("the catalogue was read", () => Promise.resolve(catalogueReads() === 1));
  expect(await page.locator(".line").count()).toBe(0);

  testConsole.cli("feed", "approve", made.feed.id);
  await page.locator(".line", { hasText: "Station Road" }).waitFor();
  await eventually("its attribution", async () => (await page.locator(".attribution").textContent())?.includes("© Testshire, © OpenStreetMap contributors (CC-BY-4.0)"));
  const link = page.locator(".attribution").getByRole("link", { name: "© OpenStreetMap contributors" });
  expect([await link.getAttribute("href"), await link.getAttribute("target")]).toEqual(["https://www.openstreetmap.org/copyright", "_blank"]);
  expect(catalogueReads()).toBe(2);
  await page.locator(".menu-button").click();
  await page.locator("#menu-sources").click();
  const source = page.locator(`[id="source-feed:${made.feed.id}"]`);
  await source.filter({ hasText: "Roads of Testshire" }).click();
  await page.locator(".line").waitFor({ state: "detached" });
  await car.screenshot("source-approved-meanwhile");
});
