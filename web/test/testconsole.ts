// A separate service for tests of the console: its mails are in a folder, its command line changes roles, and it fetches feeds from a
// provider on this machine whose answers a test sets.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { createServer as createPlainServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { inject } from "vitest";
import { eventually, openCar, type Car, type CarOptions } from "./harness.ts";
import { ownDemo } from "./owndemo.ts";

const providerHost = "provider.example.org";

/** Provider is an HTTPS server of JSON files. */
export interface Provider {
  /** url returns a file's URL. */
  url(file: string): string;
  /** publish sets a file's content; a body that is not a string is sent as JSON. */
  publish(file: string, body: unknown, status?: number): string;
}

export interface TestConsole {
  address: string;
  provider: Provider;
  /** cli runs a command of the service's program and returns its output. */
  cli(...args: string[]): string;
  /** mails returns the mails to an address, oldest first. */
  mails(email: string): Mail[];
  /** visit opens a page as on a desk, in a separate browser context. */
  visit(path: string, options?: CarOptions): Promise<Car>;
  /** signInAs signs a new browser context in, without a mail. */
  signInAs(email: string, options?: CarOptions & { role?: "curator" | "admin" }): Promise<Car>;
  end(): Promise<void>;
}

export interface Mail {
  subject: string;
  text: string;
  html: string;
}

export const desktop = { width: 1280, height: 900 };

/** openTestConsole starts the service and the provider. more is prepended to its configuration, named is its host name for browsers. */
export async function openTestConsole({ more = "", named = "127.0.0.1" } = {}): Promise<TestConsole> {
  const folder = mkdtempSync(join(tmpdir(), "wayside-desk-"));
  const { server, provider, ca } = await openProvider(folder);
  const port = await freePort();
  const address = `http://${named}:${String(port)}`;
  const data = join(folder, "data");
  mkdirSync(data);
  const config = join(folder, "wayside.toml");
  writeFileSync(
    config,
    `base_url = ${JSON.stringify(address)}
data_dir = ${JSON.stringify(data)}
${more}
[http]
listen = "127.0.0.1:${String(port)}"
trusted_proxies = ["127.0.0.1/32"]
[limits]
feeds_per_account = 100
manage_per_minute = 10000
[egress]
ca_file = ${JSON.stringify(ca)}
hosts = { "${providerHost}" = "127.0.0.1" }
[log]
level = "error"
`,
  );
  cpSync(demoRegion(), join(data, "region"), { recursive: true }); // the map
  const program = inject("program");
  const child = spawn(program, ["serve", "--config", config], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
  });
  await eventually("the service answers", () => fetch(`${address}/readyz`).then((answer) => answer.ok, () => false));
  const cli = (...args: string[]): string => execFileSync(program, [...args, "--config", config], { encoding: "utf8" });
  const visit = (path: string, options: CarOptions = {}): Promise<Car> =>
    openCar(path, { baseURL: address, viewport: desktop, place: null, locale: "en-IE", ...options });
  return {
    address,
    provider,
    cli,
    visit,
    mails: (email) => readMails(join(data, "outbox"), email),
    async signInAs(email, { role, ...options } = {}) {
      cli("account", "create", "--email", email);
      if (role !== undefined) cli("account", "role", "--email", email, role);
      const [link = ""] = /http\S+/.exec(cli("account", "login-link", "--email", email)) ?? [];
      const visitor = await visit(link, options);
      await clickAndWait(visitor.page, "main form button");
      await visitor.page.locator(".self[href='/account']").waitFor();
      return visitor;
    },
    async end() {
      child.kill("SIGTERM");
      await ended;
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** clickAndWait clicks a button and waits for the page that it leads to. */
export async function clickAndWait(page: Page, what: string): Promise<void> {
  await Promise.all([page.waitForEvent("domcontentloaded"), page.locator(what).first().click()]);
}

/** demoRegion is the folder of the demo's region, which has the town's map, beside its mails. */
const demoRegion = (): string => join(ownDemo().outbox, "..", "region");

/** freePort returns an unused port. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createPlainServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}

async function openProvider(folder: string): Promise<{ server: Server; provider: Provider; ca: string }> {
  const [key, ca] = [join(folder, "key.pem"), join(folder, "ca.pem")];
  const made = spawnSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj", "/CN=provider"],
    ...["-addext", `subjectAltName=DNS:${providerHost}`, "-keyout", key, "-out", ca],
  ]);
  if (made.status !== 0) throw new Error("no certificate for the provider: these tests need openssl");
  const answers = new Map<string, { status: number; body: string }>();
  const server = createServer({ key: readFileSync(key), cert: readFileSync(ca) }, (request, answer) => {
    const { status, body } = answers.get(request.url ?? "") ?? { status: 404, body: "not here" };
    answer.writeHead(status, { "Content-Type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = (file: string): string => `https://${providerHost}:${String(port)}/${file}`;
  const publish = (file: string, body: unknown, status = 200): string => {
    answers.set(`/${file}`, { status, body: typeof body === "string" ? body : JSON.stringify(body) });
    return url(file);
  };
  return { server, provider: { url, publish }, ca };
}

/** readMails reads a folder of .eml files. */
export function readMails(outbox: string, email: string): Mail[] {
  let names: string[];
  try {
    names = readdirSync(outbox);
  } catch {
    return []; // no mail was sent yet
  }
  const texts = names.filter((name) => name.endsWith(".eml")).sort().map((name) => readFileSync(join(outbox, name), "utf8").replace(/\r\n/g, "\n"));
  return texts.filter((text) => new RegExp(`^To: .*${email.replace(/[.+]/g, "\\$&")}`, "m").test(text)).map(parseMail);
}

function parseMail(raw: string): Mail {
  const [, subject = ""] = /^Subject: (.*(?:\n[ \t].*)*)/m.exec(raw) ?? [];
  const randomByte = (type: string): string => {
    const [, head = "", body = ""] = new RegExp(`((?:^.+\\n)*^Content-Type: ${type}(?:.*\\n[ \\t].*|.*)\\n(?:^.+\\n)*)\\n([^]*?)(?:\\n--|(?![^]))`, "m").exec(raw) ?? [];
    if (/quoted-printable/i.test(head)) return decodeQuotedPrintable(body);
    return /base64/i.test(head) ? Buffer.from(body, "base64").toString() : body;
  };
  return { subject: decodeSubject(subject), text: randomByte("text/plain"), html: randomByte("text/html") };
}

function decodeQuotedPrintable(text: string): string {
  const bytes = text.replace(/=\n/g, "").replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return /[\u0080-\u00ff]/.test(bytes) ? Buffer.from(bytes, "latin1").toString() : bytes;
}

function decodeSubject(subject: string): string {
  const joined = subject.replace(/\?=\s+=\?/g, "?==?").replace(/\n[ \t]/g, " ");
  return joined.replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, how: string, text: string) =>
    how.toLowerCase() === "b" ? Buffer.from(text, "base64").toString() : decodeQuotedPrintable(text.replace(/_/g, " ")),
  );
}
