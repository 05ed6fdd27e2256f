// The map during a drive: the whole route by one touch, and the car again by itself.

import type { Place } from "../geo/geo.ts";
import type { NavDeps } from "./deps.ts";
import { part } from "./routeline.ts";

const backAfter = 15_000; // ms without a touch of the map

/** boundsOf returns the bounds of places, in degrees; null without any (pure). */
export function boundsOf(places: readonly Place[]): [west: number, south: number, east: number, north: number] | null {
  if (places.length === 0) return null;
  const [lats, lngs] = [places.map(({ lat }) => lat), places.map(({ lng }) => lng)];
  const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b));
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b));
  return [least(lngs), least(lats), most(lngs), most(lats)];
}

/** mountOverview watches nav.overview. */
export function mountOverview({ host, nav }: NavDeps): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const { following } = host.state;
  const wait = (): void => {
    clearTimeout(timer);
    if (nav.phase.get() === "led" && !following.get()) {
      timer = setTimeout(() => {
        if (nav.phase.get() === "led") following.set(true);
      }, backAfter);
    }
  };
  nav.overview.watch((isShown) => {
    if (!isShown) {
      if (nav.phase.get() === "led") following.set(true);
      return;
    }
    const [led, map] = [nav.led.get(), host.map.get()];
    const bounds = led === null ? null : boundsOf(part(led.line, nav.progress.get()?.metres ?? 0, led.line.length));
    if (bounds === null || map === null) return;
    following.set(false);
    const { clientWidth: width, clientHeight: height } = map.getContainer();
    const top = Math.min(height * 0.35, (host.slots.head.getBoundingClientRect().bottom || 0) + 40);
    map.fitBounds(bounds, { bearing: 0, animate: false, padding: { top, bottom: Math.min(height * 0.3, 170), left: Math.min(60, width * 0.1), right: Math.min(120, width * 0.15) }, maxZoom: 16 });
    wait();
  });
  following.watch((follows) => {
    if (follows) nav.overview.set(false);
    wait();
  });
  host.map.watch((map) => {
    map?.on("moveend", wait);
  });
}
