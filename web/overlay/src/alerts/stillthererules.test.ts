import { expect, it } from "vitest";
import type { AlertCandidate } from "./alerts.ts";
import { answer, askFor, close, initialAsking, replyFor, stepAsking, type Asking, type AskingInput } from "./stillthererules.ts";
import { seeded } from "../../../test/seeded.ts";

const pin = (id: string, more: Partial<AlertCandidate> = {}, expires: string | null = "2026-06-01T13:00:00Z"): AlertCandidate => ({
  id,
  kind: "alert.police",
  lat: 52,
  lng: 5,
  zone: 0,
  merged: [],
  entity: { expires_at: expires } as AlertCandidate["entity"],
  ...more,
});
const banner = (distance: number): AskingInput["alerts"]["banner"] => ({ pin: pin("other"), distance, stage: "ahead" });
const input = (now: number, more: Partial<AskingInput> = {}, alerts: Partial<AskingInput["alerts"]> = {}): AskingInput => ({
  now,
  alerts: { banner: null, passed: null, ...alerts },
  speed: 20,
  isGuest: false,
  isConnected: true,
  lead: 1,
  ...more,
});
const passing = (now: number, more: Partial<AskingInput> = {}, passed = pin("a")): AskingInput => input(now, more, { passed });

it("asks for eight seconds about a pin that was passed", () => {
  const asked = stepAsking(initialAsking, passing(1000));
  expect(asked.pin?.id).toBe("a");
  expect(stepAsking(asked, input(1000 + askFor - 1)).pin?.id).toBe("a");
  expect(stepAsking(asked, input(1000 + askFor)).pin).toBeNull();
  expect(stepAsking(asked, passing(3000, {}, pin("b"))).pin?.id).toBe("b");
  expect(stepAsking(close(asked), input(2000)).pin).toBeNull();
});

it("asks about nothing that stays or whose place is hidden, and not without a connection", () => {
  expect(stepAsking(initialAsking, passing(0, {}, pin("camera", {}, null))).pin).toBeNull();
  expect(stepAsking(initialAsking, passing(0, {}, pin("zone", { zone: 300 }))).pin).toBeNull();
  expect(stepAsking(initialAsking, passing(0, { isConnected: false })).pin).toBeNull();
});

it("gives way to a banner that is more urgent, and not to one of a jam far ahead", () => {
  const asked = stepAsking(initialAsking, passing(0));
  expect(stepAsking(asked, input(1000, {}, { banner: banner(300) })).pin).toBeNull();
  expect(stepAsking(asked, input(1000, {}, { banner: banner(301) })).pin?.id).toBe("a");
  expect(stepAsking(initialAsking, input(0, {}, { passed: pin("a"), banner: banner(200) })).pin).toBeNull();
});

it("shows the reply for three seconds", () => {
  const answered = answer(stepAsking(initialAsking, passing(0)), 2000);
  expect(answered).toMatchObject({ answered: true, until: 2000 + replyFor });
  expect(stepAsking(answered, input(4999)).pin?.id).toBe("a");
  expect(stepAsking(answered, input(5000)).pin).toBeNull();
});

it("asks a guest once a drive, which ends after twenty minutes of standing", () => {
  let asking = stepAsking(initialAsking, passing(0, { isGuest: true }));
  expect(asking.pin?.id).toBe("a");
  asking = stepAsking(asking, input(20_000, { isGuest: true }));
  expect(stepAsking(asking, passing(60_000, { isGuest: true })).pin).toBeNull();
  expect(stepAsking(asking, passing(60_000)).pin?.id).toBe("a");
  const closed = close(stepAsking(initialAsking, passing(0, { isGuest: true })));
  expect(stepAsking(closed, passing(1000, { isGuest: true })).pin).toBeNull();
  const minutes = 60_000;
  asking = stepAsking(asking, input(19 * minutes, { isGuest: true, speed: 0 }));
  asking = stepAsking(asking, input(19 * minutes + 1000, { isGuest: true }));
  expect(stepAsking(asking, passing(30 * minutes, { isGuest: true })).pin).toBeNull();
  asking = stepAsking(asking, input(60 * minutes, { isGuest: true, speed: null }));
  expect(stepAsking(asking, passing(61 * minutes, { isGuest: true })).pin?.id).toBe("a");
});

it("asks a guest again if the question gave way to a banner before it was seen", () => {
  const asked = stepAsking(initialAsking, passing(0, { isGuest: true }));
  const early = stepAsking(asked, input(1900, { isGuest: true }, { banner: banner(100) }));
  expect(stepAsking(early, passing(9000, { isGuest: true })).pin?.id).toBe("a");
  const late = stepAsking(asked, input(2000, { isGuest: true }, { banner: banner(100) }));
  expect(stepAsking(late, passing(9000, { isGuest: true })).pin).toBeNull();
});

it("never asks beside an urgent banner, longer than eight seconds, or a guest twice a drive, whatever happens", () => {
  const random = seeded(8);
  for (let run = 0; run < 50; run++) {
    let asking: Asking = initialAsking;
    const guestsAsked = new Set<string>();
    let since = 0;
    for (let second = 0; second < 300; second++) {
      const one = input(second * 1000, { isGuest: run % 2 === 0 }, {
        passed: random() < 0.1 ? pin(String(second)) : null,
        banner: random() < 0.2 ? banner(random() * 1000) : null,
      });
      const before = asking.pin;
      asking = stepAsking(asking, one);
      if (asking.pin === null) continue;
      if (asking.pin !== before) since = second;
      expect(second - since).toBeLessThan(8);
      expect(one.alerts.banner === null || one.alerts.banner.distance > 300).toBe(true);
      if (second - since >= 2) guestsAsked.add(asking.pin.id);
    }
    if (run % 2 === 0) expect(guestsAsked.size).toBeLessThanOrEqual(1);
  }
});
