// Accessibility and layout of every page of the console, in light and dark, on a phone and on a desktop.

import { afterAll, beforeAll, expect, test } from "vitest";
import { checkLayout, colourRules, phoneTouch, violations } from "./pagechecks.ts";
import { desktop, openTestConsole, clickAndWait, type TestConsole } from "./testconsole.ts";
import { eventually, takePicture, type Car } from "./harness.ts";

let testConsole: TestConsole;

beforeAll(async () => {
  testConsole = await openTestConsole();
});

afterAll(() => testConsole.end());

const phone = { width: 360, height: 740 };

/**
 * readable checks a page with axe and its layout, in both widths and both colour schemes, and saves screenshots. The dark scheme has
 * other colours and nothing else, so that its rules are those of colours.
 */
async function readable(visitor: Car, name: string): Promise<void> {
  const { page } = visitor;
  for (const [size, viewport] of [["phone", phone], ["desk", desktop]] as const) {
    await page.setViewportSize(viewport);
    await checkLayout(page, `${name}, ${size}`, phoneTouch);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page, colorScheme === "dark" ? colourRules : undefined), `${name}, ${size}, ${colorScheme}`).toEqual([]);
      await page.evaluate(() => {
        window.scrollTo(0, 0);
      });
      if ((size === "phone") === (colorScheme === "dark")) await takePicture(page, `console-${name}-${size}-${colorScheme}`, true);
    }
  }
}

async function go(visitor: Car, path: string, name: string): Promise<void> {
  await visitor.page.goto(path);
  await readable(visitor, name);
}

const row = (id: string, lat: number, lng: number, kind = "camera.speed"): unknown => ({ external_id: id, kind, lat, lng, properties: { street: "Station Road", limit: 50 } });
const rows = [row("a", 52.01, 5.01), row("b", 52.012, 5.02, "alert.construction"), row("c", 52.02, 5.03, "charger.supercharger"), row("wrong", 95, 5), row("odd", 52, 5, "alert.ufo")];

test("guests' pages", async () => {
  const guest = await testConsole.visit("/about");
  await readable(guest, "about");
  for (const path of ["/sources", "/status", "/types", "/sign-in"]) await go(guest, path, path.slice(1));
  await guest.page.locator("#email").fill("guest@example.org");
  await clickAndWait(guest.page, "main form button");
  await readable(guest, "sign-in-code");
  await go(guest, "/auth/verify?token=x", "verify");
  await go(guest, "/nothing-here", "no-page").catch(() => null);
  guest.errors.splice(0);
});

test("providers' pages", async () => {
  const owner = await testConsole.signInAs("provider@example.org");
  const { page } = owner;
  await go(owner, "/feeds", "feeds-none");
  await go(owner, "/feeds/new", "feed-new");
  await page.locator("input[name=direction][value=pull]").check();
  await page.locator("#pull_url").fill("ftp://x");
  await page.locator("#name").fill("x");
  await clickAndWait(page, "form.fields-of button[type=submit]");
  await readable(owner, "feed-new-wrong");
  await page.locator("#pull_url").fill(testConsole.provider.publish("looks.json", rows));
  await page.locator("#name").fill("Roads of Testshire");
  await clickAndWait(page, "form.fields-of button[type=submit]");
  const address = new URL(page.url()).pathname;
  await eventually("a poll", async () => {
    await page.goto(address);
    return (await page.locator("main").innerText()).includes("3 entities");
  });
  await page.locator(".map canvas").waitFor();
  await page.getByRole("button", { name: "Next" }).click();
  await readable(owner, "feed");
  for (const path of ["list", "edit", "url", "pause", "delete"]) await go(owner, `${address}/${path}`, `feed-${path}`);
  await go(owner, "/feeds", "feeds");
  await go(owner, "/check", "check");
  await page.locator("#json").fill(JSON.stringify(rows));
  await clickAndWait(page, "form.fields-of button[type=submit]");
  await page.locator(".map canvas").waitFor();
  await readable(owner, "check-done");
  await page.goto("/feeds/new");
  await page.locator("input[name=direction][value=push]").check();
  await page.locator("#name").fill("Pushed");
  await clickAndWait(page, "form.fields-of button[type=submit]");
  await readable(owner, "feed-token");
  const pushed = (await page.locator("main a.action").first().getAttribute("href")) ?? "";
  await go(owner, pushed, "feed-push");
  await go(owner, `${pushed}/rotate`, "feed-rotate");
  owner.errors.splice(0); // 422
});

test("pages of accounts and of curators", async () => {
  const owner = await testConsole.signInAs("account@example.org");
  await go(owner, "/account", "account");
  await go(owner, "/account/delete", "account-delete");
  await go(owner, "/pair", "pair");
  const made = await owner.page.request.post("/v2/feeds", { data: { direction: "pull", pull_url: testConsole.provider.publish("review.json", rows), name: "For review", visibility: "public", attribution: "© Testshire" } });
  const { feed } = (await made.json()) as { feed: { id: string } };
  const curator = await testConsole.signInAs("looks@example.org", { role: "curator" });
  await go(curator, "/review", "review");
  await eventually("a poll", async () => {
    await curator.page.goto(`/review/${feed.id}`);
    return (await curator.page.locator("main").innerText()).includes("3 entities");
  });
  await curator.page.locator(".map canvas").waitFor();
  await readable(curator, "review-feed");
  await clickAndWait(curator.page, "form[action$='/approve'] button");
  await go(curator, "/audit", "audit");
  const guest = await testConsole.visit("/sources");
  await readable(guest, "sources-some");
  await guest.page.getByRole("link", { name: "For review" }).click();
  await guest.page.locator(".map canvas").waitFor();
  await readable(guest, "source");
});

test("what is said of refusals, in German", async () => {
  const owner = await testConsole.signInAs("strassen@example.org", { locale: "de-DE" });
  const { page } = owner;
  const more = [{ ...(row("late", 52, 5) as object), observed_at: "2999-01-01T00:00:00Z" }, { ...(row("deep", 52, 5) as object), properties: "none" }, row("a", 52, 5)];
  await page.goto("/check");
  await page.locator("#json").fill(JSON.stringify([...rows, ...more]));
  await clickAndWait(page, "main form button[type=submit]");
  await page.locator(".map canvas").waitFor();
  expect(await page.locator("main").innerText()).toContain('"alert.ufo"');
  await readable(owner, "de-check-done");
  await page.goto("/check");
  await page.locator("#pull_url").fill(testConsole.provider.publish("broken.json", "{", 200));
  await clickAndWait(page, "main form button[type=submit]");
  await readable(owner, "de-check-failed");
  const made = await page.request.post("/v2/feeds", { data: { direction: "push", name: "Straßen", visibility: "public", description: "Alle Kameras der Stadt" } });
  const { feed, push_ingest_token: token } = (await made.json()) as { feed: { id: string }; push_ingest_token: string };
  await page.request.post(`/v2/feeds/${token}/entities`, { data: [...rows, ...more] });
  await go(owner, `/feeds/${feed.id}`, "de-feed-rejections");
  await page.request.post(`/v2/feeds/${token}/entities`, { data: {} });
  await go(owner, `/feeds/${feed.id}`, "de-feed-refused");
  await page.goto("/account");
  await page.locator("form[action='/account/tokens'] #name").fill("Server");
  await clickAndWait(page, "form[action='/account/tokens'] button");
  await readable(owner, "de-token");
  const curator = await testConsole.signInAs("pruefer@example.org", { locale: "de-DE", role: "curator" });
  await curator.page.goto(`/review/${feed.id}`);
  await page.request.patch(`/v2/feeds/${feed.id}`, { data: { name: "Kameras", description: "Nur die festen\nKameras", visibility: "private" } });
  await clickAndWait(curator.page, "form[action$='/approve'] button");
  expect(await curator.page.locator("main").innerText()).toContain("Sie sahen: Straßen");
  await readable(curator, "de-review-stale");
  owner.errors.splice(0); // 400
  curator.errors.splice(0); // 409
});

test("a map that cannot be drawn shows why", async () => {
  const owner = await testConsole.signInAs("nomap@example.org");
  const { page } = owner;
  const note = page.locator(".map-note");
  const check = async (json: string): Promise<void> => {
    await page.goto("/check");
    await page.locator("#json").fill(json);
    await clickAndWait(page, "main form button[type=submit]");
  };
  const made = await page.request.post("/v2/feeds", { data: { direction: "push", name: "Empty", visibility: "private" } });
  const { feed } = (await made.json()) as { feed: { id: string } };
  await page.goto(`/feeds/${feed.id}`);
  await eventually("Nothing to show", async () => (await note.innerText()).includes("Nothing to show"));
  await page.route(/\/entities\?geometry=line$/, (route) => route.fulfill({ status: 503, body: "" }));
  await page.reload();
  await eventually("no answer", async () => (await note.innerText()).includes("Couldn’t load"));
  expect(owner.errors.splice(0), "503").toHaveLength(1);
  await page.addInitScript(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await check(JSON.stringify(rows));
  await eventually("no WebGL", async () => (await note.innerText()).includes("WebGL"));
  expect(await page.locator(".map").isVisible()).toBe(false);
  owner.errors.splice(0); // an error that MapLibre logs
});

test.each(["de-DE", "fr-FR"])("texts in %s fit a phone, and no key is untranslated", async (locale) => {
  const owner = await testConsole.signInAs(`${locale.slice(0, 2)}@example.org`, { locale, viewport: phone, role: "curator" });
  const { page } = owner;
  const made = await page.request.post("/v2/feeds", { data: { direction: "pull", pull_url: testConsole.provider.publish("short.json", rows), name: "Testshire", visibility: "public" } });
  const { feed } = (await made.json()) as { feed: { id: string } };
  await eventually("a poll", async () => {
    await page.goto(`/feeds/${feed.id}`);
    return (await page.locator("main").innerText()).includes("unknown_kind");
  });
  await page.locator(".map-bar").waitFor();
  await page.locator(".map-bar button").nth(1).click();
  const paths = ["/feeds", "/feeds/new", `/feeds/${feed.id}/edit`, `/feeds/${feed.id}/delete`, "/check", `/review/${feed.id}`, "/review", "/audit", "/account", "/account/delete", "/sources", "/regions", "/status", "/about", "/types", "/pair"];
  for (const path of [`/feeds/${feed.id}`, ...paths]) {
    if (path !== `/feeds/${feed.id}`) await page.goto(path);
    expect(await page.locator("html").getAttribute("lang")).toBe(locale.slice(0, 2));
    await checkLayout(page, `${path}, ${locale}`, phoneTouch);
    // A key looks like feed.is.partly; codes are in <code>.
    const texts = await page.evaluate(() => {
      const copy = document.body.cloneNode(true) as HTMLElement;
      for (const node of copy.querySelectorAll("code, bdi, pre, table")) node.remove();
      return copy.textContent;
    });
    expect(texts.match(/\b(?:feed|check|map|review|audit|account|sign-in|source|regions|status|nav|layout|kind|done|wrong|types|meaning|property|value|next|live|reason)\.[a-z]+(?:[.-][a-z]+)*\b|\{\d\}/g), path).toBeNull();
    if (path === `/feeds/${feed.id}` || path.endsWith("/new")) await takePicture(page, `console-${path.endsWith("/new") ? "feed-new" : "feed"}-phone-${locale.slice(0, 2)}`, true);
  }
});
