import { expect, it } from "vitest";
import type { Field } from "./api.ts";
import { configOf, errorKey, initialValue, mask, stepped } from "./fieldvalues.ts";

const token: Field = { key: "token", label: "Token", type: "text", secret: true, required: true };
const plug: Field = { key: "plug", label: "Plug", type: "select", options: ["ccs", "type2"], default: "ccs" };
const power: Field = { key: "power", label: "Power", type: "number", min: 0, max: 350, step: 0.1 };
const schema: Field[] = [token, plug, power, { key: "cheap", label: "Cheap", type: "boolean" }, { key: "page", label: "Page", type: "url" }];

const values = (all: Record<string, string | boolean>): Map<string, string | boolean> => new Map(Object.entries(all));

it("a blank optional field is missing, not null and not empty", () => {
  const { config, errors } = configOf(schema, values({ token: "a", plug: "", power: " ", cheap: false, page: "" }));
  expect(errors).toEqual([]);
  expect(config).toEqual({ token: "a", cheap: false });
});

it("a secret that was not touched is sent back masked", () => {
  expect(initialValue(token, { token: mask }, true)).toBe(mask);
  expect(configOf(schema, values({ token: mask })).config["token"]).toBe(mask);
});

it("numbers are numbers within their bounds", () => {
  expect(configOf(schema, values({ token: "a", power: "11,5" })).config["power"]).toBe(11.5);
  expect(configOf(schema, values({ token: "a", power: "351" })).errors).toEqual([{ field: "power", code: "range" }]);
  expect(configOf(schema, values({ token: "a", power: "many" })).errors).toEqual([{ field: "power", code: "invalid" }]);
});

it("a required field is missed before the service is asked", () => {
  expect(configOf(schema, values({ token: "" })).errors).toEqual([{ field: "token", code: "missing" }]);
});

it("defaults stand in the form of an app that is not installed, and do not come back once they were cleared", () => {
  expect(initialValue(plug, {}, false)).toBe("ccs");
  expect(initialValue(plug, {}, true)).toBe("");
  expect(initialValue(plug, { plug: "type2" }, true)).toBe("type2");
  expect(initialValue({ key: "constructor", label: "", type: "text" }, {}, true)).toBe("");
});

it("steps stay within the bounds and have no rounding errors", () => {
  expect(stepped(power, "0.2", true)).toBe("0.3");
  expect(stepped(power, "", true)).toBe("0");
  expect(stepped(power, "0", false)).toBe("0");
  expect(stepped(power, "350", true)).toBe("350");
});

it("errors of the service belong to a field", () => {
  expect(errorKey("config.token")).toBe("token");
  expect(errorKey('config["token"]')).toBe("token");
  expect(errorKey("token")).toBe("token");
});
