import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { makeContext } from "../../../overlay/src/apps/host.ts";
import { addressFinding, firstParts, printable, startFindings, Watch, withUnknown } from "./checks.ts";
import { describe as inWords } from "./describe.ts";
import { blankConfig, fullConfig, parseConfig, parseSchema } from "./samples.ts";

const times = { load: 10_000, settle: 0, hidden: 0 };

describe("samples", () => {
  const schema = parseSchema([
    { key: "name", type: "text", max_length: 3 },
    { key: "token", type: "text", required: true },
    { key: "limit", type: "number", min: 5, default: 80 },
    { key: "warn", type: "boolean" },
    { key: "plug", type: "select", options: ["ccs", "type2"], required: true },
    { key: "site", type: "url" },
    { key: "count", type: "number", max: -2 },
  ]);

  it("fill every field, by what the developer set first", () => {
    expect(fullConfig(schema, { token: "k" })).toEqual({ name: "Sam", token: "k", limit: 80, warn: true, plug: "ccs", site: "https://example.org/", count: -2 });
  });

  it("leave blank fields out, but those with a default", () => {
    expect(blankConfig(schema, { token: "k", name: "Ada" })).toEqual({ token: "k", limit: 80, plug: "ccs" });
    expect(blankConfig([], {})).toEqual({});
  });

  it("name what is wrong", () => {
    expect(() => parseSchema({})).toThrow("config_schema must be an array");
    expect(() => parseSchema([{ key: "a", type: "date" }])).toThrow("config_schema[0]");
    expect(() => parseSchema([null])).toThrow("config_schema[0]");
    expect(() => parseSchema([{ key: "a", type: "select" }])).toThrow("options");
    expect(() => parseConfig([])).toThrow("config must be an object");
    expect(() => parseConfig({ a: null })).toThrow("config.a");
    expect(parseConfig(undefined)).toEqual({});
  });
});

describe("what an app did", () => {
  it("passes with contexts and a ready", () => {
    const watch = new Watch();
    watch.take({ kind: "sent", message: {} });
    watch.take({ kind: "ready", message: { type: "ready" } });
    expect(watch.finding("theme")).toEqual({ check: "theme", seen: "1 context sent, 1 ready", result: "pass" });
  });

  it.each([
    ["a navigation", [{ kind: "load" }], "navigated away"],
    ["another message", [{ kind: "other", message: { hello: 1 } }], '1 message other than {"type":"ready"}, such as {"hello":1}'],
    ["a loop of ready", Array.from({ length: 4 }, () => ({ kind: "ready" as const, message: {} })), "4 ready messages"],
    ["a flood", [{ kind: "flood", suspended: true }], "suspended"],
  ] as const)("fails for %s", (_, events, seen) => {
    const watch = new Watch();
    for (const event of events) watch.take(event);
    const finding = watch.finding("size");
    expect(finding.result).toBe("fail");
    expect(finding.seen).toContain(seen);
  });

  it("fails for errors, each named once", () => {
    const watch = new Watch();
    for (let i = 0; i < 5; i++) watch.problem("TypeError");
    expect(watch.finding("theme")).toEqual({ check: "theme", seen: "TypeError (5 times)", result: "fail" });
    for (const text of ["a", "b", "c"]) watch.problem(text);
    expect(watch.finding("theme").seen).toBe("TypeError (5 times); a; b; 1 more errors");
  });

  it("fails without load or ready", () => {
    expect(startFindings({ loaded: 5, ready: 7 }, new Watch(), times).map(({ result }) => result)).toEqual(["pass", "pass"]);
    expect(startFindings({ loaded: null, ready: null }, new Watch(), times, "-again").map(({ check, result }) => [check, result])).toEqual([["loads-again", "fail"], ["ready-again", "fail"]]);
  });
});

it("judges addresses", () => {
  expect(["https://a.example/", "http://localhost:9000/", "http://a.example/"].map((url) => addressFinding(url).result)).toEqual(["pass", "pass", "fail"]);
});

it("shortens messages, and takes out what no text may hold", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  expect(inWords({ a: "x".repeat(100) }, 10)).toBe('{"a":"xxx…');
  expect([inWords(cyclic), inWords(undefined), inWords(1n)]).toEqual(["[object Object]", "undefined", "1"]);
  expect(printable("a\u0000b\u202ec\ud83dd😀")).toBe("a b c d😀");
});

it("sends messages that fit their JSON Schemas", () => {
  // internal/people/apps/schemas_test.go holds this file against the schemas.
  const path = new URL("../../../../internal/people/apps/testdata/messages.json", import.meta.url);
  const messages = JSON.parse(readFileSync(path, "utf8")) as { context: unknown[]; ready: unknown[] };
  const first = firstParts("widget", { api_key: "k", limit: 80, rate: "fast", warn: true, blank: "" });
  const second = firstParts("notifications", {});
  expect([makeContext({ ...first, theme: "night" }), makeContext({ ...second, units: "imperial", uiSize: 0, size: { width: 390, height: 199.7 }, device: { kind: "phone", input: "pointer" } })]).toEqual(messages.context);
  expect(withUnknown(makeContext(first))).toMatchObject({ type: "context", season: "winter", device: { kind: "car" } });
});
