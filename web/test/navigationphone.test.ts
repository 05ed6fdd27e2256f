import type { Page } from "playwright-core";
import { afterEach, beforeAll, expect, test } from "vitest";
import { closeCars, eventually, openBrowser, openCar, town } from "./harness.ts";
import { panel, until } from "./leddrive.ts";
import { openPhone, signIn } from "./phonesignin.ts";

beforeAll(openBrowser);
afterEach(closeCars);

/** openAccount opens the part of the menu that signs in, or finds who is. */
async function openAccount(page: Page): Promise<void> {
  await page.locator(".menu-button").click();
  await page.locator("#menu-account").click();
  await page.locator("#account-do").click();
}

test("a phone sends a destination to its paired car, which is led there", async () => {
  const car = await openCar("/", { place: null, sensor: true, stopped: true, map: "blank", locale: "en-IE" });
  const { page } = car;
  await car.sendFix({ ...town, speed: 0 });
  await openAccount(page);
  const code = page.locator(".pairing .code");
  await until(page, "the car shows a code", async () => (await code.textContent({ timeout: 1000 }).catch(() => "")) !== "");
  car.errors.splice(0); // nobody was signed in, which is asked first

  const phone = await openPhone(`/pair?code=${(await code.textContent()) ?? ""}`, { place: town, map: "blank" });
  await signIn(phone.page, "phone-and-car@example.org");
  await phone.page.getByRole("button", { name: "Approve" }).click();
  await phone.page.getByRole("heading", { name: "Your car is connected" }).waitFor();
  await until(page, "the car is signed in", () => page.evaluate(() => localStorage.getItem("wayside.signed-in") !== null));

  await phone.page.goto("/"); // the map learns here who is signed in: guests' pages ask nothing
  await eventually("the phone's map knows who is signed in", () => phone.page.evaluate(() => localStorage.getItem("wayside.signed-in")));
  await phone.page.goto("/?to=geo:51.99,5.02?q=51.99,5.02(Mill%20%3Cb%3EFarm)");
  await phone.page.locator("#nav-send").click();
  await phone.page.getByText("Sent. Your car shows it within a minute.").waitFor();
  await phone.screenshot("navigation-phone");
  expect(await phone.page.locator("#nav-start").textContent(), "the phone does not drive there by itself").toBe("Start");

  await page.clock.fastForward(31_000);
  await until(page, "the car offers the ways", async () => (await page.locator(".way").count()) > 0);
  expect(await page.textContent("#nav-choice-title")).toBe("Mill <b>Farm");
  expect(await page.locator("#nav-send").isVisible(), "a car sends nothing").toBe(false);
  await car.screenshot("navigation-sent");
  await until(page, "the car is led", async () => (await panel(page)).figure !== "");
  expect((await panel(page)).name).toBe("8th Street");
  await eventually("nothing is sent twice", async () => {
    const taken = (await (await page.request.post("/v2/account/destination/take", { data: {} })).json()) as { destination: unknown };
    return taken.destination === null;
  });
});
