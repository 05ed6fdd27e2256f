// Passkeys, with Chromium's virtual authenticator, which confirms every request unless told otherwise.

import type { CDPSession } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { check, phoneTouch } from "./pagechecks.ts";
import { openTestConsole, clickAndWait, type TestConsole } from "./testconsole.ts";
import type { Car } from "./harness.ts";

let testConsole: TestConsole;

beforeAll(async () => {
  testConsole = await openTestConsole({ named: "localhost", more: '[review]\nrequire = "passkey"' });
});

afterAll(() => testConsole.end());

interface Authenticator {
  devtools: CDPSession;
  authenticatorId: string;
  /** setUserPresent sets whether the authenticator verifies its user. */
  setUserPresent(whether: boolean): Promise<void>;
  /** copyCredentialsTo copies the passkeys of this device to another one. */
  copyCredentialsTo(to: Authenticator): Promise<void>;
}

/** addAuthenticator adds a device that stores passkeys to a browser. */
async function addAuthenticator({ page, context }: Car): Promise<Authenticator> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  });
  return {
    devtools,
    authenticatorId,
    setUserPresent: async (isUserVerified) => {
      await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
    async copyCredentialsTo(to) {
      const { credentials } = await devtools.send("WebAuthn.getCredentials", { authenticatorId });
      for (const credential of credentials) await to.devtools.send("WebAuthn.addCredential", { authenticatorId: to.authenticatorId, credential });
    },
  };
}

const main = ({ page }: Car): Promise<string> => page.locator("main").innerText();

test("is added, named, used elsewhere, and removed", async () => {
  const email = "ada@example.org";
  const ada = await testConsole.signInAs(email);
  const device = await addAuthenticator(ada);
  await ada.page.goto("/account");
  await check(ada.page, "account with passkeys", phoneTouch);
  await ada.page.getByRole("button", { name: "Add a passkey" }).click();
  await ada.page.getByRole("heading", { name: "Your passkey" }).waitFor();
  await check(ada.page, "passkey", phoneTouch);
  await ada.screenshot("passkey");
  await ada.page.locator("#name").fill("My finger");
  await clickAndWait(ada.page, "main form button");
  expect(await main(ada)).toContain("My finger");
  await ada.screenshot("passkeys");

  // The device already has a passkey, and the browser reports it.
  await ada.page.getByRole("button", { name: "Add a passkey" }).click();
  await ada.page.getByText("This device already has a passkey of yours.").waitFor();

  const otherAddress = await testConsole.visit("/sign-in?next=/account");
  const other = await addAuthenticator(otherAddress);
  await device.copyCredentialsTo(other);
  await otherAddress.page.getByRole("button", { name: "Use a passkey" }).waitFor();
  await check(otherAddress.page, "sign-in with passkeys", phoneTouch);
  await otherAddress.screenshot("passkey-sign-in");
  await otherAddress.page.getByRole("button", { name: "Use a passkey" }).click();
  await otherAddress.page.getByRole("heading", { name: "Your account" }).waitFor();
  expect(await main(otherAddress)).toContain(email);

  await otherAddress.page.getByRole("link", { name: "Change: My finger" }).click();
  await otherAddress.page.getByRole("link", { name: "Remove" }).click();
  await clickAndWait(otherAddress.page, "main form button");
  expect(await main(otherAddress)).not.toContain("My finger");

  const late = await testConsole.visit("/sign-in");
  await other.copyCredentialsTo(await addAuthenticator(late));
  await late.page.getByRole("button", { name: "Use a passkey" }).click();
  await late.page.getByText("This passkey is not known here.").waitFor();
  expect(late.errors.splice(0)).toHaveLength(1); // the browser logs the 401
});

test("is asked for before a curator decides", async () => {
  const owner = await testConsole.signInAs("owner@example.org");
  await owner.page.goto("/feeds/new");
  await owner.page.locator("input[name=direction][value=push]").check();
  await owner.page.locator("#name").fill("Roadworks");
  await owner.page.locator("input[name=visibility][value=public]").check();
  await clickAndWait(owner.page, "form.fields-of button[type=submit]");

  const curator = await testConsole.signInAs("curator@example.org", { role: "curator" });
  const device = await addAuthenticator(curator);
  const { page } = curator;
  await page.goto("/account");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("heading", { name: "Your passkey" }).waitFor();
  await page.goto("/review");
  await page.getByRole("link", { name: /Roadworks/ }).first().click();
  await page.getByText("A decision needs your passkey").waitFor();
  await curator.screenshot("passkey-review");

  const approve = page.locator("form[action$='/approve'] button");
  await device.setUserPresent(false);
  await approve.click();
  await page.getByText("That did not work. Try again.").waitFor();
  await device.setUserPresent(true);
  await approve.click();
  await page.waitForURL(/done=approved/);
  expect(await main(curator)).not.toContain("A decision needs a passkey");
});

test("is not offered without scripts", async () => {
  const { page } = await testConsole.visit("/sign-in", { javaScriptEnabled: false });
  expect(await page.getByRole("button", { name: "Use a passkey" }).count()).toBe(0);
});
