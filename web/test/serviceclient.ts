// Requests that tests send to the service directly.

import { get } from "node:http";
import type { Entity } from "../overlay/src/net/wire.ts";
import { ownService } from "./owndemo.ts";

const randomByte = (): string => String(1 + Math.floor(Math.random() * 250));
/** otherAddress is a random local one: guests' requests are limited by address, so each request of a test uses another one. */
export const otherAddress = (): { localAddress?: string } =>
  process.platform === "linux" ? { localAddress: `127.${randomByte()}.${randomByte()}.${randomByte()}` } : {}; // on Linux all of 127/8 is local

/** read reads JSON as a guest. */
export function read<T>(path: string, service = ownService()): Promise<T> {
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

/** readTown returns the entities in the demo's town, of all kinds or of some. */
export async function readTown(kinds = "", service = ownService()): Promise<Entity[]> {
  const filter = kinds === "" ? "" : `&kinds=${kinds}`;
  return (await read<{ entities: Entity[] }>(`/v2/entities/nearby?lat=52&lng=5&radius=5000&limit=500${filter}`, service)).entities;
}

/** findOne returns an entity of a kind that the town has. */
export async function findOne(kind: string, service = ownService()): Promise<Entity> {
  const [entity] = await readTown(kind, service);
  if (entity === undefined) throw new Error(`there is no ${kind}`);
  return entity;
}
