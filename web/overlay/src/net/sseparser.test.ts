import { expect, test } from "vitest";
import { parseChunk, initialParser, type StreamEvent } from "./sseparser.ts";

function readAll(pieces: readonly string[]): { events: StreamEvent[]; id: string } {
  let parser = initialParser;
  const all: StreamEvent[] = [];
  for (const chunk of pieces) {
    const parsed = parseChunk(parser, chunk);
    parser = parsed.parser;
    all.push(...parsed.events);
  }
  return { events: all, id: parser.id };
}

const text = 'retry: 2500\n\nevent: snapshot\ndata: {"a":\ndata: 1}\nid: x-1\n\n:\nid: x-2\n\nevent: gone\ndata:{"id":"b"}\n\n';
const events = [
  { type: "snapshot", data: '{"a":\n1}' },
  { type: "gone", data: '{"id":"b"}' },
];

test("events come whole, and a beat moves the id without being one", () => {
  expect(readAll([text])).toEqual({ events, id: "x-2" });
});

test("it does not matter where the pieces are cut, nor how lines end", () => {
  for (const lines of ["\n", "\r\n", "\r"].map((end) => text.replace(/\n/g, end))) {
    expect(readAll(Array.from(lines))).toEqual({ events, id: "x-2" });
    for (let cut = 1; cut < lines.length; cut++) {
      expect(readAll([lines.slice(0, cut), lines.slice(cut)])).toEqual({ events, id: "x-2" });
    }
  }
});

test("what was broken off in the middle is no event", () => {
  expect(readAll(["event: entity\ndata: {}\n"]).events).toEqual([]);
});

test("only a field named id sets the id, and none with a NUL", () => {
  expect(readAll(["id: a\n\nretry: 5\n\nid: b\0c\n\n"]).id).toBe("a");
});
