import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { getConfig, getDrive, getKinds } from "./api.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("what index.html preloads is requested as it was preloaded, since older browsers compare headers and credentials", async () => {
  const requests: Request[] = [];
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) => {
    requests.push(new Request(new URL(path, "http://service.test"), init));
    return Promise.resolve(new Response('{"kinds": []}'));
  });
  await Promise.all([getConfig(), getKinds()]);
  const page = readFileSync(new URL("../index.html", import.meta.url), "utf8");
  const preloads = [...page.matchAll(/<link rel="preload" as="fetch" href="([^"]+)" crossorigin="anonymous">/g)].map(([, href]) => href);
  expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(preloads);
  for (const { headers, credentials, mode } of requests) expect([[...headers], credentials, mode]).toEqual([[], "same-origin", "cors"]);
});

test("the demo is told only of the drive to a destination, for which it closes a bridge", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    return Promise.resolve(new Response("{}"));
  });
  await getDrive(4);
  await getDrive(null);
  expect(asked).toEqual(["/demo/drive.json?x=4", "/demo/drive.json"]);
});
