// Signing in on a driver's phone, by a mailed code and without JavaScript.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { eventually, openCar, type Car, type CarOptions } from "./harness.ts";
import { ownDemo } from "./owndemo.ts";

export const phoneScreen = { width: 390, height: 844 };

/** openPhone opens a page in a separate browser context. */
export function openPhone(path: string, options: CarOptions = {}): Promise<Car> {
  return openCar(path, { viewport: phoneScreen, place: null, ...options });
}

/** readMailedCode waits for the mail to an address and returns its code. */
export function readMailedCode(email: string): Promise<string> {
  const { outbox } = ownDemo();
  return eventually(`an e-mail to ${email}`, () => {
    const mails = readdirSync(outbox).filter((name) => name.endsWith(".eml"));
    const texts = mails.map((name) => readFileSync(join(outbox, name), "utf8")).filter((text) => text.includes(`To: <${email}>`) || text.includes(`To: ${email}`));
    const [, code] = /\b(\d{8})\b/.exec(texts.at(-1)?.split(/\r?\n\r?\n/).slice(1).join("\n\n") ?? "") ?? [];
    return Promise.resolve(code);
  });
}

/** signIn submits the two forms of /sign-in; the page is at the first. look is called at each of them. */
export async function signIn(page: Page, email: string, look: (what: string) => Promise<void> = () => Promise.resolve()): Promise<void> {
  await page.getByLabel("Your e-mail address").fill(email);
  await look("address");
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("Code from the e-mail").fill(await readMailedCode(email));
  await look("code");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText(email).first().waitFor();
}
