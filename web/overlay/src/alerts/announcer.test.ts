import { describe, expect, it } from "vitest";
import { isDetour, leadAt, nearOf, type Car, type AlertPin, type AlertStage } from "./alertrules.ts";
import { dismiss, initialAnnouncer, seenKeys, step } from "./announcer.ts";
import type { Announcer, Banner, AnnouncerInput } from "./announcer.ts";
import { destination } from "../geo/geo.ts";
import { seeded } from "../../../test/seeded.ts";

const origin = { lat: 52, lng: 5 };
/** at returns the place so many metres north and east of the origin. */
const at = (north: number, east = 0): { lat: number; lng: number } => destination(destination(origin, 0, north), 90, east);
const pin = (id: string, north: number, more: Partial<AlertPin> = {}): AlertPin => ({ id, kind: "alert.hazard", zone: 0, merged: [], ...at(north), ...more });
const car = (north: number, speed = 20, heading: number | null = 0): Car => ({ ...at(north), speed, heading });
const input = (now: number, where: Car | null, pins: AlertPin[], more: Partial<AnnouncerInput<AlertPin>> = {}): AnnouncerInput<AlertPin> => ({
  now,
  car: where,
  pins,
  voted: new Set(),
  suppressed: new Set(),
  chosen: null,
  lead: 1,
  ...more,
});

interface Event {
  id: string;
  stage: AlertStage;
  north: number;
  now: number;
}

/** drive simulates a drive north with a fix every so many seconds and records the announcements. */
function drive(pins: AlertPin[], from: number, to: number, speed: number, more: Partial<AnnouncerInput<AlertPin>> = {}, every = 1, start: Announcer = initialAnnouncer) {
  const spoken: Event[] = [];
  const banners: (Banner<AlertPin> | null)[] = [];
  let state = start;
  let now = state === initialAnnouncer ? 1000 : 1e7;
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
    expect(before).toBeLessThanOrEqual(leadAt("alert.hazard", speed) + 1);
    expect(before).toBeGreaterThan(leadAt("alert.hazard", speed) - speed - 1);
  });

  it("a camera once, and twice if the car is too fast", () => {
    const camera = pin("c", 0, { kind: "camera.speed" });
    expect(drive([camera], -2000, 500, 20).spoken.map(({ stage }) => stage)).toEqual(["ahead"]);
    expect(drive([{ ...camera, maxSpeed: 72 }], -2000, 500, 20).spoken.map(({ stage }) => stage)).toEqual(["ahead"]);
    const { spoken } = drive([{ ...camera, maxSpeed: 71 }], -2000, 500, 20);
    expect(spoken.map(({ stage }) => stage)).toEqual(["ahead", "near"]);
    expect(drive([{ ...camera, maxSpeed: 71 }], -2000, -20, 20).state.active.map(({ id, stage }) => [id, stage])).toEqual([["c", "near"]]);
    expect(-(spoken[1]?.north ?? 0)).toBeLessThanOrEqual(nearOf(camera, 20));
  });

  it.each(["alert.road_closed", "traffic.jam"])("%s a minute ahead, and again after that", (kind) => {
    const { spoken } = drive([pin("j", 0, { kind })], -2990, 500, 20);
    expect(spoken.map(({ stage, north }) => [stage, Math.round(-north)])).toEqual([["ahead", 1190], ["near", 290]]);
  });

  it("a jam by the distance to its tail, until the car is in it", () => {
    const jam = pin("j", 2000, { kind: "traffic.jam", line: [at(1000), at(3000)] });
    const { spoken, banners } = drive([jam], -990, 4000, 20);
    expect(spoken.map(({ stage, north }) => [stage, Math.round(1000 - north)])).toEqual([["ahead", 1190], ["near", 290]]);
    expect(banners.filter((banner) => banner !== null).every(({ distance }) => distance <= 1201 && distance > 30)).toBe(true);
    expect(banners.slice(-100).every((banner) => banner === null)).toBe(true);
  });

  it("nothing for the other carriageway", () => {
    expect(drive([pin("a", 0, { bearing: 180 })], -500, 100, 20).spoken).toEqual([]);
    expect(drive([pin("a", 0, { bearing: 30 })], -500, 100, 20).spoken).toHaveLength(1);
  });

  it("nothing that is suppressed, whose banner stays", () => {
    const pins = [pin("a", 0)];
    expect(step(initialAnnouncer, input(0, car(-100), pins, { suppressed: new Set(["a"]) })).announce).toBeNull();
    const { next } = step(initialAnnouncer, input(0, car(-100), pins));
    expect(step(next, input(1000, car(-80), pins, { suppressed: new Set(["a"]) })).banner?.pin.id).toBe("a");
  });

  it("nothing below 2 m/s, nothing without a heading or speed, nothing without a place", () => {
    for (const where of [car(-100, 1.9), car(-100, 20, null), { ...car(-100), speed: null }, null]) {
      expect(step(initialAnnouncer, input(0, where, [pin("a", 0)])).announce).toBeNull();
    }
    expect(step(initialAnnouncer, input(0, car(-100, 2), [pin("a", 0)])).announce).not.toBeNull();
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
    const { next } = step(initialAnnouncer, input(0, car(-200), pins));
    expect(step(next, input(4999, car(-150), pins)).announce).toBeNull();
    expect(step(next, input(5000, car(-150), pins)).announce?.pin.id).toBe("b");
  });

  it("no own vote, and not what a voted one was merged into", () => {
    const pins = [pin("a", 0), pin("b", 30, { merged: ["old"] })];
    expect(drive(pins, -500, 100, 20, { voted: new Set(["a", "old"]) }).spoken).toEqual([]);
  });

  it("nothing again when another of the merged is shown", () => {
    const first = step(initialAnnouncer, input(0, car(-200), [pin("a", 0)]));
    expect(first.announce?.pin.id).toBe("a");
    const second = step(first.next, input(6000, car(-100), [pin("b", 0, { merged: ["a"] })]));
    expect(second.announce).toBeNull();
    expect(second.banner?.pin.id).toBe("b");
  });

  it("only what the service chose, while it chooses", () => {
    const pins = [pin("a", 0), pin("b", 20)];
    expect(step(initialAnnouncer, input(0, car(-100), pins, { chosen: new Set(["b"]) })).announce?.pin.id).toBe("b");
    expect(step(initialAnnouncer, input(0, car(-100), pins, { chosen: new Set() })).announce).toBeNull();
  });

  it("earlier with a longer lead", () => {
    const [event] = drive([pin("a", 0)], -2000, 0, 20, { lead: 2 }).spoken;
    expect(-(event?.north ?? 0)).toBeGreaterThan(459);
  });

  it("over the antimeridian", () => {
    const here: Car = { lat: 10, lng: 179.9995, heading: 90, speed: 20 };
    const there: AlertPin = { id: "x", lat: 10, lng: -179.9995, kind: "alert.hazard", zone: 0, merged: [] };
    expect(step(initialAnnouncer, input(0, here, [there])).announce?.pin.id).toBe("x");
  });

  it("each stage once, never behind and never after the pin was passed, on any straight drive, at any interval of fixes", () => {
    const random = seeded(5);
    const kinds = ["camera.red_light", "traffic.jam", "alert.road_closed", "alert.police", "charger.supercharger"];
    for (let i = 0; i < 100; i++) {
      const kind = kinds[i % kinds.length] ?? "";
      const speed = 4 + random() * 40;
      const maxSpeed = random() < 0.5 ? 50 : null;
      const line = random() < 0.5 ? [at(0), at(700)] : null;
      const every = 0.3 + random();
      const { spoken } = drive([pin("x", line === null ? 0 : 350, { kind, maxSpeed, line })], -75 * speed - 200, 1000, speed, {}, every);
      const stages = spoken.map(({ stage }) => stage);
      expect(spoken.every(({ north }) => north < 0), kind).toBe(true);
      expect(new Set(stages).size, "each once").toBe(stages.length);
      if (stages.length === 2) expect(stages).toEqual(["ahead", "near"]);
      if (kind.startsWith("charger.")) expect(stages).toEqual([]);
      else expect(stages.length).toBeGreaterThan(0);
      if (isDetour(kind) && speed > 6) expect(stages).toEqual(["ahead", "near"]);
      if (kind === "alert.police") expect(stages).toEqual(["ahead"]);
      // Five seconds lie between two announcements: at high speed the second one of a camera comes late, but before it.
      if (kind === "camera.red_light") expect(stages.length).toBe(maxSpeed !== null && speed * 3.6 > maxSpeed && stages.length === 2 ? 2 : 1);
    }
  });
});

describe("a pin that was passed", () => {
  it("is named once, in the step after which its banner is gone", () => {
    let state: Announcer = initialAnnouncer;
    const passed: number[] = [];
    for (let north = -500; north <= 300; north += 20) {
      const outcome = step(state, input((north + 500) * 50 + 1000, car(north), [pin("a", 5)]));
      state = outcome.next;
      if (outcome.passed !== null) {
        expect(outcome.banner).toBeNull();
        passed.push(north);
      }
    }
    expect(passed).toEqual([20]);
  });

  it("is not one that was not announced, dismissed, voted on, far away, or still ahead", () => {
    const pins = [pin("a", 0)];
    expect(step(initialAnnouncer, input(0, car(20), pins)).passed).toBeNull();
    const { next } = step(initialAnnouncer, input(0, car(-100), pins));
    expect(step(next, input(9000, car(20), pins)).passed?.id).toBe("a");
    expect(step(next, input(9000, car(-20), pins)).passed).toBeNull();
    expect(step(dismiss(next, "a"), input(9000, car(20), pins)).passed).toBeNull();
    expect(step(next, input(9000, car(20), pins, { voted: new Set(["a"]) })).passed).toBeNull();
    expect(step(next, input(9000, car(150), pins)).passed).toBeNull();
    expect(step(next, input(9000, car(20), [])).passed).toBeNull();
  });

  it("is a jam whose tail was reached", () => {
    const pins = [pin("j", 500, { kind: "traffic.jam", line: [at(0), at(1000)] })];
    const { next } = step(initialAnnouncer, input(0, car(-200), pins));
    expect(step(next, input(9000, car(-40), pins)).passed).toBeNull();
    expect(step(next, input(9000, car(-20), pins)).passed?.id).toBe("j");
  });
});

describe("the banner", () => {
  it("appears with the announcement, counts down and goes when the pin is passed", () => {
    const { banners } = drive([pin("a", 0)], -400, 100, 20);
    const distances = banners.map((banner) => (banner === null ? null : Math.round(banner.distance)));
    const shown = distances.filter((metres) => metres !== null);
    expect(distances.slice(0, 5).every((metres) => metres === null)).toBe(true);
    expect(shown[0]).toBe(300);
    expect(shown).toEqual([...shown].sort((a, b) => b - a));
    expect(distances[distances.length - 1]).toBeNull();
    expect(shown[shown.length - 1]).toBeLessThanOrEqual(20);
  });

  it("is hidden immediately when the pin is gone, voted on or dismissed", () => {
    const { next, banner } = step(initialAnnouncer, input(0, car(-200), [pin("a", 0)]));
    expect(banner?.pin.id).toBe("a");
    expect(step(next, input(500, car(-190), [])).banner).toBeNull();
    expect(step(next, input(500, car(-190), [pin("a", 0)], { voted: new Set(["a"]) })).banner).toBeNull();
    const dismissed = step(dismiss(next, "a"), input(6000, car(-100), [pin("a", 0)]));
    expect(dismissed.banner).toBeNull();
    expect(dismissed.announce).toBeNull();
  });

  it("stays while the car stands, and while the heading is lost for a moment", () => {
    const { next } = step(initialAnnouncer, input(0, car(-200), [pin("a", 0)]));
    const standing = step(next, input(60_000, car(-180, 0), [pin("a", 0)]));
    expect(standing.banner?.pin.id).toBe("a");
    expect(step(standing.next, input(61_000, car(-170, 20, null), [pin("a", 0)])).banner).not.toBeNull();
  });

  it("stays for three seconds after the pin left the corridor, and is hidden when the car has turned off", () => {
    const { next } = step(initialAnnouncer, input(0, car(-200), [pin("a", 0)]));
    const aside = step(next, input(1000, car(-190, 20, 80), [pin("a", 0)]));
    expect(aside.banner).not.toBeNull();
    expect(step(aside.next, input(2999, car(-190, 20, 80), [pin("a", 0)])).banner).not.toBeNull();
    expect(step(aside.next, input(3000, car(-190, 20, 80), [pin("a", 0)])).banner).toBeNull();
    expect(step(aside.next, input(3100, car(-190, 20, 80), [pin("a", 0)])).banner).toBeNull();
    expect(step(aside.next, input(1500, car(-190, 20, 120), [pin("a", 0)])).banner).toBeNull();
  });

  it("shows the latest while its tone is fresh, and the nearest after that", () => {
    const pins = [pin("a", 0), pin("b", 100)];
    const first = step(initialAnnouncer, input(0, car(-200, 20), pins));
    const second = step(first.next, input(5000, car(-120, 20), pins));
    expect(second.announce?.pin.id).toBe("b");
    expect(second.banner?.pin.id).toBe("b");
    expect(step(second.next, input(8000, car(-60, 5), pins)).banner?.pin.id).toBe("b");
    expect(step(second.next, input(10_000, car(-50, 5), pins)).banner?.pin.id).toBe("a");
  });

  it("shows the distance to the edge of a zone, at its stage", () => {
    const { banner } = step(initialAnnouncer, input(0, car(-700), [pin("z", 0, { kind: "camera.avg_speed", zone: 1000 })]));
    expect([Math.round(banner?.distance ?? NaN), banner?.stage]).toEqual([200, "ahead"]);
  });

  it("stays in a zone to its end", () => {
    const zone = pin("z", 0, { kind: "camera.avg_speed", zone: 1000 });
    const { banners, spoken } = drive([zone], -1000, 700, 20);
    expect(spoken.map(({ stage }) => stage)).toEqual(["ahead"]);
    expect(banners.filter((banner) => banner?.distance === 0).length).toBeGreaterThanOrEqual(48);
    expect(banners[banners.length - 1]).toBeNull();
  });

  it("is hidden while the position is unknown", () => {
    const { next } = step(initialAnnouncer, input(0, car(-200), [pin("a", 0)]));
    expect(step(next, input(100, null, [pin("a", 0)])).banner).toBeNull();
  });
});

describe("the memory", () => {
  const first = step(initialAnnouncer, input(0, car(-200), [pin("a", 0)])).next;

  it("forgets after two hours", () => {
    expect(step(first, input(7_200_000, car(-100), [pin("a", 0)])).announce).toBeNull();
    expect(step(first, input(7_200_001, car(-100), [pin("a", 0)])).announce?.pin.id).toBe("a");
  });

  it("forgets beyond five kilometres, and not before", () => {
    const near = step(first, input(60_000, car(4990), [])).next;
    expect(seenKeys(near, 9, 60_000)).toEqual(["a~200.0~60.0"]);
    const far = step(first, input(60_000, car(5010), [])).next;
    expect(seenKeys(far, 9, 60_000)).toEqual([]);
    expect(step(far, input(600_000, car(-100), [pin("a", 0)])).announce?.pin.id).toBe("a");
  });

  it("is kept while a pin disappears and comes back", () => {
    const gone = step(first, input(1000, car(-180), [])).next;
    expect(step(gone, input(6000, car(-100), [pin("a", 0)])).announce).toBeNull();
  });

  it("is bounded, and the oldest goes first", () => {
    let state: Announcer = initialAnnouncer;
    for (let i = 0; i <= 520; i++) state = step(state, input(i * 5000, car(-100), [pin(`p${String(i)}`, 0)])).next;
    expect(state.announcedPins.size).toBe(500);
    expect(state.announcedPins.has("p0")).toBe(false);
    expect(state.active.length).toBe(1);
  });

  it("names what was announced to the service, the latest first", () => {
    const first = step(initialAnnouncer, input(0, car(-150), [pin("c", 0, { kind: "camera.speed", maxSpeed: 50 })]));
    const second = step(first.next, input(5000, car(-90), [pin("c", 0, { kind: "camera.speed", maxSpeed: 50 })]));
    const third = step(second.next, input(10_000, car(-200), [pin("a", 0)]));
    expect(seenKeys(third.next, 9, 12_000)).toEqual(["a~200.0~2.0", "c~near", "c~150.0~12.0"]);
    expect(seenKeys(third.next, 1, 12_000)).toEqual(["a~200.0~2.0"]);
  });
});

it("does not modify its input", () => {
  const before = JSON.stringify([...initialAnnouncer.announcedPins]);
  step(initialAnnouncer, input(0, car(-200), [pin("a", 0)]));
  expect(JSON.stringify([...initialAnnouncer.announcedPins])).toBe(before);
  expect(initialAnnouncer.active).toEqual([]);
});
