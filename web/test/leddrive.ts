// Drives along routes, one fix a second of the page's clock, which only advances when the test steps it.

import type { Page } from "playwright-core";
import { bearing, destination, distance, type Place } from "../overlay/src/geo/geo.ts";
import { eventually, openCar, type Car, type CarOptions } from "./harness.ts";
import { read } from "./serviceclient.ts";

/** Point is a place on the way with the heading there. */
export interface Point extends Place {
  heading: number;
}

/** Metres per second. */
export const townSpeed = 14;

/** wayOver returns a point for each second of a drive over places. */
export async function wayOver(places: readonly Place[], service: string, speed = townSpeed): Promise<Point[]> {
  const path = places.map(({ lat, lng }) => `${String(lng)},${String(lat)}`).join(";");
  const answer = await read<{ routes: { geometry: { coordinates: [number, number][] } }[] }>(`/v2/navigation/route/v1/driving/${path}?overview=full&geometries=geojson`, service);
  return pointsOf((answer.routes[0]?.geometry.coordinates ?? []).map(([lng, lat]) => ({ lat, lng })), speed);
}

/** pointsOf returns a point for each second along a line. */
export function pointsOf(line: readonly Place[], speed = townSpeed): Point[] {
  const points: Point[] = [];
  let left = 0; // metres to the next point
  for (let i = 1; i < line.length; i++) {
    const [from, to] = [line[i - 1], line[i]];
    if (from === undefined || to === undefined) continue;
    const [length, heading] = [distance(from, to), bearing(from, to)];
    for (; left < length; left += speed) points.push({ ...destination(from, heading, left), heading });
    left -= length;
  }
  return points;
}

/** straightOn returns a point for each second straight on. */
export const straightOn = (from: Point, seconds: number, speed = townSpeed): Point[] => Array.from({ length: seconds }, (_, i) => ({ ...destination(from, from.heading, (i + 1) * speed), heading: from.heading }));

/** openLed opens the page on a drive to a place, and waits until it is led there. */
export async function openLed(from: Place, to: Place | null, options: CarOptions = {}): Promise<Car> {
  const car = await openCar(null, { place: null, sensor: true, stopped: true, map: "blank", locale: "en-IE", ...options });
  await car.page.goto(to === null ? "/" : `/?to=${String(to.lat)},${String(to.lng)}`);
  await car.sendFix({ ...from, speed: 0 });
  await untilLed(car.page);
  return car;
}

/** until advances the page's clock in small steps until a condition holds. */
export const until = (page: Page, what: string, isThere: () => Promise<boolean>): Promise<unknown> =>
  eventually(what, async () => {
    await page.clock.fastForward(250);
    return isThere();
  });

const autoStart = 10_500; // ms: the best way is taken by itself after ten seconds

/** untilLed waits until the page leads; where ways are offered it lets the time pass after which the best one is taken. */
export const untilLed = (page: Page): Promise<unknown> =>
  until(page, "the page leads", async () => {
    if ((await page.locator(".choosing .way").count()) > 0 && (await panel(page)).phase === "choosing") await pass(page, autoStart);
    return (await panel(page)).figure !== "";
  });

/** pass lets time pass in steps of which each draws a frame, two a second by default: drawing sixty takes the processor, which has other tests to run. */
export async function pass(page: Page, milliseconds: number, step = 500): Promise<void> {
  for (let left = milliseconds; left > 0; left -= step) await page.clock.fastForward(Math.min(step, left));
}

/** drive drives point by point, and calls seen after each. */
export async function drive(car: Car, points: readonly Point[], seen: (at: Point, number: number) => Promise<boolean | undefined> = () => Promise.resolve(undefined), speed = townSpeed): Promise<void> {
  for (const [number, point] of points.entries()) {
    await car.sendFix({ ...point, speed, accuracy: 5 });
    await pass(car.page, 1000);
    if ((await seen(point, number)) === true) return;
  }
}

/** Panel is what the driver reads. */
export interface Panel {
  phase: string;
  figure: string;
  name: string;
  then: string;
  lanes: string;
  left: string;
  news: string;
  offer: string;
  arrived: string;
  asking: string;
  limit: string;
}

/** panel reads it. */
export const panel = (page: Page): Promise<Panel> =>
  page.evaluate(() => {
    const text = (selector: string): string => {
      const node = document.querySelector<HTMLElement>(selector);
      return node?.closest("[hidden]") === null ? node.textContent : "";
    };
    return {
      phase: document.querySelector<HTMLElement>(".panels")?.dataset["nav"] ?? "",
      figure: text(".maneuver .figure"),
      name: text(".maneuver .what > .name"),
      then: text(".maneuver .then"),
      lanes: [...document.querySelectorAll(".maneuver .lane")].map((lane) => (lane.classList.contains("active") ? "x" : "-")).join(""),
      left: text(".trip .left"),
      news: text(".news"),
      offer: text(".offer strong"),
      arrived: text(".arrived"),
      asking: text(".asking strong"),
      limit: text(".dash .limit"),
    };
  });
