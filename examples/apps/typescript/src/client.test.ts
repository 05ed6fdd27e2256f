import { describe, expect, it } from "vitest";
import { connect, fontSize, type Context, type Frame } from "./client.ts";

/** newFrame is a window in which an app runs, with what it posted to its parent. */
function newFrame(): { frame: Frame; posted: unknown[]; deliver: (data: unknown, source?: unknown) => void } {
  const listeners = new Set<(event: { source: unknown; data: unknown }) => void>();
  const posted: unknown[] = [];
  const parent = { postMessage: (message: unknown, target: string) => posted.push([message, target]) };
  const frame: Frame = { parent, addEventListener: (_, listener) => listeners.add(listener), removeEventListener: (_, listener) => listeners.delete(listener) };
  return {
    frame,
    posted,
    deliver: (data, source = parent) => {
      for (const listener of listeners) listener({ source, data });
    },
  };
}

const context: Context = {
  ...{ type: "context", theme: "night", units: "metric", uiSize: 5, slot: "widget" },
  ...{ size: { width: 320, height: 480 }, device: { kind: "car", input: "touch" }, config: { name: "Ada" } },
};

describe("connect", () => {
  it("asks for a context once, and passes each one on", () => {
    const { frame, posted, deliver } = newFrame();
    const seen: Context[] = [];
    connect((next: Context) => seen.push(next), frame);
    expect(posted).toEqual([[{ type: "ready" }, "*"]]);
    deliver(context);
    deliver({ ...context, season: "winter" });
    expect(seen).toHaveLength(2);
    expect(posted).toHaveLength(1);
  });

  it("ignores other messages, and other windows", () => {
    const { frame, deliver } = newFrame();
    const seen: Context[] = [];
    connect((next: Context) => seen.push(next), frame);
    for (const other of [null, "context", 1, {}, { type: "ready" }, { type: "context" }]) deliver(other);
    deliver(context, {});
    expect(seen).toEqual([]);
  });

  it("ends", () => {
    const { frame, deliver } = newFrame();
    const seen: Context[] = [];
    connect((next: Context) => seen.push(next), frame)();
    deliver(context);
    expect(seen).toEqual([]);
  });
});

it("suggests a size of type for each density", () => {
  expect([0, 5, 10].map(fontSize)).toEqual([10.5, 13.5, 16.5]);
});
