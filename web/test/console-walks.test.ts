// The walk of each role by pages alone, with a person's clicks counted: fewer than in the review of the pages (given at each test).

import { spawnSync } from "node:child_process";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestConsole, type TestConsole } from "./testconsole.ts";
import { eventually, type Car } from "./harness.ts";
import { checkLayout, phoneTouch, violations } from "./pagechecks.ts";

let testConsole: TestConsole;

beforeAll(async () => {
  testConsole = await openTestConsole();
});

afterAll(() => testConsole.end());

/** Person uses pages by clicks alone, and counts them. Typing and pasting are no clicks. */
class Person {
  clicks = 0;
  constructor(readonly page: Page) {}

  async click(what: Locator): Promise<void> {
    this.clicks++;
    await what.click();
  }

  /** follow clicks what leads to another page. */
  async follow(what: Locator): Promise<void> {
    await Promise.all([this.page.waitForEvent("domcontentloaded"), this.click(what)]);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole("button", { name, exact: typeof name === "string" });
  }

  link(name: string | RegExp): Locator {
    return this.page.locator("main").getByRole("link", { name });
  }

  main(): Promise<string> {
    return this.page.locator("main").innerText();
  }

  /** sees waits for a text that appears without a reload. */
  async sees(text: string | RegExp): Promise<void> {
    await eventually(String(text), async () => (await this.main()).match(text) !== null);
  }
}

/** signIn signs in by the code of an e-mail, as a newcomer does: two fields, two clicks, which are not counted. */
async function signIn(email: string, role?: "curator"): Promise<{ visitor: Car; person: Person }> {
  if (role) {
    testConsole.cli("account", "create", "--email", email);
    testConsole.cli("account", "role", "--email", email, role);
  }
  const visitor = await testConsole.visit("/sign-in");
  const person = new Person(visitor.page);
  await visitor.page.locator("#email").fill(email);
  await person.follow(person.button("Send me a code"));
  const mail = await eventually("an e-mail", () => Promise.resolve(testConsole.mails(email).at(-1)));
  await visitor.page.locator("#code").fill(/\b\d{8}\b/.exec(mail.text)?.[0] ?? "");
  await person.follow(person.button("Sign in"));
  expect(person.clicks).toBe(2);
  person.clicks = 0;
  return { visitor, person };
}

const camera = (id: string, lat = 52.01): unknown => ({ external_id: id, kind: "camera.speed", lat, lng: 5.01, properties: {} });

/** In the review: 4 clicks and a reload from signing in to the first pin on a map. */
test("a provider who pushes has the first pin on a map after 3 clicks", async () => {
  const { visitor, person } = await signIn("walk-push@example.org");
  const { page } = visitor;
  await visitor.screenshot("walk-signed-in");
  await person.follow(person.link("Register a feed"));
  await page.locator("#name").fill("Roads of Testshire");
  await page.keyboard.press("Tab");
  await person.follow(person.button("Register"));
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await person.click(page.locator("div.copy", { hasText: "curl " }).getByRole("button", { name: "Copy" }));
  await eventually("the command in the clipboard", async () => (await page.evaluate(() => navigator.clipboard.readText())).startsWith("curl "));
  await visitor.screenshot("walk-token");
  const line = await page.evaluate(() => navigator.clipboard.readText());
  const { status, stderr } = spawnSync("sh", ["-c", line.replace(/^curl /, "curl --silent --show-error ")], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  await person.sees("Push received: 1 accepted, 0 rejected.");
  await page.locator(".map canvas").waitFor();
  expect(person.clicks).toBe(3);
  await page.locator(".map").scrollIntoViewIfNeeded();
  await visitor.screenshot("walk-first-pin");

  // The first real push appears by itself, and the test row goes with one click.
  await person.follow(person.link("Continue to feed"));
  const token = /wsp_\w+/.exec(line)?.[0] ?? "";
  expect((await page.request.post(`/v2/feeds/${token}/entities`, { data: [camera("a"), camera("b", 95)] })).status()).toBe(200);
  await person.sees("Rows rejected: 1 of 2");
  await person.sees("invalid_lat");
  await eventually("the map's second pin", async () => {
    await page.getByRole("button", { name: "Next", exact: true }).click();
    return (await page.locator(".map-card").innerText()).includes("of 2");
  });
  await person.follow(person.button("Remove the test row"));
  await person.sees("The test row is removed.");
  await person.sees("1 entity");
  expect(person.clicks).toBe(5);
});

/** In the review: 3 clicks and reloads until the reason was seen, and the address changed in 3. */
test("a provider whose URL fails sees why after 2 clicks, and that it is fixed after 2 more", async () => {
  const { visitor, person } = await signIn("walk-pull@example.org");
  const { page } = visitor;
  await person.follow(person.link("Register a feed"));
  await page.locator("input[name=direction][value=push]").focus();
  await page.keyboard.press("ArrowDown"); // pull
  await page.locator("#pull_url").fill(testConsole.provider.url("walk.json"));
  await page.locator("#name").fill("Fetched");
  await person.follow(person.button("Register"));
  await person.sees("the server returned 404");
  await person.sees("Nothing was found at this URL");
  expect(await page.getByRole("link", { name: "Reload this page" }).isVisible(), "scripts refresh the page").toBe(false);
  expect(person.clicks).toBe(2);
  await visitor.screenshot("walk-failing");
  await person.follow(person.link("Change URL or header"));
  await page.locator("#pull_url").fill(testConsole.provider.publish("fixed.json", [camera("a")]));
  await person.follow(person.button("Save and fetch"));
  await person.sees("Receiving data. No action needed.");
  expect(person.clicks).toBe(4);
});

/** In the review: queue, feed, decision: 3 clicks for each feed, and the same page again afterwards. */
test("a curator decides on two feeds with 3 clicks, and on a third with a reason of the list", async () => {
  const owner = await testConsole.signInAs("walk-owner@example.org", { locale: "de-DE" });
  for (const name of ["First", "Second", "Third"]) {
    await owner.page.request.post("/v2/feeds", { data: { direction: "push", name, visibility: "public", description: "Cameras" } });
  }
  const { visitor, person } = await signIn("walk-curator@example.org", "curator");
  const { page } = visitor;
  await person.follow(person.link(/Review \d+ feeds/));
  while ((await page.locator("h1").innerText()) !== "First") await person.follow(person.button("Approve")); // feeds of the walks before
  person.clicks = 1;
  await person.follow(person.button("Approve"));
  await person.sees("Approved. The owner will be e-mailed. First");
  expect(await page.locator("h1").innerText()).toBe("Second");
  await person.follow(person.button("Approve"));
  expect(await page.locator("h1").innerText()).toBe("Third");
  expect(person.clicks).toBe(3);
  await visitor.screenshot("walk-curator");
  await page.locator("#reason").selectOption("no-data");
  await person.click(person.button("Insert"));
  expect(await page.locator("#note").inputValue()).toMatch(/^The feed has no data yet/);
  await page.keyboard.type("\nSee you soon.");
  await person.follow(person.button("Reject"));
  await person.sees("Rejected. The owner will be e-mailed your note.");
  const mail = await eventually("the rejection", () => Promise.resolve(testConsole.mails("walk-owner@example.org").find(({ text }) => text.includes("See you soon."))));
  expect(mail.text).toContain("Der Feed hat noch keine Daten");
});

test("the decision is in view in wide and narrow windows, and at 200 % zoom", async () => {
  const owner = await testConsole.signInAs("walk-sticky@example.org");
  const made = await owner.page.request.post("/v2/feeds", { data: { direction: "pull", pull_url: testConsole.provider.publish("sticky.json", [camera("a"), camera("b", 95)]), name: "Sticky", visibility: "public" } });
  const { feed } = (await made.json()) as { feed: { id: string } };
  const curator = await testConsole.signInAs("walk-looks@example.org", { role: "curator" });
  const { page } = curator;
  await eventually("a poll", async () => {
    await page.goto(`/review/${feed.id}`);
    return (await page.locator("main").innerText()).includes("invalid_lat");
  });
  await page.locator(".map canvas").waitFor();
  for (const [name, width, height] of [["wide", 1280, 800], ["zoomed", 640, 400], ["phone", 390, 844]] as const) {
    await page.setViewportSize({ width, height });
    for (const share of [0, 0.5, 1]) {
      await page.evaluate((share) => {
        const main = document.querySelector("main");
        window.scrollTo(0, share * Math.max(0, (main?.offsetTop ?? 0) + (main?.offsetHeight ?? 0) - window.innerHeight));
      }, share);
      const seen = await page.evaluate(() =>
        [...document.querySelectorAll("button[form=approve], form[action$='/approve'] button")].some((button) => {
          const { top, bottom, width } = button.getBoundingClientRect();
          return width > 0 && top >= 0 && bottom <= window.innerHeight;
        }),
      );
      expect(seen, `${name} at ${String(share)}`).toBe(true);
      await curator.screenshot(`walk-decision-${name}-${String(share)}`);
    }
    if (width < 1000) {
      const bar = await page.locator(".decision-bar").boundingBox();
      expect(bar?.height ?? 999, name).toBeLessThan(height / 4);
    }
    await page.evaluate(() => {
      window.scrollTo(0, 0);
    });
    await checkLayout(page, name, phoneTouch);
    expect(await violations(page), name).toEqual([]);
  }
});

test("times are local, and UTC while one is focused or touched", async () => {
  const owner = await testConsole.signInAs("walk-times@example.org", { timezoneId: "Asia/Kolkata" });
  const { page } = owner;
  const made = await page.request.post("/v2/feeds", { data: { direction: "push", name: "Times", visibility: "private" } });
  const { feed, push_ingest_token: token } = (await made.json()) as { feed: { id: string }; push_ingest_token: string };
  for (const body of [[camera("a")], {}]) await page.request.post(`/v2/feeds/${token}/entities`, { data: body });
  await page.goto(`/feeds/${feed.id}`);
  const times = page.locator(".timeline time[datetime*=T]");
  await eventually("local times", async () => (await times.first().innerText()).includes("GMT+5:30"));
  await times.nth(1).click();
  expect(await times.first().innerText()).toMatch(/UTC$/);
  expect(await times.nth(1).innerText()).toMatch(/UTC$/);
  await page.locator("h1").click();
  expect(await times.first().innerText()).toContain("GMT+5:30");
  await times.first().focus();
  expect(await times.nth(1).innerText()).toMatch(/UTC$/);
});

test("without scripts each page works as before, with a link to reload", async () => {
  const owner = await testConsole.signInAs("walk-plain@example.org", { javaScriptEnabled: false });
  const { page } = owner;
  const made = await page.request.post("/v2/feeds", { data: { direction: "push", name: "Plain", visibility: "private" } });
  const { feed, push_ingest_token: token } = (await made.json()) as { feed: { id: string }; push_ingest_token: string };
  await page.goto(`/feeds/${feed.id}`);
  expect(await page.locator("[data-copy]:visible").count()).toBe(0);
  await page.request.post(`/v2/feeds/${token}/entities`, { data: [camera("a")] });
  // An answer waits 50 ms at most for its rows to be readable: on a busy machine, the page may be read before.
  await eventually("the pushed camera is on the reloaded page", async () => {
    await Promise.all([page.waitForEvent("domcontentloaded"), page.getByRole("link", { name: "Reload this page" }).click()]);
    return (await page.locator("main").innerText()).includes("1 entity");
  });
  expect(await page.locator(".timeline time").first().innerText()).toMatch(/UTC$/);
});
