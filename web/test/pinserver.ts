// A proxy of the demo that replaces the stream by a made-up one with many pins.

import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { seeded } from "./seeded.ts";
import type { Entity } from "../overlay/src/net/wire.ts";
import { otherAddress } from "./serviceclient.ts";

const kinds = ["traffic.jam", "alert.police", "alert.hazard.object_on_road", "charger.supercharger", "camera.speed", "alert.accident", "alert.construction"];
const changeInterval = 500; // ms

export interface PinServer {
  url: string;
  close(): void;
}

export interface PinServerOptions {
  /** Each request comes from another address, for a page whose clock is so fast that it asks more than a guest may. */
  ofMany?: boolean;
  /** Places that the pins are near, as longitude and latitude, instead of in the town. */
  along?: readonly (readonly [number, number])[];
}

/** startPinServer places so many pins around the demo's drive, some with lines or zones, and changes one every half second. */
export async function startPinServer(demo: string, count: number, { ofMany = false, along = [] }: PinServerOptions = {}): Promise<PinServer> {
  const random = seeded(9);
  const near = (by: number): number => (random() - 0.5) * by;
  const place = (): [number, number] => {
    const on = along[Math.floor(random() * along.length)];
    return on === undefined ? [5 + near(0.06), 52 + near(0.035)] : [on[0] + near(0.016), on[1] + near(0.01)];
  };
  const make = (i: number): Entity => {
    const now = Date.now();
    const at = (milliseconds: number): string => new Date(now + milliseconds).toISOString();
    return {
      id: `many:${String(i)}`,
      layer_slug: "many",
      kind_id: kinds[i % kinds.length] ?? "alert.police",
      geom: { type: "Point", coordinates: place() },
      geom_line: i % 25 === 0 ? { type: "LineString", coordinates: [place(), place()] } : null,
      first_seen_at: at(-600_000),
      last_seen_at: at(0),
      expires_at: at(900_000 + i * 1000),
      status: (["reported", "confirmed", "disputed"] as const)[i % 3] ?? "reported",
      confidence: 0.5,
      confirm_count: 0,
      dispute_count: 0,
      properties: i % 50 === 1 ? { wayside_zone_m: 400 } : {},
    };
  };
  const pins = Array.from({ length: count }, (_, i) => make(i));
  const target = new URL(demo);
  const server = createServer((question, answer) => {
    if (!(question.url ?? "").startsWith("/v2/stream")) {
      const forward = request({ host: target.hostname, port: target.port, path: question.url, method: question.method, headers: question.headers, ...(ofMany && otherAddress()) }, (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      });
      forward.on("error", () => answer.destroy());
      question.pipe(forward);
      return;
    }
    const body = JSON.stringify({ entities: pins, sources: [], networks_applied: [], fetched_at_utc: new Date().toISOString() });
    answer.writeHead(200, { "Content-Type": "text/event-stream" });
    answer.write(`event: snapshot\ndata: ${body}\nid: 1-0-0\n\n`);
    const timer = setInterval(() => {
      const i = Math.floor(random() * count);
      const pin = make(i);
      pins[i] = pin;
      answer.write(`event: entity\ndata: ${JSON.stringify(pin)}\nid: 1-0-0\n\n`);
    }, changeInterval);
    question.on("close", () => {
      clearInterval(timer);
    });
  });
  await listening(server);
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
}
