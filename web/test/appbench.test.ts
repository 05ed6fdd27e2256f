// The app bench and `wayside app check`: the same checks, on the bench's page and in a browser of the command's own.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import ts from "typescript";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import type { Report } from "../console/src/bench/checks.ts";
import { findChromium } from "./globalsetup.ts";
import type { Car } from "./harness.ts";
import { openTestConsole, type TestConsole } from "./testconsole.ts";

const examples = new URL("../../examples/apps/", import.meta.url);
const readExample = (name: string): string => readFileSync(new URL(name, examples), "utf8");

/** A page that does what apps must not do. */
const badPage = `<!doctype html><script>
addEventListener("message", ({ data }) => {
  if (data.theme === "night") null.x;
  if (data.units === "imperial") alert(1);
  if (data.uiSize === 10) parent.postMessage({ hello: 1 }, "*");
  if (data.size.width === 240) for (let i = 0; i < 20; i++) parent.postMessage({ type: "ready" }, "*");
});
parent.postMessage({ type: "ready" }, "*");
</script>`;

let apps: Server;
let origin: string;
let requested: string[] = [];
let testConsole: TestConsole;
let developer: Car;

/** starterScript is a built script of the TypeScript example. */
const starterScript = (name: string): string =>
  ts.transpileModule(readExample(`typescript/src/${name}.ts`), { compilerOptions: { target: ts.ScriptTarget.ES2019, module: ts.ModuleKind.ESNext } }).outputText;

const files: Record<string, () => [type: string, body: string, headers?: Record<string, string>]> = {
  "/plain/": () => ["text/html", readExample("plain/index.html")],
  "/starter/": () => ["text/html", readExample("typescript/index.html")],
  "/starter/style.css": () => ["text/css", readExample("typescript/style.css")],
  "/starter/dist/main.js": () => ["text/javascript", starterScript("main")],
  "/starter/dist/client.js": () => ["text/javascript", starterScript("client")],
  "/bad/": () => ["text/html", badPage],
  "/deny/": () => ["text/html", readExample("plain/index.html"), { "X-Frame-Options": "DENY" }],
  "/named/": () => ["text/html", readExample("plain/index.html"), { "Content-Security-Policy": "frame-ancestors https://map.example.org" }],
};

beforeAll(async () => {
  apps = createServer((request, answer) => {
    requested.push(request.url ?? "");
    const [type, body, headers] = files[request.url ?? ""]?.() ?? ["text/plain", "not here"];
    answer.writeHead(body === "not here" ? 404 : 200, { "Content-Type": type, ...headers }).end(body);
  });
  await new Promise<void>((resolve) => apps.listen(0, "127.0.0.1", resolve));
  origin = `http://localhost:${String((apps.address() as AddressInfo).port)}`;
  testConsole = await openTestConsole({ more: `[apps]\nenabled = true\ndev_origins = [${JSON.stringify(origin)}]` });
});

let developers = 0;

beforeEach(async () => {
  developer = await testConsole.signInAs(`developer${String(++developers)}@example.org`, { firstVisit: true });
});

afterEach(() => {
  developer.requests = developer.requests.filter((url) => !url.startsWith(origin)); // what the developer opened
});

afterAll(async () => {
  await testConsole.end();
  apps.closeAllConnections();
  apps.close();
});

/** runCheck runs wayside app check. */
function runCheck(path: string, ...flags: string[]): Promise<{ code: number; report: Report | null; said: string }> {
  return new Promise((resolve) => {
    const args = ["app", "check", `${origin}${path}`, "--json", "--no-sandbox", "--browser", findChromium(), ...flags];
    execFile(inject("program"), args, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, report: stdout === "" ? null : (JSON.parse(stdout) as Report), said: stderr });
    });
  });
}

const failed = (report: Report | null): string[] => (report?.checks ?? []).filter(({ result }) => result === "fail").map(({ check, seen }) => `${check}: ${seen}`);

/** openBench opens the bench of a page. */
async function openBench(path: string): Promise<void> {
  await developer.page.goto(`/apps/bench?url=${encodeURIComponent(origin + path)}`);
  await developer.page.locator("[data-do=open]").waitFor();
}

/** check presses the button and returns the report. */
async function check(): Promise<Report> {
  const { page } = developer;
  await page.locator("[data-do=check]").click();
  await page.locator("[data-json]:not([hidden])").waitFor();
  return JSON.parse((await page.locator("[data-json] code").textContent()) ?? "") as Report;
}

test("the bench opens a page when its developer asks for it, and shows each message", async () => {
  const { page } = developer;
  requested = [];
  await openBench("/plain/");
  await page.waitForLoadState("load");
  expect(requested).toEqual([]); // a link to the bench opens nothing
  await page.locator("#values").fill('{"name":"Ada"}');
  await page.locator("[data-do=open]").click();
  const app = page.frameLocator("iframe");
  await app.getByText("Hello, Ada").waitFor();
  const attributes = await page.locator("iframe").evaluate((frame) => Object.fromEntries([...frame.attributes].filter(({ name }) => name !== "style" && name !== "src").map(({ name, value }) => [name, value])));
  expect(attributes).toEqual({ sandbox: "allow-scripts allow-same-origin allow-forms", allow: "", referrerpolicy: "no-referrer", loading: "eager" });
  await page.locator("#theme").selectOption("night");
  await app.getByText("night, metric, 320 × 480").waitFor();
  await page.locator("#width").fill("400");
  await page.locator("#units").selectOption("imperial");
  await app.getByText("night, imperial, 400 × 480").waitFor();
  await page.locator("[data-log]").getByText('{"type":"ready"}').waitFor();
});

test("the checks pass for both examples, on the bench and in the command", async () => {
  const schema = new URL("typescript/submission.json", examples).pathname;
  const [plain, starter, named] = await Promise.all([
    openBench("/plain/").then(check),
    runCheck("/starter/", "--schema", schema),
    runCheck("/named/", "--as", "https://map.example.org"),
  ]);
  expect([failed(plain), plain.passed, plain.made_by]).toEqual([[], true, "bench"]);
  expect([failed(starter.report), starter.code, starter.report?.made_by, starter.said]).toEqual([[], 0, "command", ""]);
  expect([failed(named.report), named.code]).toEqual([[], 0]);
  expect(starter.report?.checks.map(({ check }) => check)).toEqual(plain.checks.map(({ check }) => check));
});

test("the checks name what is wrong", async () => {
  const [bench, bad, deny] = await Promise.all([openBench("/bad/").then(check), runCheck("/bad/"), runCheck("/deny/")]);
  // A page can't see errors in a frame of another site; the command can.
  expect(failed(bench).map((text) => text.split(":")[0])).toEqual(["density", "size"]);
  expect(failed(bench)[0]).toContain('such as {"hello":1}');
  expect(failed(bench)[1]).toContain("ready messages");
  expect(bad.code).toBe(1);
  const seen = failed(bad.report).join("\n");
  expect(seen).toMatch(/theme: uncaught error: TypeError/);
  expect(seen).toMatch(/units: Ignored call to 'alert\(\)'/);
  expect(seen).toMatch(/loads-again: uncaught error/);
  expect(deny.code).toBe(1);
  expect(failed(deny.report).map((text) => text.split(":")[0])).toEqual(["loads", "ready"]);
  developer.errors.splice(0); // of the bad page
});
