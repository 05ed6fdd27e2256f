// The console's pages in use: signing in, publishing, reviewing, leaving. console-layout.test.ts checks their appearance.

import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { APIResponse } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestConsole, clickAndWait, type TestConsole } from "./testconsole.ts";
import { cameraBlue, countPixels, eventually, type Car } from "./harness.ts";

let testConsole: TestConsole;

beforeAll(async () => {
  testConsole = await openTestConsole();
});

afterAll(() => testConsole.end());

const camera = (id: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...{ external_id: id, kind: "camera.speed", lat: 52.01, lng: 5.01, properties: { street: "Station Road", limit: 50 } },
  ...more,
});

const heading = ({ page }: Car): Promise<string> => page.locator("main h1").first().innerText();
const main = ({ page }: Car): Promise<string> => page.locator("main").innerText();

/** shell runs a command as a provider would paste it. */
function shell(line: string): string {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", line.replace(/^curl /, "curl --silent --show-error ")], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return stdout;
}

/** registerPush submits the form and returns the command that pushes, and the feed's path. */
async function registerPush(owner: Car, name: string, visibility: "public" | "private" = "private"): Promise<{ line: string; address: string }> {
  const { page } = owner;
  await page.goto("/feeds/new");
  await page.locator("input[name=direction][value=push]").check();
  await page.locator("#name").fill(name);
  await page.locator("#attribution").fill("© Testshire");
  await page.locator(`input[name=visibility][value=${visibility}]`).check();
  await clickAndWait(page, "form.fields-of button[type=submit]");
  const line = await page.locator("main pre").first().innerText();
  const address = (await page.locator("main a.action").first().getAttribute("href")) ?? "";
  return { line, address };
}

async function registerPull(owner: Car, name: string, url: string, visibility: "public" | "private" = "private"): Promise<string> {
  const { page } = owner;
  await page.goto("/feeds/new");
  await page.locator("input[name=direction][value=pull]").check();
  await page.locator("#pull_url").fill(url);
  await page.locator("#name").fill(name);
  await page.locator("#licence").fill("CC-BY-4.0");
  await page.locator(`input[name=visibility][value=${visibility}]`).check();
  await clickAndWait(page, "form.fields-of button[type=submit]");
  return new URL(page.url()).pathname;
}

/** reloadUntil reloads the page until it shows a text. */
const reloadUntil = (visitor: Car, what: RegExp | string): Promise<string> =>
  eventually(String(what), async () => {
    await visitor.page.reload();
    const text = await main(visitor);
    return (typeof what === "string" ? text.includes(what) : what.test(text)) && text;
  });

describe("signing in", () => {
  test.each([
    ["en-GB", "en", "Sign in"],
    ["de-AT", "de", "Anmelden"],
    ["fr-FR", "fr", "Se connecter"],
  ])("by the mailed link and by its code, in the browser's language: %s", async (locale, language, word) => {
    const email = `${language}@example.org`;
    const visitor = await testConsole.visit("/account", { locale, javaScriptEnabled: false });
    const { page } = visitor;
    expect(new URL(page.url()).pathname).toBe("/sign-in"); // and later back to the page that was requested
    expect(await page.locator("html").getAttribute("lang")).toBe(language);
    await page.locator("#email").fill(email);
    await clickAndWait(page, "main form button");
    const message = await eventually("an e-mail", () => Promise.resolve(testConsole.mails(email).at(-1)));
    expect(message.html).toContain(`lang="${language}"`);
    const [, code = ""] = /\b(\d{8})\b/.exec(message.text) ?? [];
    await page.locator("input[name=code]").fill(code);
    await clickAndWait(page, "main form button");
    expect(new URL(page.url()).pathname).toBe("/account");
    expect(await main(visitor)).toContain(email);

    // Another browser opens the link of another mail. Opening it alone changes nothing.
    const other = await testConsole.visit("/sign-in", { locale, javaScriptEnabled: false });
    await other.page.locator("#email").fill(email);
    await clickAndWait(other.page, "main form button");
    const second = await eventually("another e-mail", () => Promise.resolve(testConsole.mails(email)[1]));
    const [link = ""] = /http\S+token=\S+/.exec(second.text) ?? [];
    await other.page.goto(link);
    await other.page.goto("/account");
    expect(new URL(other.page.url()).pathname).toBe("/sign-in");
    await other.page.goto(link);
    expect(await other.page.locator("main form button").first().innerText()).toContain(word);
    await clickAndWait(other.page, "main form button");
    expect(await main(other)).toContain(email);
    await other.page.goto(link);
    await clickAndWait(other.page, "main form button"); // the link is used up
    expect(other.errors.splice(0)).toHaveLength(1);
  });

  test("does not reveal who has an account", async () => {
    testConsole.cli("account", "create", "--email", "known@example.org");
    const told = await Promise.all(
      ["known@example.org", "unknown@example.org"].map(async (email) => {
        const { page } = await testConsole.visit("/sign-in");
        await page.locator("#email").fill(email);
        await clickAndWait(page, "main form button");
        return (await page.content()).split(email).join("");
      }),
    );
    expect(told[0]).toBe(told[1]);
  });
});

describe("providers", () => {
  test("push by the line that is shown, see it on the map, and change the token", async () => {
    const owner = await testConsole.signInAs("push@example.org", { map: "sharp" });
    const { page } = owner;
    await page.goto("/feeds");
    await owner.screenshot("console-feeds-none");
    const { line, address } = await registerPush(owner, "Roads of Testshire");
    await owner.screenshot("console-token");
    expect(await main(owner)).toMatch(/wsp_\w+/);
    expect(shell(line)).toContain('"accepted"');
    await page.goto(address);
    await reloadUntil(owner, "1 entity");

    // A second push with invalid rows: the page lists which, and why.
    const token = /wsp_\w+/.exec(line)?.[0] ?? "";
    const push = (key: string, rows: unknown): Promise<APIResponse> => page.request.post(`${testConsole.address}/v2/feeds/${key}/entities`, { data: rows });
    expect((await push(token, [camera("a"), camera("b", { lat: "52" }), camera("c", { kind: "camera.unknown" })])).status()).toBe(200);
    const text = await reloadUntil(owner, "invalid_lat");
    expect(text).toContain("unknown_kind");
    await owner.screenshot("console-feed-push");

    // The map shows the pushed rows.
    const map = page.locator(".map");
    await map.locator("canvas").waitFor();
    await map.scrollIntoViewIfNeeded();
    await eventually("a pin", async () => (await countPixels(page, cameraBlue)) > 100);
    const card = page.locator(".map-card");
    await page.getByRole("button", { name: "Next" }).click();
    await eventually("its card", async () => (await card.innerText()).includes("1 of 2"));
    expect(await card.innerText()).toContain("External ID");
    await page.keyboard.press("Escape");
    expect(await card.isVisible()).toBe(false);
    const scripts = owner.requests.filter((url) => url.includes("/console/"));
    expect(scripts.length).toBeGreaterThan(0);
    for (const url of scripts) expect((await page.request.get(url)).headers()["cache-control"]).toContain("immutable");

    // A new token: the old one is refused.
    await page.locator(`a[href='${address}/rotate']`).click();
    await clickAndWait(page, "main form button");
    const next = await page.locator("main pre").first().innerText();
    expect((await push(token, [camera("a")])).status()).toBe(401);
    expect(shell(next)).toContain('"accepted"');
  });

  test("have a URL fetched, and see what is wrong with it", async () => {
    const owner = await testConsole.signInAs("pull@example.org", { map: "sharp" });
    const { page } = owner;
    const rows = [camera("a"), camera("b", { lat: 52.02, lng: 5.04 }), camera("c", { lng: 500 }), camera("d", { kind: "alert.ufo" })];
    const address = await registerPull(owner, "Cameras", testConsole.provider.publish("roads.json", rows));
    const text = await reloadUntil(owner, "2 entities");
    expect(text).toContain("invalid_lng");
    expect(text).toContain("unknown_kind");
    expect(text).toContain("Rows rejected: 2 of 4");
    await page.locator(".map canvas").waitFor();
    await eventually("a pin", async () => (await countPixels(page, cameraBlue)) > 100);
    await owner.screenshot("console-feed-pull");
    await page.locator(".map").scrollIntoViewIfNeeded();
    await owner.screenshot("console-feed-map");

    // Invalid JSON and a missing file: the page explains what to do.
    const broken = await registerPull(owner, "Broken", testConsole.provider.publish("broken.json", "<html>no data today</html>"));
    expect(await reloadUntil(owner, "not valid JSON")).toContain("It may be an HTML page");
    await owner.screenshot("console-feed-broken");
    await registerPull(owner, "Gone", testConsole.provider.url("gone.json"));
    expect(await reloadUntil(owner, "404")).toContain("Nothing was found at this URL");

    // A new URL fixes it and is fetched immediately.
    await page.goto(`${broken}/url`);
    await page.locator("#pull_url").fill(testConsole.provider.url("roads.json"));
    await clickAndWait(page, "main form button[type=submit]");
    await reloadUntil(owner, "2 entities");

    // Fetch now, pause, resume, delete.
    await page.goto(address);
    await clickAndWait(page, `form[action='${address}/fetch'] button`);
    expect(owner.errors.splice(0).length, "a fetch within a minute of the last may be refused").toBeLessThanOrEqual(1);
    await page.goto(`${address}/pause`);
    await clickAndWait(page, "main form button");
    expect(await main(owner)).toContain("Paused");
    await clickAndWait(page, `form[action='${address}/resume'] button`);
    await page.goto(`${address}/delete`);
    await clickAndWait(page, "main form button.danger");
    await page.goto("/feeds");
    expect(await main(owner)).not.toContain("Cameras");
    await owner.screenshot("console-feeds");
  });

  test("check before they register", async () => {
    const owner = await testConsole.signInAs("check@example.org", { map: "sharp" });
    const { page } = owner;
    const tryText = async (json: string): Promise<string> => {
      await page.goto("/check");
      await page.locator("#json").fill(json);
      await clickAndWait(page, "main form button[type=submit]");
      return main(owner);
    };
    expect(await tryText(JSON.stringify([camera("a"), camera("b", { lat: null })]))).toContain("1 would be accepted, 1 rejected");
    await page.locator(".map canvas").waitFor();
    await eventually("a pin", async () => (await countPixels(page, cameraBlue)) > 100);
    await owner.screenshot("console-check");
    expect(await tryText('[\n{"external_id": "a" "kind": 1}]')).toContain("error in line 2, character 21");
    expect(await main(owner)).toContain("not valid JSON");
    await owner.screenshot("console-check-wrong");
    expect(await tryText('{"rows": []}')).toContain("not a top-level JSON array");
    await page.goto("/check");
    await page.locator("#pull_url").fill(testConsole.provider.url("nothing.json"));
    await clickAndWait(page, "main form button[type=submit]");
    expect(await main(owner)).toContain("the server returned 404");
    await page.goto("/check");
    await page.locator("#pull_url").fill(testConsole.provider.publish("fine.json", [camera("a")]));
    await clickAndWait(page, "main form button[type=submit]");
    expect(await main(owner)).toContain("1 row would be accepted");
    await clickAndWait(page, "main form[action='/feeds/new'] button");
    expect(await page.locator("#pull_url").inputValue()).toBe(testConsole.provider.url("fine.json"));
    expect(await page.locator("input[name=direction][value=pull]").isChecked()).toBe(true);
  });

  test("register with the keyboard alone, and are told what is wrong where", async () => {
    const owner = await testConsole.signInAs("keys@example.org", { javaScriptEnabled: false });
    const { page } = owner;
    await page.goto("/feeds/new");
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.getAttribute("name") ?? document.activeElement?.textContent.trim() ?? "");
    const tabTo = async (what: string): Promise<void> => {
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press("Tab");
        if ((await focused()) === what) return;
      }
      throw new Error(`no way to ${what} by Tab: at ${await focused()}`);
    };
    await tabTo("direction");
    await page.keyboard.press("ArrowDown"); // pull
    await tabTo("pull_url");
    await page.keyboard.type("http://10.0.0.1/roads.json");
    await tabTo("name");
    await page.keyboard.type("By keys");
    await tabTo("Register");
    await Promise.all([page.waitForEvent("domcontentloaded"), page.keyboard.press("Enter")]);
    expect(owner.errors.splice(0), "422").toHaveLength(1);
    const badTexts = page.locator("#pull_url");
    expect(await badTexts.getAttribute("aria-invalid")).toBe("true");
    const described = (await badTexts.getAttribute("aria-describedby")) ?? "";
    expect(await page.locator(`#${described.split(" ")[0] ?? ""}`).innerText()).not.toBe("");
    expect(await page.locator("#name").inputValue()).toBe("By keys");
    await owner.screenshot("console-feed-new-wrong");
    await page.locator(".summary a").first().focus();
    await page.keyboard.press("Enter");
    expect(await focused()).toBe("pull_url");
    await page.keyboard.press("Control+A");
    await page.keyboard.type(testConsole.provider.publish("keys.json", [camera("a")]));
    await page.keyboard.press("Enter");
    await page.waitForURL("**/feeds/*done=register");
    expect(await heading(owner)).toBe("By keys");
  });
});

describe("curators", () => {
  test("approve and reject feeds, and the owner gets a mail", async () => {
    const owner = await testConsole.signInAs("careful@example.org", { locale: "de-DE" });
    const sound = await registerPull(owner, "Sound data", testConsole.provider.publish("sound.json", [camera("a")]), "public");
    const odd = (await registerPush(owner, "Odd data", "public")).address;
    expect((await owner.page.goto("/review"))?.status()).toBe(403);
    expect(owner.errors.splice(0)).toHaveLength(1);

    const curator = await testConsole.signInAs("curator@example.org", { role: "curator" });
    const { page } = curator;
    await page.goto("/review");
    await curator.screenshot("console-review");
    expect(await main(curator)).toContain("Odd data");
    await page.getByRole("link", { name: "Sound data" }).click();
    await page.waitForURL("**/review/*");
    const text = await main(curator);
    expect(text).toContain("careful@example.org");
    expect(text).toContain("provider.example.org");
    await page.locator(".map canvas").waitFor();
    await curator.screenshot("console-review-feed");
    await clickAndWait(page, "form[action$='/approve'] button");
    expect(await main(curator)).toContain("Approved. The owner will be e-mailed.");

    await page.goto("/review");
    await page.getByRole("link", { name: "Odd data" }).click();
    await page.locator("#note").fill("Nothing was pushed yet.\nPush a row first.");
    await clickAndWait(page, "form[action$='/reject'] button[type=submit]");
    expect(await main(curator)).toContain("Rejected. The owner will be e-mailed your note.");
    await page.goto("/audit");
    expect(await main(curator)).toContain("feed rejected");
    await curator.screenshot("console-audit");

    const [yes, no] = await eventually("two e-mails", () => {
      const found = testConsole.mails("careful@example.org");
      return Promise.resolve(found.length >= 2 && found);
    });
    expect(`${yes?.subject ?? ""} ${no?.subject ?? ""}`).toMatch(/Sound data.*Odd data|Odd data.*Sound data/);
    expect(`${yes?.text ?? ""} ${no?.text ?? ""}`).toContain("Nothing was pushed yet.");
    expect(yes?.html).toContain('lang="de"');
    await owner.page.goto(odd);
    expect(await main(owner)).toContain("Push a row first.");
    await owner.page.goto(sound);

    // Now guests see it, with its attribution and licence.
    const guest = await testConsole.visit("/sources", { map: "sharp" });
    await guest.page.getByRole("link", { name: "Sound data" }).click();
    await guest.page.waitForURL("**/sources/*");
    expect(await guest.page.getByRole("link", { name: "CC-BY-4.0" }).getAttribute("href")).toBe("https://creativecommons.org/licenses/by/4.0/legalcode");
    await guest.page.locator(".map canvas").waitFor();
    await eventually("a pin", async () => (await countPixels(guest.page, cameraBlue)) > 100);
    await guest.screenshot("console-source");
    await guest.page.goto("/status");
    expect(await main(guest)).toContain("All systems operational");
  });
});

describe("accounts", () => {
  test("revoke a paired car", async () => {
    const owner = await testConsole.signInAs("driver@example.org");
    const car = await testConsole.visit("/about");
    const begun = (await (await car.page.request.post("/v2/auth/pair", { data: {} })).json()) as { user_code: string; device_code: string };
    await owner.page.goto(`/pair?code=${begun.user_code}`);
    await clickAndWait(owner.page, "main form button");
    const answer = await car.page.request.post("/v2/auth/pair/token", { data: { device_code: begun.device_code } });
    expect(answer.status()).toBe(200);
    expect((await car.page.request.get("/v2/account")).status()).toBe(200);
    await owner.page.goto("/account");
    await owner.screenshot("console-account");
    const paired = owner.page.locator("li", { hasText: "paired car" });
    await Promise.all([owner.page.waitForEvent("domcontentloaded"), paired.getByRole("button").click()]);
    expect(await main(owner)).toContain("That device is signed out.");
    expect((await car.page.request.get("/v2/account")).status()).toBe(401);
  });

  test("make and revoke a token for reading", async () => {
    const owner = await testConsole.signInAs("reader@example.org");
    const { page } = owner;
    await page.goto("/account");
    await page.locator("#tokens ~ form #name, #name").first().fill("our server");
    await clickAndWait(page, "form[action='/account/tokens'] button");
    const [token = ""] = /ws\w_\w+/.exec(await main(owner)) ?? [];
    await page.reload(); // creates no second token
    expect(await main(owner)).toContain(token);
    expect(((await (await page.request.get("/v2/account/tokens")).json()) as { tokens: unknown[] }).tokens).toHaveLength(1);
    const guest = await testConsole.visit("/about");
    const read = (): Promise<APIResponse> => guest.page.request.get("/v2/entities/nearby?lat=52&lng=5&radius=1000", { headers: { Authorization: `Bearer ${token}` } });
    expect((await read()).status()).toBe(200);
    await page.goto("/account");
    await page.locator("a[href$='/revoke']").first().click();
    await clickAndWait(page, "main form button");
    expect((await read()).status()).toBe(401);
  });

  test("take their data with them, and are gone", async () => {
    const owner = await testConsole.signInAs("leaving@example.org");
    const { page } = owner;
    const { address } = await registerPush(owner, "Left behind");
    await page.goto("/account");
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("a[href='/v2/account/export']").click()]);
    const file = join(tmpdir(), `wayside-export-${String(process.pid)}.json`);
    await download.saveAs(file);
    const saved = readFileSync(file, "utf8");
    rmSync(file);
    expect(saved).toContain("leaving@example.org");
    expect(saved).toContain("Left behind");
    await page.goto("/account/delete");
    await page.locator("#email").fill("somebody@example.org");
    await clickAndWait(page, "main form button.danger");
    expect(owner.errors.splice(0), "422").toHaveLength(1);
    await owner.screenshot("console-account-delete");
    await page.locator("#email").fill("leaving@example.org");
    await clickAndWait(page, "main form button.danger");
    expect(await main(owner)).toContain("Your account is deleted.");
    await page.goto(address);
    expect(new URL(page.url()).pathname).toBe("/sign-in");
    expect(testConsole.cli("account", "list")).not.toContain("leaving@example.org");
  });
});
