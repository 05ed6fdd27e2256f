import { expect, test } from "vitest";
import { driveUntil, openDemoDrive, type DemoDrive } from "./demodrive.ts";
import { eventually, screens } from "./harness.ts";
import { phoneScreen, signIn } from "./phonesignin.ts";

/** passPin drives until the page asks about a passed pin, unless it does already. The map is drawn from then on, for pictures. */
async function passPin(drive: DemoDrive): Promise<void> {
  if (await drive.car.page.locator(".still-there").isVisible()) return;
  await driveUntil("the question about a passed pin", drive, () => drive.car.page.locator(".still-there").isVisible());
  await drive.car.startDrawing();
  await drive.car.page.clock.runFor(20);
}

test("a guest who passes a decaying pin is asked to sign in", async () => {
  const drive = await openDemoDrive(true, { viewport: screens.middle, map: "blank", choices: { theme: "night" } });
  const { car } = drive;
  const box = car.page.locator(".still-there");
  await passPin(drive);
  expect(await box.locator("strong").first().textContent()).toBe("Still there?");
  expect(await box.getByRole("button", { name: "Still there" }).count()).toBe(0);
  await car.screenshot("still-there-guest");
  await car.page.setViewportSize(phoneScreen);
  await car.page.clock.runFor(50);
  await car.screenshot("still-there-guest-phone");
  await passPin(drive); // the question may have given way to a banner meanwhile
  await box.getByRole("button", { name: "Sign in once to help" }).click();
  await car.page.locator(".pairing").waitFor();
  await eventually("the page asked who is signed in", () => Promise.resolve(car.errors.length > 0));
  expect(car.errors.splice(0).every((error) => error.includes("401")), "nobody is signed in").toBe(true);
  expect(await box.isVisible()).toBe(false);
});

test("a driver who is signed in answers with one touch, and the answer is a vote", async () => {
  const drive = await openDemoDrive(true, { viewport: screens.middle, map: "blank", choices: { theme: "day" } }, async (page) => {
    await page.goto("/sign-in");
    await signIn(page, "passing@example.org");
    await page.evaluate(() => {
      localStorage.setItem("wayside.signed-in", "1");
    });
  });
  const { page } = drive.car;
  await passPin(drive);
  const box = page.locator(".still-there");
  for (const name of ["Still there", "Gone"]) expect((await box.getByRole("button", { name }).boundingBox())?.height).toBeGreaterThanOrEqual(44);
  await drive.car.screenshot("still-there");
  await page.setViewportSize(phoneScreen);
  await page.clock.runFor(50);
  await drive.car.screenshot("still-there-phone");
  const voted = page.waitForResponse((answer) => answer.url().endsWith("/confirm"));
  await box.getByRole("button", { name: "Still there" }).click();
  expect((await voted).status()).toBe(200);
  await eventually("the thanks", async () => {
    await page.clock.runFor(10);
    return box.locator(".reply", { hasText: "Marked as still there" }).isVisible();
  });
});
