// Passkeys, with the virtual authenticator of Chromium: a finger that always touches, until it is told not to.

import type { CDPSession } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { check, phoneTouch } from "./checks.ts";
import { openDesk, press, type Desk } from "./desk.ts";
import type { Car } from "./harness.ts";

let desk: Desk;

beforeAll(async () => {
  desk = await openDesk({ named: "localhost", more: '[review]\nrequire = "passkey"' });
});

afterAll(() => desk.end());

interface Finger {
  devtools: CDPSession;
  authenticatorId: string;
  /** touches says whether whoever is asked is there. */
  touches(whether: boolean): Promise<void>;
  /** lend gives the passkeys of this device to another browser's. */
  lend(to: Finger): Promise<void>;
}

/** plugIn gives a browser a device that keeps passkeys. */
async function plugIn({ page, context }: Car): Promise<Finger> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  });
  return {
    devtools,
    authenticatorId,
    touches: async (isUserVerified) => {
      await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
    async lend(to) {
      const { credentials } = await devtools.send("WebAuthn.getCredentials", { authenticatorId });
      for (const credential of credentials) await to.devtools.send("WebAuthn.addCredential", { authenticatorId: to.authenticatorId, credential });
    },
  };
}

const main = ({ page }: Car): Promise<string> => page.locator("main").innerText();

test("is added, named, used elsewhere, and removed", async () => {
  const email = "ada@example.org";
  const ada = await desk.become(email);
  const device = await plugIn(ada);
  await ada.page.goto("/account");
  await check(ada.page, "account with passkeys", phoneTouch);
  await ada.page.getByRole("button", { name: "Add a passkey" }).click();
  await ada.page.getByRole("heading", { name: "Your passkey" }).waitFor();
  await check(ada.page, "passkey", phoneTouch);
  await ada.shot("passkey");
  await ada.page.locator("#name").fill("My finger");
  await press(ada.page, "main form button");
  expect(await main(ada)).toContain("My finger");
  await ada.shot("passkeys");

  // The same device has one already, and the browser says so.
  await ada.page.getByRole("button", { name: "Add a passkey" }).click();
  await ada.page.getByText("This device has a passkey of yours already.").waitFor();

  const elsewhere = await desk.visit("/sign-in?next=/account");
  const other = await plugIn(elsewhere);
  await device.lend(other);
  await elsewhere.page.getByRole("button", { name: "Use a passkey" }).waitFor();
  await check(elsewhere.page, "sign-in with passkeys", phoneTouch);
  await elsewhere.shot("passkey-sign-in");
  await elsewhere.page.getByRole("button", { name: "Use a passkey" }).click();
  await elsewhere.page.getByRole("heading", { name: "Your account" }).waitFor();
  expect(await main(elsewhere)).toContain(email);

  await elsewhere.page.getByRole("link", { name: "Change: My finger" }).click();
  await elsewhere.page.getByRole("link", { name: "Remove" }).click();
  await press(elsewhere.page, "main form button");
  expect(await main(elsewhere)).not.toContain("My finger");

  const late = await desk.visit("/sign-in");
  await other.lend(await plugIn(late));
  await late.page.getByRole("button", { name: "Use a passkey" }).click();
  await late.page.getByText("This passkey is not known here.").waitFor();
  expect(late.errors.splice(0)).toHaveLength(1); // the browser tells of the 401
});

test("is asked for before a curator decides", async () => {
  const owner = await desk.become("owner@example.org");
  await owner.page.goto("/feeds/new");
  await owner.page.locator("input[name=direction][value=push]").check();
  await owner.page.locator("#name").fill("Roadworks");
  await owner.page.locator("input[name=visibility][value=public]").check();
  await press(owner.page, "main form button[type=submit]");

  const curator = await desk.become("curator@example.org", { role: "curator" });
  const device = await plugIn(curator);
  const { page } = curator;
  await page.goto("/account");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("heading", { name: "Your passkey" }).waitFor();
  await page.goto("/review");
  await page.getByRole("link", { name: /Roadworks/ }).first().click();
  await page.getByText("A decision needs a passkey of yours").waitFor();
  await curator.shot("passkey-review");

  const approve = page.locator("form[action$='/approve'] button");
  await device.touches(false);
  await approve.click();
  await page.getByText("That did not work. Try again.").waitFor();
  await device.touches(true);
  await approve.click();
  await page.waitForURL(/done=approved/);
  expect(await main(curator)).not.toContain("A decision needs a passkey");
});

test("is not offered without scripts", async () => {
  const { page } = await desk.visit("/sign-in", { javaScriptEnabled: false });
  expect(await page.getByRole("button", { name: "Use a passkey" }).count()).toBe(0);
});
