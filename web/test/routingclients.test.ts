// Clients of OSRM's API that others wrote work on our answers as they come from npm: they draw routes, and make sentences of steps.

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { rolldown } from "rolldown";
import { beforeAll, expect, test } from "vitest";
import { openCar } from "./harness.ts";

const from = { lat: "52", lng: "5" };
const to = { lat: "52.01", lng: "5.02" };

/** Modules that have no file for a script element. */
const entry = `
import instructions from "osrm-text-instructions";
import * as maplibre from "maplibre-gl";
import Directions from "@maplibre/maplibre-gl-directions";
Object.assign(window, { instructions: instructions("v5"), maplibre, Directions });
`;

const html = `<!doctype html><link rel="icon" href="data:,"><style>div#map { height: 600px }</style><div id="map"></div>
<link rel="stylesheet" href="/clients/leaflet/dist/leaflet.css"><link rel="stylesheet" href="/clients/leaflet-routing-machine/dist/leaflet-routing-machine.css">
<script src="/clients/leaflet/dist/leaflet.js"></script><script src="/clients/leaflet-routing-machine/dist/leaflet-routing-machine.js"></script>`;

const types: Record<string, string> = { js: "text/javascript", css: "text/css", png: "image/png", svg: "image/svg+xml" };

let script: string;

beforeAll(async () => {
  const bundle = await rolldown({
    input: "entry",
    platform: "browser",
    plugins: [{ name: "entry", resolveId: (id) => (id === "entry" ? new URL("entry.js", import.meta.url).pathname : null), load: (id) => (id.endsWith("/test/entry.js") ? entry : null) }],
  });
  const { output } = await bundle.generate({ format: "iife", codeSplitting: false });
  await bundle.close();
  script = output[0].code;
});

/** openClients opens a page of the service's origin with the clients in it. */
async function openClients(): Promise<Page> {
  const { page, service } = await openCar(null, { map: "sharp" });
  await page.route(`${service}/clients/**`, (route) => {
    const path = new URL(route.request().url()).pathname.slice("/clients/".length);
    if (path === "") return route.fulfill({ contentType: "text/html", body: html });
    return route.fulfill({ contentType: types[path.split(".").at(-1) ?? ""] ?? "text/plain", body: readFileSync(new URL(`../node_modules/${path}`, import.meta.url)) });
  });
  await page.goto(`${service}/clients/`);
  await page.addScriptTag({ content: script });
  return page;
}

test("leaflet-routing-machine draws a route and lists its steps", async () => {
  const page = await openClients();
  await page.evaluate(
    `const map = L.map("map").setView([52.005, 5.01], 14);
     L.Routing.control({ waypoints: [L.latLng(${from.lat}, ${from.lng}), L.latLng(${to.lat}, ${to.lng})], router: L.Routing.osrmv1({ serviceUrl: "/v2/navigation/route/v1" }) }).addTo(map); 0`,
  );
  await page.locator(".leaflet-routing-alt tr", { hasText: "You have arrived" }).first().waitFor({ state: "attached" });
  expect(await page.locator(".leaflet-routing-alt").first().locator("tr").count()).toBeGreaterThanOrEqual(3);
  const lines = await page.locator("#map path.leaflet-interactive").evaluateAll((paths) => paths.map((path) => (path as SVGPathElement).getTotalLength()));
  expect(Math.max(...lines)).toBeGreaterThan(100);
});

test("osrm-text-instructions makes a sentence of each step", async () => {
  const page = await openClients();
  const sentences = await page.evaluate<string[]>(
    `fetch("/v2/navigation/route/v1/driving/${from.lng},${from.lat};${to.lng},${to.lat}?steps=true").then((answer) => answer.json())
       .then((answer) => answer.routes[0].legs[0].steps.map((step) => instructions.compile("en", step)))`,
  );
  expect(sentences.length).toBeGreaterThanOrEqual(3);
  expect(sentences.at(-1)).toMatch(/^You have arrived/);
  for (const sentence of sentences) expect(sentence).not.toMatch(/undefined|[{}]|^$/);
});

test("maplibre-gl-directions draws a route", async () => {
  const page = await openClients();
  const drawn = await page.evaluate<number>(
    `(async () => {
       const map = new maplibre.Map({ container: "map", style: { version: 8, sources: {}, layers: [] }, center: [5.01, 52.005], zoom: 13 });
       await map.once("load");
       const directions = new Directions(map, { api: "/v2/navigation/route/v1", profile: "driving" });
       await directions.setWaypoints([[${from.lng},${from.lat}], [${to.lng},${to.lat}]]);
       await map.once("idle");
       return map.queryRenderedFeatures({ layers: ["maplibre-gl-directions-routeline"] }).length;
     })()`,
  );
  expect(drawn).toBeGreaterThan(0);
});
