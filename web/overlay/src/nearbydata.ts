// What is known of the surroundings, as one message of the service after the other leaves it (pure).

import type { StreamEvent } from "./sseparser.ts";
import type { Entity, NearbyAnswer, SourceHealth } from "./wire.ts";

export interface NearbyData {
  entities: ReadonlyMap<string, Entity>;
  health: readonly SourceHealth[];
  /** The service's time of the answer that was read last; null: of none. */
  fetched: string | null;
  /** There is more around than was told. */
  truncated: boolean;
  /** Ids of the kinds that the law hides here. */
  hidden: readonly string[];
}

export const noData: NearbyData = { entities: new Map(), health: [], fetched: null, truncated: false, hidden: [] };

/** fromAnswer is after a whole answer: what is not in it is not there. */
export function fromAnswer(answer: NearbyAnswer): NearbyData {
  return { entities: new Map(answer.entities.map((entity) => [entity.id, entity])), health: answer.sources, fetched: answer.fetched_at_utc, truncated: answer.truncated === true, hidden: answer.hidden_kinds ?? [] };
}

/** applyEvents is after the events that came together. Types that nobody knows change nothing. */
export function applyEvents(before: NearbyData, events: readonly StreamEvent[]): NearbyData {
  let { entities, health, fetched, truncated, hidden } = before;
  let copy: Map<string, Entity> | null = null; // a copy of ours, made once
  const change = (): Map<string, Entity> => {
    copy ??= new Map(entities);
    entities = copy;
    return copy;
  };
  for (const { type, data } of events) {
    // The service writes what openapi.json says: it is the same program that served this page.
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

