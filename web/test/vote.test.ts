import { expect, test } from "vitest";
import { en } from "../overlay/src/i18n/en.ts";
import type { Entity } from "../overlay/src/net/wire.ts";
import { eventually, openCar, stopClock, touch, type Car } from "./harness.ts";
import { check } from "./pagechecks.ts";
import { openPhone, signIn } from "./phonesignin.ts";
import { findOne, read, readTown } from "./serviceclient.ts";

/** votesOn reads the counts as a guest, without the page. */
async function votesOn(id: string): Promise<string> {
  const { entity } = await read<{ entity: Entity }>(`/v2/entities/${encodeURIComponent(id)}`);
  return `${String(entity.confirm_count)} ${String(entity.dispute_count)}`;
}

/** touchPin touches the pin at the car's place. */
async function touchPin({ page }: Car, name: string): Promise<void> {
  const title = page.locator("#card-kind");
  await eventually("the pin's card", async () => {
    const car = await page.locator(".car-mark").boundingBox();
    if (car === null) return false;
    await touch(page, car.x + car.width / 2, car.y + car.height / 2 - 30); // the icon is above its place
    return (await title.isVisible()) && (await title.textContent()) === name;
  });
}

test("a phone signs the car in, and the car's votes count", async () => {
  const entity = await findOne("alert.road_closed");
  const [lng, lat] = entity.geom.coordinates;
  expect(await votesOn(entity.id)).toBe("0 0");
  const car = await openCar(`/?at=${String(lat)},${String(lng)}`, { locale: "en-IE", stopped: "later" });
  const { page } = car;

  // The car requests a code.
  await touchPin(car, "Road closed");
  expect(await page.locator(".votes").isVisible()).toBe(false);
  await page.getByRole("button", { name: "Sign in to vote" }).click();
  await page.locator(".pairing .code").waitFor();
  await eventually("the QR code is drawn", () => page.locator(".qr").evaluate((image) => (image as HTMLImageElement).naturalWidth > 50));
  const shown = (await page.locator(".pairing .code").textContent()) ?? "";
  expect(shown).toMatch(/^[B-DF-HJ-NP-TV-Z]{4}-[B-DF-HJ-NP-TV-Z]{4}$/);
  expect(car.errors.splice(0), "that nobody is signed in, which is asked first").toHaveLength(1);

  // The phone follows the QR code, signs in and sees the request.
  const phone = await openPhone(`/pair?code=${shown}`, { javaScriptEnabled: false });
  expect(new URL(phone.page.url()).pathname).toBe("/sign-in");
  await signIn(phone.page, "voter@example.org");
  expect(new URL(phone.page.url()).pathname).toBe("/pair");
  expect(await phone.page.locator("p.code").textContent()).toBe(shown);

  // Opening the link, even repeatedly, approves nothing.
  await phone.page.goto(`/pair?code=${shown}`);
  await phone.page.goto(`/pair?code=${shown}&answer=approve`);
  const asked = await page.waitForRequest("**/v2/auth/pair/token");
  expect((await asked.response())?.status()).toBe(202);
  expect(await page.locator(".votes").isVisible()).toBe(false);

  // The button approves, which the car shows for some seconds.
  await stopClock(page);
  await phone.page.getByRole("button", { name: "Approve" }).click();
  await phone.page.getByRole("heading", { name: "Your car is connected" }).waitFor();
  await eventually("the car says so", async () => {
    await page.clock.fastForward(100); // no faster than the service's clock, which limits how often it is asked
    return page.locator(".pairing .stand", { hasText: "Signed in" }).isVisible();
  });
  await page.clock.resume();
  await page.locator(".pairing").waitFor({ state: "hidden" });

  // The car votes, changes the vote and withdraws it.
  const [there, gone] = [page.getByRole("button", { name: "Still there" }), page.getByRole("button", { name: "Gone" })];
  await there.click();
  await eventually("a confirmation", async () => (await votesOn(entity.id)) === "1 0");
  await eventually("the card counts it", () => page.locator(".facts", { hasText: "1 confirmation" }).isVisible());
  expect(await there.getAttribute("aria-pressed")).toBe("true");
  await gone.click();
  await eventually("a dispute instead", async () => (await votesOn(entity.id)) === "0 1");
  await eventually("the button says so", async () => (await gone.getAttribute("aria-pressed")) === "true");
  await gone.click();
  await eventually("nothing", async () => (await votesOn(entity.id)) === "0 0");
  await eventually("the button is free", async () => (await gone.getAttribute("aria-pressed")) === "false");

  // The driver says that the pin's source is wrong, in two touches.
  await page.getByRole("button", { name: en["complaint.do"] }).click();
  await page.getByRole("button", { name: en["complaint.sure"] }).click();
  await page.locator(".reply", { hasText: en["complaint.thanks"] }).waitFor();
  expect(await page.locator(".complaint").isVisible()).toBe(false);
  await car.screenshot("complaint");

  // The driver reports fog in three touches, and takes it back, for which there are ten seconds.
  await page.locator(".card header .signed").click();
  await stopClock(page);
  await page.locator("#report").click();
  await page.getByRole("button", { name: "Hazard" }).click();
  await page.getByRole("button", { name: "Fog" }).waitFor();
  await check(page, "the tiles of hazards");
  await page.getByRole("button", { name: "Fog" }).click();
  const undo = page.locator(".report .undo");
  await page.locator(".report .outcome", { hasText: "Reported: Fog" }).waitFor();
  const isShown = async (): Promise<boolean> => (await readTown("alert.hazard.fog")).some(({ layer_slug: layer }) => layer === "drivers");
  expect(await isShown()).toBe(true);
  await undo.click();
  await page.locator(".report .outcome", { hasText: en["report.undone"] }).waitFor();
  expect(await isShown()).toBe(false);

  // What is on the map already is confirmed, which can be taken back too.
  await page.locator(".report .away").click();
  await page.locator("#report").click();
  await page.getByRole("button", { name: "Road closed" }).last().click();
  await page.locator(".report .outcome", { hasText: en["report.confirmed"] }).waitFor();
  expect(await votesOn(entity.id)).toBe("1 0");
  await undo.click();
  await page.locator(".report .outcome", { hasText: en["report.undone"] }).waitFor();
  expect(await votesOn(entity.id)).toBe("0 0");
  await page.clock.resume();

  // The sign-in survives a restart of the page, and signing out ends it.
  await page.reload();
  await page.locator(".menu-button").click();
  await page.locator("#menu-account").filter({ hasText: "voter@example.org" }).click();
  await page.locator("#account-do").filter({ hasText: "Sign out" }).click();
  await page.locator("#account-do").filter({ hasText: "Sign in" }).waitFor();
});

test("a phone that denies leaves the car signed out", async () => {
  const car = await openCar("/?at=52,5", { locale: "en-IE" });
  const { page } = car;
  await page.locator(".menu-button").click();
  await page.locator("#menu-account").click();
  await page.locator("#account-do").click();
  const code = page.locator(".pairing .code");
  await code.waitFor();
  const phone = await openPhone(`/pair?code=${(await code.textContent()) ?? ""}`, { javaScriptEnabled: false });
  await signIn(phone.page, "other@example.org");
  await phone.page.getByRole("button", { name: "Deny" }).click();
  await phone.page.getByRole("heading", { name: "Denied" }).waitFor();
  await page.locator(".pairing .stand", { hasText: en["pair.denied"] }).waitFor();
  expect(car.errors.splice(0), "nobody is signed in, and the answer is no").toHaveLength(2);
  expect(await page.locator(".pairing .code").isVisible()).toBe(false);
});
