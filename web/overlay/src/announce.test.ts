import { describe, expect, it } from "vitest";
import { leadAt, nearOf, type Car, type PinAhead, type Stage } from "./ahead.ts";
import { dismiss, quiet, seenKeys, step } from "./announce.ts";
import type { Announcer, Banner, Look } from "./announce.ts";
import { along } from "./geo.ts";
import { seeded } from "./seeded.ts";

const origin = { lat: 52, lng: 5 };
/** metres north of the origin, and east of it. */
const at = (north: number, east = 0): { lat: number; lng: number } => along(along(origin, 0, north), 90, east);
const pin = (id: string, north: number, more: Partial<PinAhead> = {}): PinAhead => ({ id, kind: "alert.hazard", zone: 0, merged: [], ...at(north), ...more });
const car = (north: number, speed = 20, heading: number | null = 0): Car => ({ ...at(north), speed, heading });
const input = (now: number, where: Car | null, pins: PinAhead[], more: Partial<Look<PinAhead>> = {}): Look<PinAhead> => ({
  now,
  car: where,
  pins,
  voted: new Set(),
  chosen: null,
  lead: 1,
  ...more,
});

interface Event {
  id: string;
  stage: Stage;
  north: number;
  now: number;
}

/** drive goes north from one place to another with a fix each so many seconds, and tells what was announced. */
function drive(pins: PinAhead[], from: number, to: number, speed: number, more: Partial<Look<PinAhead>> = {}, every = 1, start: Announcer = quiet) {
  const spoken: Event[] = [];
  const banners: (Banner<PinAhead> | null)[] = [];
  let state = start;
  let now = state === quiet ? 1000 : 1e7;
  for (let north = from; north <= to; north += speed * every) {
    const outcome = step(state, input(now, car(north, speed), pins, more));
    state = outcome.next;
    banners.push(outcome.banner);
    if (outcome.announce !== null) spoken.push({ id: outcome.announce.pin.id, stage: outcome.announce.stage, north, now });
    now += every * 1000;
  }
  return { spoken, banners, state };
}

describe("what is announced", () => {
  it.each([2, 5, 12.5, 13, 20, 30, 50, 60])("at %d m/s once, at the lead, and never behind", (speed) => {
    const { spoken } = drive([pin("a", 0)], -2000, 1000, speed);
    expect(spoken.map(({ id, stage }) => [id, stage])).toEqual([["a", "ahead"]]);
    const before = -(spoken[0]?.north ?? 0);
    expect(before).toBeLessThanOrEqual(leadAt(speed) + 1);
    expect(before).toBeGreaterThan(leadAt(speed) - speed - 1);
  });

  it("a camera twice, at the lead and nearer", () => {
    const { spoken } = drive([pin("c", 0, { kind: "camera.speed" })], -2000, 500, 20);
    expect(spoken.map(({ stage }) => stage)).toEqual(["ahead", "near"]);
    expect(drive([pin("c", 0, { kind: "camera.speed" })], -2000, -20, 20).state.running.map(({ id, stage }) => [id, stage])).toEqual([["c", "near"]]);
    expect(-(spoken[1]?.north ?? 0)).toBeLessThanOrEqual(nearOf(leadAt(20)));
  });

  it("nothing below 2 m/s, nothing without a heading or speed, nothing without a place", () => {
    for (const where of [car(-100, 1.9), car(-100, 20, null), { ...car(-100), speed: null }, null]) {
      expect(step(quiet, input(0, where, [pin("a", 0)])).announce).toBeNull();
    }
    expect(step(quiet, input(0, car(-100, 2), [pin("a", 0)])).announce).not.toBeNull();
  });

  it("no charger", () => {
    expect(drive([pin("a", 0, { kind: "charger.supercharger" })], -500, 100, 20).spoken).toEqual([]);
  });

  it("never two within five seconds, and the nearest first", () => {
    const pins = Array.from({ length: 10 }, (_, i) => pin(`p${String(i)}`, 60 * i));
    const { spoken } = drive(pins, -1000, 1000, 15, {}, 0.25);
    expect(spoken.length).toBeGreaterThan(3);
    spoken.slice(1).forEach(({ now }, i) => {
      expect(now - (spoken[i]?.now ?? 0)).toBeGreaterThanOrEqual(5000);
    });
    expect(spoken[0]?.id).toBe("p0");
    expect(new Set(spoken.map(({ id }) => id)).size).toBe(spoken.length);
  });

  it("the second of two right after five seconds, and not before", () => {
    const pins = [pin("a", 0), pin("b", 20)];
    const { next } = step(quiet, input(0, car(-200), pins));
    expect(step(next, input(4999, car(-150), pins)).announce).toBeNull();
    expect(step(next, input(5000, car(-150), pins)).announce?.pin.id).toBe("b");
  });

  it("no own vote, and not what a voted one was merged into", () => {
    const pins = [pin("a", 0), pin("b", 30, { merged: ["old"] })];
    expect(drive(pins, -500, 100, 20, { voted: new Set(["a", "old"]) }).spoken).toEqual([]);
  });

  it("nothing again when another of the merged is shown", () => {
    const first = step(quiet, input(0, car(-200), [pin("a", 0)]));
    expect(first.announce?.pin.id).toBe("a");
    const second = step(first.next, input(6000, car(-100), [pin("b", 0, { merged: ["a"] })]));
    expect(second.announce).toBeNull();
    expect(second.banner?.pin.id).toBe("b");
  });

  it("only what the service chose, while it chooses", () => {
    const pins = [pin("a", 0), pin("b", 20)];
    expect(step(quiet, input(0, car(-100), pins, { chosen: new Set(["b"]) })).announce?.pin.id).toBe("b");
    expect(step(quiet, input(0, car(-100), pins, { chosen: new Set() })).announce).toBeNull();
  });

  it("sooner for who asks for a longer lead", () => {
    const [event] = drive([pin("a", 0)], -2000, 0, 20, { lead: 2 }).spoken;
    expect(-(event?.north ?? 0)).toBeGreaterThan(459);
  });

  it("over the antimeridian", () => {
    const here: Car = { lat: 10, lng: 179.9995, heading: 90, speed: 20 };
    const there: PinAhead = { id: "x", lat: 10, lng: -179.9995, kind: "alert.hazard", zone: 0, merged: [] };
    expect(step(quiet, input(0, here, [there])).announce?.pin.id).toBe("x");
  });

  it("once on any straight drive, whatever the rhythm of the fixes", () => {
    const random = seeded(5);
    for (let i = 0; i < 200; i++) {
      const camera = random() < 0.5;
      const speed = 2 + random() * 16; // so that five seconds lie between a camera's stages
      const { spoken } = drive([pin("x", 0, { kind: camera ? "camera.red_light" : "traffic.jam" })], -800, 200, speed, {}, 0.3 + random());
      expect(spoken.map(({ stage }) => stage)).toEqual(camera ? ["ahead", "near"] : ["ahead"]);
      expect(spoken.every(({ north }) => north < 0)).toBe(true);
    }
  });
});

describe("the banner", () => {
  it("appears with the announcement, counts down and goes when the pin is passed", () => {
    const { banners } = drive([pin("a", 0)], -400, 100, 20);
    const distances = banners.map((banner) => (banner === null ? null : Math.round(banner.distance)));
    const shown = distances.filter((metres) => metres !== null);
    expect(distances.slice(0, 8).every((metres) => metres === null)).toBe(true);
    expect(shown[0]).toBe(240);
    expect(shown).toEqual([...shown].sort((a, b) => b - a));
    expect(distances[distances.length - 1]).toBeNull();
    expect(shown[shown.length - 1]).toBeLessThanOrEqual(20);
  });

  it("goes at once when the pin is gone, voted on or dismissed", () => {
    const { next, banner } = step(quiet, input(0, car(-200), [pin("a", 0)]));
    expect(banner?.pin.id).toBe("a");
    expect(step(next, input(500, car(-190), [])).banner).toBeNull();
    expect(step(next, input(500, car(-190), [pin("a", 0)], { voted: new Set(["a"]) })).banner).toBeNull();
    const dismissed = step(dismiss(next, "a"), input(6000, car(-100), [pin("a", 0)]));
    expect(dismissed.banner).toBeNull();
    expect(dismissed.announce).toBeNull();
  });

  it("stays while the car stands, and while the heading is lost for a moment", () => {
    const { next } = step(quiet, input(0, car(-200), [pin("a", 0)]));
    const standing = step(next, input(60_000, car(-180, 0), [pin("a", 0)]));
    expect(standing.banner?.pin.id).toBe("a");
    expect(step(standing.next, input(61_000, car(-170, 20, null), [pin("a", 0)])).banner).not.toBeNull();
  });

  it("bears a moment in which the pin is aside, and goes when the car has turned off", () => {
    const { next } = step(quiet, input(0, car(-200), [pin("a", 0)]));
    const aside = step(next, input(1000, car(-190, 20, 80), [pin("a", 0)]));
    expect(aside.banner).not.toBeNull();
    expect(step(aside.next, input(3100, car(-190, 20, 80), [pin("a", 0)])).banner).toBeNull();
    expect(step(aside.next, input(1500, car(-190, 20, 120), [pin("a", 0)])).banner).toBeNull();
  });

  it("shows the latest while its tone is fresh, and the nearest after that", () => {
    const pins = [pin("a", 0), pin("b", 100)];
    const first = step(quiet, input(0, car(-200, 20), pins));
    const second = step(first.next, input(5000, car(-120, 20), pins));
    expect(second.announce?.pin.id).toBe("b");
    expect(second.banner?.pin.id).toBe("b");
    expect(step(second.next, input(8000, car(-60, 5), pins)).banner?.pin.id).toBe("b");
    expect(step(second.next, input(10_000, car(-50, 5), pins)).banner?.pin.id).toBe("a");
  });

  it("stays in a zone to its end", () => {
    const zone = pin("z", 0, { kind: "camera.avg_speed", zone: 1000 });
    const { banners, spoken } = drive([zone], -1000, 700, 20);
    expect(spoken.map(({ stage }) => stage)).toEqual(["ahead"]);
    expect(banners.filter((banner) => banner?.distance === 0).length).toBeGreaterThanOrEqual(48);
    expect(banners[banners.length - 1]).toBeNull();
  });

  it("is not there while nobody knows where the car is", () => {
    const { next } = step(quiet, input(0, car(-200), [pin("a", 0)]));
    expect(step(next, input(100, null, [pin("a", 0)])).banner).toBeNull();
  });
});

describe("the memory", () => {
  const first = step(quiet, input(0, car(-200), [pin("a", 0)])).next;

  it("forgets after two hours", () => {
    expect(step(first, input(7_200_000, car(-100), [pin("a", 0)])).announce).toBeNull();
    expect(step(first, input(7_200_001, car(-100), [pin("a", 0)])).announce?.pin.id).toBe("a");
  });

  it("forgets beyond five kilometres, and not before", () => {
    const near = step(first, input(60_000, car(4990), [])).next;
    expect(seenKeys(near, 9)).toEqual(["a"]);
    const far = step(first, input(60_000, car(5010), [])).next;
    expect(seenKeys(far, 9)).toEqual([]);
    expect(step(far, input(600_000, car(-100), [pin("a", 0)])).announce?.pin.id).toBe("a");
  });

  it("outlives a pin that comes and goes", () => {
    const gone = step(first, input(1000, car(-180), [])).next;
    expect(step(gone, input(6000, car(-100), [pin("a", 0)])).announce).toBeNull();
  });

  it("is bounded, and the oldest goes first", () => {
    let state: Announcer = quiet;
    for (let i = 0; i <= 520; i++) state = step(state, input(i * 5000, car(-100), [pin(`p${String(i)}`, 0)])).next;
    expect(state.memories.size).toBe(500);
    expect(state.memories.has("p0")).toBe(false);
    expect(state.running.length).toBe(1);
  });

  it("names what was announced to the service, the latest first", () => {
    const { state } = drive([pin("c", 0, { kind: "camera.speed" }), pin("a", 300)], -500, 250, 15);
    expect(seenKeys(state, 9)).toEqual(["a", "c~near", "c"]);
    expect(seenKeys(state, 1)).toEqual(["a"]);
  });
});

it("leaves the state it was given as it was", () => {
  const before = JSON.stringify([...quiet.memories]);
  step(quiet, input(0, car(-200), [pin("a", 0)]));
  expect(JSON.stringify([...quiet.memories])).toBe(before);
  expect(quiet.running).toEqual([]);
});
