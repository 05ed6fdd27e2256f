// Builds the service and starts its demo and one Chromium for all browser tests. What the tests are given is in the keys
// below; harness.ts uses them.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** Address of the demo, without a slash at the end. */
    service: string;
    /** Where the demo puts its letters. */
    outbox: string;
    /** The service's program, for tests that start a demo of their own. */
    program: string;
    /** Where the browser listens. */
    browser: string;
  }
}

const root = new URL("../..", import.meta.url).pathname;

// Debian's Chromium, without what it would ask the world by itself; WebGL is drawn by the processor.
export const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
];

/** The browser's program: $CHROMIUM, or where Debian and others put it. */
export function findChromium(): string {
  const candidates = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const found = candidates.find((path) => path !== undefined && existsSync(path));
  if (found === undefined) throw new Error("no Chromium: apt-get install chromium, or name it in $CHROMIUM");
  return found;
}

/** build makes the service's program, unless $WAYSIDE names one that is there. */
function build(folder: string): string {
  const given = process.env["WAYSIDE"];
  if (given !== undefined) return given;
  const program = join(folder, "wayside");
  const built = spawnSync("go", ["build", "-o", program, "./cmd/wayside"], { cwd: root, stdio: "inherit" });
  if (built.status !== 0) throw new Error("the service does not build");
  return program;
}

/** Demo is one that runs. */
export interface Demo {
  /** Its address, without a slash at the end. */
  address: string;
  /** Where it puts its letters. */
  outbox: string;
  /** end waits until the process is gone. */
  end: () => Promise<void>;
}

/** startDemo starts the demo, on a free port if none is named, and waits until it says where it is. */
export async function startDemo(program: string, listen = "127.0.0.1:0"): Promise<Demo> {
  const child = spawn(program, ["demo", "--listen", listen], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
  });
  const end = (): Promise<void> => {
    child.kill("SIGTERM");
    return ended;
  };
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const [, address, outbox] = /the service at (http:\/\/[\d.:]+)[^]*letters are put into\n(.+)\n/.exec(text) ?? [];
      if (address !== undefined && outbox !== undefined) resolve({ address, outbox, end });
    });
    child.once("exit", (code) => {
      reject(new Error(`the demo ended with ${String(code)}`));
    });
  });
}

export default async function start(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "wayside-web-"));
  const program = build(folder);
  const { address, outbox, end } = await startDemo(program);
  const browser = await chromium.launchServer({ executablePath: findChromium(), args: flags, chromiumSandbox: false });
  project.provide("service", address);
  project.provide("outbox", outbox);
  project.provide("program", program);
  project.provide("browser", browser.wsEndpoint());
  return async () => {
    await browser.close();
    await end();
    rmSync(folder, { recursive: true, force: true });
  };
}
