// The page without a network: registers the service worker, keeps the last pins for a start without a connection, shows
// them then, and keeps the screen on. Loaded once the first pins are there, or once the service does not answer.

import { hasSignedIn } from "../state/account.ts";
import type { NearbyReader } from "../readers/nearbyreader.ts";
import { restorePins, type StoredPins } from "../readers/offlinepins.ts";
import { forgetPins, pinCache } from "../state/pincache.ts";
import { serverTime } from "../net/serverclock.ts";
import type { State } from "../state/state.ts";
import type { Entity } from "../net/wire.ts";
import { keepAwake } from "./wakelock.ts";

const address = "/offline/pins.json"; // in the cache only
const saveInterval = 20_000; // ms

/** startOffline runs until the page is closed. */
export function startOffline(state: State, reader: NearbyReader): void {
  keepAwake(state);
  if (!("caches" in window)) return; // not a secure context
  let registered = false;
  state.connection.watch((connection) => {
    if (connection === null || connection.how === "lost") return;
    if (!registered) void register();
    registered = true;
  });
  if (!isReached(state)) void restore(state, reader);
  keepPins(state);
}

/** isReached reports whether the service has ever answered this page. */
const isReached = (state: State): boolean => state.clock.get() !== null;

async function register(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  try {
    const registration = await navigator.serviceWorker.register("/sw.js");
    // Browsers look for a new worker in their own time; a page of a new release needs it now.
    if (registration.active !== null) await registration.update();
  } catch (error) {
    console.warn(error); // the page works without
  }
}

/** restore shows the stored pins, unless the service answers meanwhile. */
async function restore(state: State, reader: NearbyReader): Promise<void> {
  try {
    const found = await (await caches.open(pinCache)).match(address);
    if (found === undefined) return;
    const pins = restorePins(await found.json(), Date.now(), hasSignedIn());
    if (pins === null) await forgetPins();
    else if (!isReached(state)) reader.restore(pins);
  } catch (error) {
    console.warn(error); // storage is forbidden, or was written halfway
  }
}

/** keepPins stores the pins every now and then while they are current, and when the page is left. */
function keepPins(state: State): void {
  let saved: readonly Entity[] = []; // those at the start count as a change
  let account = hasSignedIn();
  const save = (): void => {
    const connection = state.connection.get();
    if (connection === null || connection.how === "lost" || state.known.get() === saved) return;
    const known = state.known.get();
    // After a sign-in or a sign-out the pins are still the ones that the other one reads: the next change brings the own ones.
    const changed = account !== hasSignedIn();
    account = hasSignedIn();
    saved = known;
    if (!changed) void put({ form: 1, wall: Date.now(), server: serverTime(state.clock.get(), performance.now(), Date.now()), account, entities: known, health: state.health.get(), hidden: state.hidden.get() });
  };
  setInterval(save, saveInterval);
  document.addEventListener("visibilitychange", save);
  window.addEventListener("pagehide", save);
  state.known.watch(() => {
    if (saved.length === 0) save(); // the first pins
  });
}

async function put(pins: StoredPins): Promise<void> {
  try {
    await (await caches.open(pinCache)).put(address, new Response(JSON.stringify(pins), { headers: { "Content-Type": "application/json" } }));
  } catch (error) {
    console.warn(error); // the disk is full
  }
}
