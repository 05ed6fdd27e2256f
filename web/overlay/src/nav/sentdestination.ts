// A car that a phone has signed in asks for the destination that the phone sent.

import type { Preferences } from "../state/account.ts";
import { cleanName } from "./geouri.ts";
import type { Destination } from "../state/state.ts";

/** destinationPath is the path of the destination that the phone sends. */
export const destinationPath = "/v2/account/destination";

const askInterval = 30_000; // ms

/** parseSent parses the service's answer; null if nothing was sent (pure). */
export function parseSent(answer: unknown): Destination | null {
  const { destination } = (typeof answer === "object" && answer !== null ? answer : {}) as { destination?: unknown };
  if (typeof destination !== "object" || destination === null) return null;
  const { lat, lng, name, detail } = destination as Record<string, unknown>;
  if (typeof lat !== "number" || typeof lng !== "number" || !(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) return null;
  const text = (value: unknown): string => (typeof value === "string" ? cleanName(value) : "");
  return { place: { lat, lng }, name: text(name), detail: text(detail) };
}

/** keepAsking asks while a paired screen's page is visible. The service gives a destination to one car, once. */
export function keepAsking(preferences: Preferences, driveTo: (destination: Destination) => void): void {
  const ask = async (): Promise<void> => {
    if (preferences.person.get()?.scope !== "screen" || document.visibilityState !== "visible") return;
    try {
      const response = await fetch(`${destinationPath}/take`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
      if (!response.ok) return;
      const sent = parseSent(await response.json());
      if (sent !== null) driveTo(sent);
    } catch {
      return; // it is asked again
    }
  };
  setInterval(() => {
    void ask();
  }, askInterval);
  preferences.person.watch(() => {
    void ask();
  });
}
