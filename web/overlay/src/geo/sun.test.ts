import { describe, expect, it } from "vitest";
import { seeded } from "../../../test/seeded.ts";
import { sunAltitude, themeBySun, themeFor, type Theme } from "./sun.ts";

const hour = 3_600_000;

describe("the sun's altitude", () => {
  // Sunrise and sunset as in almanacs: upper limb on the horizon, refraction included, so -0.833°.
  it.each([
    ["London, equinox, sunrise", 51.5074, -0.1278, "2024-03-20T06:03:00Z"],
    ["London, equinox, sunset", 51.5074, -0.1278, "2024-03-20T18:14:00Z"],
    ["New York, solstice, sunrise", 40.7128, -74.006, "2024-06-20T09:25:00Z"],
    ["New York, solstice, sunset", 40.7128, -74.006, "2024-06-21T00:31:00Z"],
    ["Sydney, solstice, sunrise", -33.8688, 151.2093, "2024-12-20T18:41:00Z"],
    ["Berlin, winter, sunset", 52.52, 13.405, "2023-12-21T14:54:00Z"],
  ])("%s", (_, lat, lng, at) => {
    expect(Math.abs(sunAltitude({ lat, lng }, Date.parse(at)) + 0.833)).toBeLessThan(0.35);
  });

  it("is right at noon and midnight of a solstice", () => {
    const heights = Array.from({ length: 288 }, (_, i) => sunAltitude({ lat: 52.3676, lng: 4.9041 }, Date.parse("2024-06-20T00:00:00Z") + (i * hour) / 12));
    expect(Math.max(...heights)).toBeCloseTo(90 - 52.3676 + 23.44, 1);
    expect(Math.min(...heights)).toBeCloseTo(52.3676 + 23.44 - 90, 1);
  });

  it("is the declination at the poles", () => {
    const june = Date.parse("2024-06-20T20:51:00Z");
    expect(sunAltitude({ lat: 90, lng: 0 }, june)).toBeCloseTo(23.44, 1);
    expect(sunAltitude({ lat: -90, lng: 77 }, june)).toBeCloseTo(-23.44, 1);
  });

  it("is 90° above the equator at an equinox's noon", () => {
    expect(sunAltitude({ lat: 0, lng: 0 }, Date.parse("2024-03-20T12:07:00Z"))).toBeGreaterThan(89.5);
  });

  it("does not care how the antimeridian is written, nor for years before 2000", () => {
    const random = seeded(13);
    for (let i = 0; i < 200; i++) {
      const at = random() * 4e12 - 1e12;
      const lat = (random() - 0.5) * 180;
      expect(sunAltitude({ lat, lng: 180 }, at)).toBeCloseTo(sunAltitude({ lat, lng: -180 }, at), 9);
      expect(Math.abs(sunAltitude({ lat, lng: 0 }, at))).toBeLessThanOrEqual(90);
    }
  });
});

describe("published values", () => {
  it("Meeus, Astronomical Algorithms, example 25.a: the declination on 13 October 1992", () => {
    expect(sunAltitude({ lat: 90, lng: 0 }, Date.parse("1992-10-13T00:00:00Z"))).toBeCloseTo(-7.78507, 5);
  });

  it("Meeus, example 28: the equation of time at that moment, 3.427°", () => {
    const altitude = sunAltitude({ lat: 0, lng: 90 }, Date.parse("1992-10-13T00:00:00Z")); // sunrise without the equation of time
    expect(Math.abs(altitude - 3.3954)).toBeLessThan(0.001); // asin(cos 7.785° · sin 3.427°)
  });

  // Reda and Andreas, "Solar Position Algorithm for Solar Radiation Applications", their example: Golden, Colorado.
  it.each([
    ["the altitude without refraction", "2003-10-17T19:30:30Z", 39.872],
    ["sunrise", "2003-10-17T13:12:43Z", -0.8333],
  ])("Solar Position Algorithm: %s", (_, at, want) => {
    expect(Math.abs(sunAltitude({ lat: 39.742476, lng: -105.1786 }, Date.parse(at)) - want)).toBeLessThan(0.003);
  });

  // Almanacs give equinoxes to the minute, in which the declination changes by 0.0003°.
  it.each(["1900-03-21T01:39Z", "2000-03-20T07:35Z", "2000-09-22T17:28Z", "2020-03-20T03:50Z", "2020-09-22T13:31Z", "2050-03-20T10:19Z", "2100-03-20T13:04Z"])(
    "the sun is above the equator at the equinox of %s",
    (at) => {
      expect(Math.abs(sunAltitude({ lat: 90, lng: 0 }, Date.parse(at)))).toBeLessThan(0.003);
    },
  );

  it.each([
    ["1900-06-21T21:40Z", 23.4523],
    ["2000-06-21T01:48Z", 23.4393],
    ["2100-06-21T05:32Z", 23.4263],
  ])("the declination at the solstice of %s is the obliquity of the ecliptic", (at, want) => {
    expect(Math.abs(sunAltitude({ lat: 90, lng: 0 }, Date.parse(at)) - want)).toBeLessThan(0.0035); // nutation: up to 0.0026°
  });
});

describe("the theme", () => {
  it.each<[number, Theme | null, Theme]>([
    [10, null, "day"],
    [-10, null, "night"],
    [10, "night", "day"],
    [-10, "day", "night"],
    [-2, "day", "day"],
    [-2, "night", "night"],
    [-1.9, null, "day"],
    [-2.1, null, "night"],
    [-3, "day", "day"],
    [-1, "night", "night"],
  ])("at %d° after %s is %s", (altitude, before, want) => {
    expect(themeBySun(altitude, before)).toBe(want);
  });

  it("changes twice a day, not more", () => {
    let theme: Theme | null = null;
    let changes = 0;
    const random = seeded(14);
    for (let at = Date.parse("2024-09-10T12:00:00Z"); at < Date.parse("2024-09-11T12:00:00Z"); at += 10_000) {
      const next: Theme = themeBySun(sunAltitude({ lat: 52, lng: 5 + (random() - 0.5) * 0.2 }, at), theme);
      if (theme !== null && next !== theme) changes++;
      theme = next;
    }
    expect(changes).toBe(2);
  });

  it("follows the driver's choice, and the browser's preference while the position is unknown", () => {
    expect(themeFor("night", 50, "day", false)).toBe("night");
    expect(themeFor("day", -50, "night", true)).toBe("day");
    expect(themeFor("auto", -50, "day", false)).toBe("night");
    expect(themeFor("auto", null, "day", true)).toBe("night");
    expect(themeFor("auto", null, "night", false)).toBe("day");
  });
});
