// What the tests ask the service themselves, past the page.

import { get } from "node:http";
import { inject } from "vitest";
import type { Entity } from "../overlay/src/wire.ts";

// Guests' requests are counted by address, and neither the page nor another test shall pay for what a test asks.
const randomByte = (): string => String(1 + Math.floor(Math.random() * 250));
const otherAddress = (): { localAddress?: string } =>
  process.platform === "linux" ? { localAddress: `127.${randomByte()}.${randomByte()}.${randomByte()}` } : {}; // there all of 127/8 is this machine

/** read reads JSON as a guest. */
export function read<T>(path: string, service = inject("service")): Promise<T> {
  return new Promise((resolve, reject) => {
    get(service + path, otherAddress(), (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => {
        if (answer.statusCode === 200) resolve(JSON.parse(text) as T);
        else reject(new Error(`${path}: ${String(answer.statusCode)}`));
      });
    }).on("error", reject);
  });
}

/** readTown reads what is in the demo's town, of all kinds or of some. */
export async function readTown(kinds = "", service = inject("service")): Promise<Entity[]> {
  const filter = kinds === "" ? "" : `&kinds=${kinds}`;
  return (await read<{ entities: Entity[] }>(`/v2/entities/nearby?lat=52&lng=5&radius=5000&limit=500${filter}`, service)).entities;
}

/** findOne finds an entity of a kind of which the town has some. */
export async function findOne(kind: string, service = inject("service")): Promise<Entity> {
  const [entity] = await readTown(kind, service);
  if (entity === undefined) throw new Error(`there is no ${kind}`);
  return entity;
}
