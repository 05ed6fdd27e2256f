import { describe, expect, it } from "vitest";
import { destination } from "../geo/geo.ts";
import { bodyOf, merged, placesOf, stepsBetween } from "./accountplaces.ts";
import { maxRecent, noPlaces, type KeptPlaces } from "./keptplaces.ts";
import { listen, localRecognition, type Recognition } from "./speechrecognition.ts";
import type { Destination } from "../state/state.ts";

const at = (metres: number, name = `at ${String(metres)}`): Destination => ({ place: destination({ lat: 52, lng: 5 }, 90, metres), name, detail: "Town" });

describe("places of the account", () => {
  it("come back as they were sent", () => {
    const places: KeptPlaces = { home: at(0, "Home"), work: null, recent: [at(1), at(2)] };
    expect(placesOf(JSON.parse(JSON.stringify(bodyOf(places))))).toEqual(places);
    expect(bodyOf(places)).toMatchObject({ home: { lat: at(0).place.lat, name: "Home", detail: "Town" }, recent: [{}, {}] });
    expect(bodyOf(places)).not.toHaveProperty("work");
    for (const value of [null, 7, {}, { home: 7, recent: {} }, { recent: [null, { lat: 91, lng: 1 }] }]) expect(placesOf(value)).toEqual(noPlaces);
  });

  it("come before those of the browser, each once, ten at most", () => {
    const account: KeptPlaces = { home: at(0), work: null, recent: [at(1000), at(2000)] };
    const own: KeptPlaces = { home: at(9000), work: at(9500), recent: [at(2000), ...Array.from({ length: 10 }, (_, i) => at(20_000 + i * 1000))] };
    const both = merged(account, own);
    expect([both.home?.name, both.work?.name, both.recent.length]).toEqual(["at 0", "at 9500", maxRecent]);
    expect(both.recent.slice(0, 3).map(({ name }) => name)).toEqual(["at 1000", "at 2000", "at 20000"]);
    expect(merged(noPlaces, own)).toEqual({ ...own, recent: own.recent.slice(0, maxRecent) });
  });
});

describe("a paired screen", () => {
  it("removes one place with each request", () => {
    const before: KeptPlaces = { home: at(0), work: at(9000), recent: [at(1000), at(2000)] };
    expect(stepsBetween(before, before)).toEqual([before]);
    const moved: KeptPlaces = { home: null, work: before.home, recent: [at(5000), at(1000), at(2000)] };
    expect(stepsBetween(before, moved), "work alone is gone").toEqual([moved]);
    const after: KeptPlaces = { home: null, work: at(9000), recent: [at(7000)] };
    expect(stepsBetween(before, after)).toEqual([{ ...before, home: null }, { ...before, home: null, recent: [at(2000)] }, after]);
  });
});

describe("speech on the device", () => {
  /** recogniser is a browser's SpeechRecognition; says is its answer about the language on the device. */
  const recogniser = (says: string | null, hasLocal = true): { made: unknown; asked: unknown[] } => {
    const asked: unknown[] = [];
    class Made {
      lang = "";
      started = false;
      onresult: Recognition["onresult"] = null;
      onend: (() => void) | null = null;
      onerror: (() => void) | null = null;
      start(): void {
        this.started = true;
      }
      abort(): void {
        this.onend?.();
      }
    }
    if (hasLocal) Object.defineProperty(Made.prototype, "processLocally", { value: false, writable: true });
    if (says !== null) {
      Object.assign(Made, {
        available: (options: unknown) => {
          asked.push(options);
          return Promise.resolve(says);
        },
      });
    }
    return { made: Made, asked };
  };

  it.each([
    ["there is no recognition", undefined],
    ["it cannot say whether it is local", recogniser(null).made],
    ["it has no local processing", recogniser("available", false).made],
    ["the language would be downloaded", recogniser("downloadable").made],
    ["the language is not there", recogniser("unavailable").made],
  ])("is absent where %s", async (_, made) => {
    expect(await localRecognition("de", made)).toBeNull();
  });

  it("asks for the device, and hears one text", async () => {
    const { made, asked } = recogniser("available");
    const make = await localRecognition("de", made);
    expect(asked).toEqual([{ langs: ["de"], processLocally: true }]);
    if (make === null) throw new Error("no recognition");
    const heard: string[] = [];
    let ended = 0;
    let one: Recognition | null = null;
    const stop = listen(() => (one = make()), (text) => heard.push(text), () => ended++);
    const used = one as unknown as Recognition;
    expect([used.processLocally, used.lang]).toEqual([true, "de"]);
    used.onresult?.({ results: [[{ transcript: " 9th Avenue 40 " }]] });
    used.onresult?.({ results: [] });
    stop();
    expect([heard, ended]).toEqual([["9th Avenue 40"], 1]);
  });
});
