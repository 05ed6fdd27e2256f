import { expect, it } from "vitest";
import { en } from "../i18n/en.ts";
import { makeFormat } from "../i18n/format.ts";
import { makeWords } from "../i18n/words.ts";
import { closureText } from "./noticetext.ts";

const words = { ...makeWords("en", en), format: makeFormat("en", "metric") };
const closure = { label: "Road closed", street: "Triq San Ġużepp", age: 200_000 };

it.each([
  [closure, 130_000, "Road closed, Triq San Ġużepp, reported 3 min ago. New route, 2 min longer."],
  [{ ...closure, age: 59_000 }, 59_000, "Road closed, Triq San Ġużepp. New route."],
  [{ ...closure, street: "", age: null }, null, "Road closed. New route."],
  [closure, -90_000, "Road closed, Triq San Ġużepp, reported 3 min ago. New route."],
  [{ label: "", street: "", age: null }, 130_000, "New route: a road ahead is closed."],
])("names the reason first, then the cost: %j, %s ms longer", (reason, longer, want) => {
  expect(closureText(reason, longer, words)).toBe(want);
});
