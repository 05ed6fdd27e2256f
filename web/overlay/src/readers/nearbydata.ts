// The entities around the car and their sources' health, updated by each message of the service (pure).

import type { StreamEvent } from "../net/sseparser.ts";
import type { Entity, NearbyAnswer, SourceHealth } from "../net/wire.ts";

/** NearbyData is the data around the driver. */
export interface NearbyData {
  entities: ReadonlyMap<string, Entity>;
  health: readonly SourceHealth[];
  /** fetched_at_utc of the latest answer; null if there was none. */
  fetched: string | null;
  /** There are more entities around than the answer has. */
  truncated: boolean;
  /** Ids of the kinds that a restriction hides here. */
  hidden: readonly string[];
}

/** noData is the state before the first answer. */
export const noData: NearbyData = { entities: new Map(), health: [], fetched: null, truncated: false, hidden: [] };

/** fromAnswer replaces everything by a complete answer. */
export function fromAnswer(answer: NearbyAnswer): NearbyData {
  return { entities: new Map(answer.entities.map((entity) => [entity.id, entity])), health: answer.sources, fetched: answer.fetched_at_utc, truncated: answer.truncated === true, hidden: answer.hidden_kinds ?? [] };
}

/** applyEvents applies events in order. Unknown types are ignored. */
export function applyEvents(before: NearbyData, events: readonly StreamEvent[]): NearbyData {
  let { entities, health, fetched, truncated, hidden } = before;
  let copy: Map<string, Entity> | null = null; // copied once, before the first change
  const change = (): Map<string, Entity> => {
    copy ??= new Map(entities);
    entities = copy;
    return copy;
  };
  for (const { type, data } of events) {
    // The payloads are not validated: the service that wrote them is the same program that served this page.
    switch (type) {
      case "snapshot": {
        ({ entities, health, fetched, truncated, hidden } = fromAnswer(JSON.parse(data) as NearbyAnswer));
        copy = null;
        break;
      }
      case "entity": {
        const entity = JSON.parse(data) as Entity;
        change().set(entity.id, entity);
        break;
      }
      case "gone":
        change().delete((JSON.parse(data) as { id: string }).id);
        break;
      case "ids": {
        const answer = JSON.parse(data) as { ids: string[]; sources: SourceHealth[] };
        const there = new Set(answer.ids);
        for (const id of [...entities.keys()]) if (!there.has(id)) change().delete(id);
        health = answer.sources;
        break;
      }
      case "sources":
        health = (JSON.parse(data) as { sources: SourceHealth[] }).sources;
        break;
    }
  }
  return { entities, health, fetched, truncated, hidden };
}

