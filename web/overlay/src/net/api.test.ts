import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { getAlerts, getConfig, getDrive, getKinds, send } from "./api.ts";

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
  const page = readFileSync(new URL("../../index.html", import.meta.url), "utf8");
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

test("alerts are asked for by the car's state, without what is not known of it", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", (path: string) => {
    asked.push(path);
    return Promise.resolve(new Response("{}"));
  });
  const car = { place: { lat: 52, lng: 5 }, heading: 80.4, speed: 120 };
  await getAlerts({ ...car, seen: [], session: null, state: null }, {});
  await getAlerts({ ...car, seen: ["a", "b"], session: "s", state: "t" }, {});
  const known = "/v2/alerts?lat=52.0000&lng=5.0000&heading=80&speed=100.0";
  expect(asked).toEqual([known, `${known}&seen=a%2Cb&session=s&state=t`]);
});

test("only a request with a body says what it sends", async () => {
  const sent: RequestInit[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    sent.push(init);
    return Promise.resolve(new Response());
  });
  await send("DELETE", "/v2/thing");
  await send("POST", "/v2/thing", { a: 1 });
  expect(sent).toEqual([{ method: "DELETE" }, { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"a":1}' }]);
});
