import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { bearing, distance, angleBetween } from "../overlay/src/geo/geo.ts";
import { en } from "../overlay/src/i18n/en.ts";
import { placeOf } from "../overlay/src/pins/shapes.ts";
import type { Entity } from "../overlay/src/net/wire.ts";
import { speedUp, driveOneSecond, driveUntil, openDemoDrive, type DriveStep } from "./demodrive.ts";
import { cameraBlue, countPixels, screens } from "./harness.ts";
import { read, readTown } from "./serviceclient.ts";

const rounding = 25; // metres: the page shows steps of 50

/** metres parses a distance of the page: "350 m", "< 50 m", "1.2 km", "here". */
function metres(figure: string): number {
  if (figure === "here" || figure.startsWith("<")) return 0;
  const [, value, unit] = /([\d.]+) (k?m)/.exec(figure) ?? [];
  if (value === undefined) throw new Error(`no distance: ${figure}`);
  return Number(value) * (unit === "km" ? 1000 : 1);
}

const kindOf = ({ kind_id }: Entity): string => en[`kind.${kind_id}` as "kind.alert.police"];

const isDetour = ({ kind_id }: Entity): boolean => kind_id === "alert.road_closed" || kind_id === "traffic.jam";
const isCamera = ({ kind_id }: Entity): boolean => kind_id.startsWith("camera.");

const clamp = (metres: number, min: number, max: number): number => Math.min(max, Math.max(min, metres));
const ordinaryLead = (speed: number): number => clamp(15 * speed, 150, 750);

/** leadAt is the rule of docs/decisions/0014-alert-leads.md. */
function leadAt(entity: Entity, stage: string, speed: number): number {
  if (isCamera(entity)) return stage === "near" ? Math.max(100, 0.4 * clamp(12 * speed, 150, 600)) : clamp(12 * speed, 150, 600);
  return isDetour(entity) && stage !== "near" ? clamp(60 * speed, 150, 3000) : ordinaryLead(speed);
}

/** isTooFast reports whether the car is faster than a camera's limit. */
function isTooFast({ properties }: Entity, speed: number): boolean {
  const limit = properties["maxspeed_kmh"];
  return typeof limit === "number" && speed * 3.6 > limit;
}

/** Announcement is an announced pin with the step at which it was announced. */
interface Announcement extends DriveStep {
  entity: Entity;
  away: number;
  shownDistance: number;
}

/** findAnnounced returns the pin of the banner: the one with its kind and street at the shown distance. */
async function findAnnounced({ spoken, banner, car }: DriveStep): Promise<{ entity: Entity; away: number; shownDistance: number }> {
  const { kind, street, figure } = banner ?? { kind: "", street: "", figure: "" };
  expect(spoken).toContain(`${kind} in `);
  const shownDistance = metres(figure);
  const name = street.split(" · ").at(-1); // after what the pin's properties say
  const [best] = (await readTown())
    .filter((entity) => kindOf(entity) === kind && entity.properties["street"] === name)
    .map((entity) => ({ entity, away: distance(car, placeOf(entity)), shownDistance }))
    .sort((a, b) => Math.abs(a.away - shownDistance) - Math.abs(b.away - shownDistance));
  if (best === undefined) throw new Error(`nothing of the kind is there: ${spoken}`);
  return best;
}

/** A road around one corner is so much longer than the distance through the air. */
const longestRoad = 1.5;

/** Milliseconds in which the page may not have heard of an entity yet: the town's live feed goes on while it is compared. */
const newest = 3000;

/**
 * differencesFromService compares the list with GET /v2/alerts for the same place: what the service finds along the roads is in the list, which
 * is chosen by direction, and nothing beside that. Pins at the edge of the corridor may differ, because the page knows the heading more
 * precisely than the query tells it. A pin around a bend is listed with its distance along the road, which is longer than that through the air.
 */
async function differencesFromService({ car, lines }: DriveStep): Promise<string[]> {
  const query = new URLSearchParams({ lat: String(car.lat), lng: String(car.lng), heading: car.heading.toFixed(1), speed: car.speed.toFixed(1) });
  const { alerts } = await read<{ alerts: { entity: Entity }[] }>(`/v2/alerts?${query.toString()}`);
  const ahead = new Set(alerts.map(({ entity }) => entity.id));
  const listed = lines.map(({ kind, street, figure }) => ({ name: `${kind}, ${street}`, away: metres(figure) }));
  const differences: string[] = [];
  for (const entity of await readTown()) {
    const away = distance(car, placeOf(entity));
    const off = Math.abs(angleBetween(car.heading, bearing(car, placeOf(entity))));
    if (entity.kind_id.startsWith("charger.")) continue; // the service lists chargers only on request
    if (Date.now() - Date.parse(entity.first_seen_at) < newest) continue;
    if (away < 200 || away > 1500 || (off > 25 && off < 35)) continue;
    const name = `${kindOf(entity)}, ${String(entity.properties["street"])}`;
    const isListed = (upTo: number): boolean => listed.some((one) => one.name === name && one.away >= away - 90 && one.away <= upTo);
    const differs = off > 35 ? isListed(away + 90) : ahead.has(entity.id) && !isListed(longestRoad * away + 90);
    if (differs) differences.push(`${name} in ${away.toFixed(0)} m, ${off.toFixed(0)}° off; listed: ${JSON.stringify(listed)}`);
  }
  return differences;
}

const isStationary = ({ kind_id }: Entity): boolean => kind_id.startsWith("camera.") || kind_id === "alert.construction";

/** checkAnnouncement compares an announcement with the rule; before is the previous one. */
function checkAnnouncement({ entity, away, shownDistance, car, spoken, banner, ms }: Announcement, before: Announcement | undefined): void {
  const aSecond = car.speed + 5; // metres; 5 for the smoothed position
  const due = leadAt(entity, banner?.stage ?? "", car.speed);
  expect(Math.abs(shownDistance - away), `${spoken}: the distance that is shown`).toBeLessThanOrEqual(rounding + aSecond);
  expect(away, `${spoken}: not before the rule`).toBeLessThanOrEqual(due + 5);
  const pause = before === undefined ? Infinity : ((ms - before.ms) * speedUp) / 1000;
  // Five seconds, less the step of a second: an announcement that waited for the service is seen one step late.
  expect(pause, `${spoken}: seconds since the one before`).toBeGreaterThanOrEqual(3.9);
  // Events may appear right before the car; fixed pins are announced as soon as they are due.
  if (isStationary(entity) && pause > 6) expect(away, `${spoken}: no later than the rule`).toBeGreaterThanOrEqual(due - aSecond);
  expect(Math.abs(angleBetween(car.heading, bearing(car, placeOf(entity)))), `${spoken}: ahead`).toBeLessThan(90);
}

/** writeLog saves the announcements of the drive in web/shots, for people. */
function writeLog(all: readonly Announcement[]): void {
  const rows = all.map(({ ms, car, entity, away, banner, spoken }) => {
    const second = (ms * speedUp) / 1000;
    return [`${second.toFixed(0)} s`, `${(car.speed * 3.6).toFixed(0)} km/h`, entity.kind_id, banner?.stage ?? "", `${away.toFixed(0)} m`, `${(away / car.speed).toFixed(1)} s ahead`, spoken].join("\t");
  });
  const folder = new URL("../shots/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL("demo-drive-alerts.tsv", folder), `${rows.join("\n")}\n`);
}

test("a drive through the town announces each pin ahead once, at the distance of the rule", async () => {
  const { car, timetable } = await openDemoDrive(false);
  const { page } = car;
  const steps: DriveStep[] = [];
  const all: Announcement[] = [];
  const isStraight = (): boolean => steps.length > 6 && new Set(steps.slice(-6).map(({ car: { heading } }) => heading)).size === 1;
  let compareAt = 20;
  let differed = 0; // seconds in a row: the town goes on between the page's list and the service's
  for (let second = 0; second < 235; second++) {
    const step = await driveOneSecond(page, timetable);
    const spokenBefore = steps.at(-1)?.spoken;
    steps.push(step);
    if (second >= compareAt && isStraight()) {
      const differences = await differencesFromService(step);
      differed = differences.length > 0 ? differed + 1 : 0;
      if (differed > 2) expect(differences).toEqual([]);
      if (differed === 0) compareAt = second + 50;
    }
    if (step.spoken !== spokenBefore && step.spoken !== "") all.push({ ...step, ...(await findAnnounced(step)) });
  }
  writeLog(all);
  all.forEach((one, at) => {
    checkAnnouncement(one, all[at - 1]);
  });
  const keys = all.map(({ entity, banner }) => `${entity.id} ${banner?.stage ?? ""}`);
  expect(new Set(keys).size, "each once").toBe(keys.length);
  const passed = (await readTown()).filter((entity) => isStationary(entity) && steps.slice(20, -20).some((step) => distance(step.car, placeOf(entity)) < 25));
  expect(passed.length).toBeGreaterThanOrEqual(4);
  for (const { id, kind_id } of passed) {
    expect(keys, kind_id).toContain(`${id} ahead`);
  }
  for (const { entity, banner, car: { speed }, spoken } of all) {
    const isSecond = banner?.stage === "near" && keys.includes(`${entity.id} ahead`);
    expect(!isSecond || isDetour(entity) || isTooFast(entity, speed), `${spoken}: no second announcement`).toBe(true);
  }
  expect(compareAt, "the list was compared").toBeGreaterThan(180);
});

test("on the map the car drives, pins come nearer, and the banner lies over them", async () => {
  const demoDrive = await openDemoDrive(true, { viewport: screens.smallTargets, map: "sharp", choices: { theme: "day" } });
  const { car, timetable } = demoDrive;
  const { page } = car;
  const where = async (): Promise<{ x: number; y: number }> => (await page.locator(".car-mark").boundingBox()) ?? { x: NaN, y: NaN };
  const between = (a: { x: number; y: number }, b: { x: number; y: number }): number => Math.hypot(a.x - b.x, a.y - b.y);
  await page.locator(".controls [aria-expanded]").click(); // the list has icons of the same colour
  await driveUntil("a camera is drawn", demoDrive, async ({ ms }) => Math.round((ms * speedUp) / 1000) % 5 === 0 && (await countPixels(page, cameraBlue)) > 300);

  // Dragging the map: the map stops following, and the car moves over it until it is recentred.
  const followed = await where();
  await page.mouse.move(700, 400);
  await page.mouse.down();
  for (const [x, y] of [[640, 300], [600, 250]] as const) {
    await page.mouse.move(x, y);
    await page.clock.runFor(20);
  }
  await page.mouse.up();
  await driveOneSecond(page, timetable);
  const before = await where();
  for (let i = 0; i < 4; i++) await driveOneSecond(page, timetable);
  expect(between(await where(), before), "the car drives over a map that stands").toBeGreaterThan(20);
  await page.locator(".recentre").click();
  await driveUntil("the map follows the car again", demoDrive, async () => between(await where(), followed) < 40);
  const { banner } = await driveUntil("a banner", demoDrive, (step) => step.banner !== null);
  expect(metres(banner?.figure ?? "")).toBeLessThanOrEqual(3000);
  await car.screenshot("drive-banner");
});
