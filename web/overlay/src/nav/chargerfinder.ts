// Finds the chargers on the way: reads them around the line, and has the service measure the detours.

import { cleanText, networkName, streetOf, textOf } from "../pins/entitylabels.ts";
import { placeOf } from "../pins/shapes.ts";
import { numberOf } from "../pins/wellknown.ts";
import type { Format } from "../i18n/format.ts";
import type { Entity } from "../net/wire.ts";
import type { NavigationAPI } from "./api.ts";
import { candidatesOf, detourOf, leaveOf, readPlaces, readRadius, type Candidate, type AlongRoute } from "./chargers.ts";
import { placeAt, secondsAt, segmentAt, type RouteLine } from "./routeline.ts";
import { bearing } from "../geo/geo.ts";

const maxRead = 200; // chargers around one place

/** FinderDeps are the dependencies of findChargers. */
export interface FinderDeps {
  api: NavigationAPI;
  /** The driver's charger networks; null for those of the tier. */
  networks: readonly string[] | null;
}

/** findChargers returns those near the line from so many metres on, with their detours, in no order. */
export async function findChargers({ api, networks }: FinderDeps, line: RouteLine, from: number, signal: AbortSignal): Promise<AlongRoute<Entity>[]> {
  const known = new Map<string, Entity>();
  for (const at of readPlaces(line, from)) {
    const entities = await api.chargers(placeAt(line, at), readRadius, maxRead, networks, signal);
    for (const entity of entities) known.set(entity.id, entity);
  }
  const candidates = candidatesOf(line, from, [...known.values()].map((value) => ({ value, place: placeOf(value) })));
  return candidates.length === 0 ? [] : measure(api, line, from, candidates, signal);
}

/** measure asks for two tables: from the line to the chargers, and back to it. */
async function measure(api: NavigationAPI, line: RouteLine, from: number, candidates: readonly Candidate<Entity>[], signal: AbortSignal): Promise<AlongRoute<Entity>[]> {
  const n = candidates.length;
  const leaves = candidates.map((one) => leaveOf(one, from, line.length));
  const chargers = candidates.map(({ place }) => place);
  const first = candidates.map((_, i) => i);
  const second = candidates.map((_, i) => n + i);
  const free = candidates.map(() => null);
  const there = await api.table([...leaves.map((leave) => placeAt(line, leave.from)), ...chargers], [...leaves.map((leave) => bearingAt(line, leave.from)), ...free], first, second, signal);
  const back = await api.table([...chargers, ...leaves.map((leave) => placeAt(line, leave.to))], [...free, ...leaves.map((leave) => (leave.to >= line.length ? null : bearingAt(line, leave.to)))], first, second, signal);
  return candidates.flatMap((candidate, i): AlongRoute<Entity>[] => {
    const leave = leaves[i];
    if (leave === undefined) return [];
    const detour = detourOf(there.durations[i]?.[i], back.durations[i]?.[i], secondsAt(line, leave.to) - secondsAt(line, leave.from));
    const away = there.distances[i]?.[i];
    if (detour === null || away === null || away === undefined) return [];
    return [{ ...candidate, detour, metres: leave.from - from + away }];
  });
}

/** bearingAt is the direction of the line: a place on a road with two carriageways is on the right one. */
function bearingAt(line: RouteLine, at: number): number | null {
  const segment = segmentAt(line, at);
  const [a, b] = [line.places[segment], line.places[segment + 1]];
  return a === undefined || b === undefined ? null : (bearing(a, b) + 360) % 360;
}

const longest = 60; // characters

/** chargerTexts returns a charger's name, and its network and power (pure). */
export function chargerTexts(entity: Entity, format: Format): { name: string; facts: string } {
  const network = textOf(entity, "network");
  const kw = numberOf(entity, "max_kw");
  const available = numberOf(entity, "available");
  const all = numberOf(entity, "evses");
  const name = cleanText(entity.properties["name"], longest) || streetOf(entity) || (network === "" ? "" : networkName(network));
  const power = kw === null || kw === 0 ? "" : `${format.number(Math.round(kw))} kW`;
  const places = available === null || all === null ? "" : `${format.number(available)}/${format.number(all)}`;
  return { name, facts: [network === "" ? "" : networkName(network), power, places].filter((text) => text !== "" && text !== name).join(" · ") };
}
