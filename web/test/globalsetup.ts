// Builds the service and starts its demos for all browser tests. The keys below are what tests can inject; harness.ts uses them.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** One demo for each process that runs tests: owndemo.ts returns that of a process. */
    demos: DemoPlace[];
    /** Path of the service's program, for tests that start another demo. */
    program: string;
  }
}

const root = new URL("../..", import.meta.url).pathname;

// Features that only cost time or send requests. The first two are pages of their own behind the address field, which no test sees and
// which took half of the pages' processor time: one of each for every window, and each test opens one. The rest is what Playwright
// turns off and matters here: this list replaces Playwright's.
const needless = [
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  ...["AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable"],
  ...["HttpsUpgrades", "LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning"],
];

// Debian's Chromium without background requests; WebGL is rendered by the processor.
export const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--site-per-process", // as people's browsers do, and the one without windows does not: an app's work is not the page's
  "--host-resolver-rules=MAP *.test 127.0.0.1", // sites of other names, for apps
  `--disable-features=${needless.join(",")}`,
];

/**
 * findChromium returns $CHROMIUM or the path where Debian and others install it: for tests that without windows if it is there, which
 * takes a quarter less of the processor, and for measures the one that people have.
 */
export function findChromium(measured = false): string {
  const shell = "/usr/bin/chromium-headless-shell";
  const candidates = [process.env["CHROMIUM"], ...(measured ? [] : [shell]), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const found = candidates.find((path) => path !== undefined && existsSync(path));
  if (found === undefined) throw new Error("no Chromium: apt-get install chromium, or name it in $CHROMIUM");
  return found;
}

/** build builds the service's program, unless $WAYSIDE names one. */
function build(folder: string): string {
  const given = process.env["WAYSIDE"];
  if (given !== undefined) return given;
  const program = join(folder, "wayside");
  const built = spawnSync("go", ["build", "-o", program, "./cmd/wayside"], { cwd: root, stdio: "inherit" });
  if (built.status !== 0) throw new Error("the service does not build");
  return program;
}

/** DemoPlace is where a demo is found. */
export interface DemoPlace {
  /** Its URL, without a trailing slash. */
  address: string;
  /** Folder of its mails. */
  outbox: string;
  /** Path to which the rows of the town's live feed are pushed. */
  push: string;
}

/** Demo is a running demo. */
export interface Demo extends DemoPlace {
  /** end stops the process and waits for it. */
  end: () => Promise<void>;
}

/** startDemo starts the demo, on a free port by default, and waits until it prints its URL. */
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
      const [, address, outbox, push] = /the service at (http:\/\/[\d.:]+)[^]*e-mails are written to\n(.+)\n[^]*(\/v2\/feeds\/wsp_\w+\/entities)/.exec(text) ?? [];
      if (address !== undefined && outbox !== undefined && push !== undefined) resolve({ address, outbox, push, end });
    });
    child.once("exit", (code) => {
      reject(new Error(`the demo ended with ${String(code)}`));
    });
  });
}

export default async function start(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "wayside-web-"));
  const program = build(folder);
  const demos = await Promise.all(Array.from({ length: project.vitest.config.maxWorkers }, () => startDemo(program)));
  project.provide("demos", demos.map(({ address, outbox, push }) => ({ address, outbox, push })));
  project.provide("program", program);
  return async () => {
    await Promise.all(demos.map(({ end }) => end()));
    rmSync(folder, { recursive: true, force: true });
  };
}
