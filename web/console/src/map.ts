// Draws a feed's entities in every element with data-feed-map (see internal/http/console/doc.go). The map library, the pins and the base
// map are those of the overlay.

import { getConfig, getKinds } from "../../overlay/src/net/api.ts";
import { element } from "../../overlay/src/browser/dom.ts";
import { loadLibrary, mayDraw } from "../../overlay/src/map/map.ts";
import { openFeedMap, type Update } from "./feedmap.ts";
import { itemsOf, type Item } from "./features.ts";
import { feedChanged } from "./live.ts";
import { wordsOf, type Words } from "./words.ts";

const words = wordsOf(document.body.dataset["mapWords"]);

/** styled loads the style sheet beside this script. */
function styled(): Promise<void> {
  const sheet = element("link", { rel: "stylesheet", href: new URL("./map.css", import.meta.url).href });
  return new Promise((resolve) => {
    sheet.addEventListener("load", () => {
      resolve();
    });
    sheet.addEventListener("error", () => {
      resolve();
    });
    document.head.append(sheet);
  });
}

async function read({ dataset }: HTMLElement): Promise<unknown> {
  const pins = dataset["pins"];
  if (pins !== undefined) return JSON.parse(pins);
  const address = dataset["source"] ?? dataset["feedMap"] ?? "";
  const answer = await fetch(new URL(address, location.href), { headers: { Accept: "application/geo+json" }, cache: "no-cache" });
  if (!answer.ok) throw new Error(`the service answered ${String(answer.status)}`);
  return answer.json();
}

/** show fills one element, now and whenever the feed changes, or shows why it cannot. */
async function show(place: HTMLElement, words: Words): Promise<void> {
  const note = element("p", { class: "map-note", role: "status" });
  place.after(note);
  const say = (text: string): void => {
    note.textContent = text;
  };
  let update = await draw(place, words, say);
  if (place.dataset["pins"] !== undefined) return;
  document.addEventListener(feedChanged, () => {
    void readItems(place, words, say).then(async (items) => {
      if (items === null) return;
      if (update) update(items);
      else update = await drawItems(place, words, say, items);
    });
  });
}

async function draw(place: HTMLElement, words: Words, say: (text: string) => void): Promise<Update | null> {
  const items = await readItems(place, words, say);
  return items === null ? null : drawItems(place, words, say, items);
}

/** readItems returns null if the service does not answer. */
async function readItems(place: HTMLElement, words: Words, say: (text: string) => void): Promise<readonly Item[] | null> {
  try {
    const { items, truncated } = itemsOf(await read(place));
    const empty = place.dataset["quiet"] === undefined ? words("map.empty") : "";
    say(items.length === 0 ? empty : truncated ? words("map.first", items.length) : "");
    return items;
  } catch (error) {
    console.warn(error);
    say(words("map.failed"));
    return null;
  }
}

/** drawItems returns null if there is nothing to draw, or no way to. */
async function drawItems(place: HTMLElement, words: Words, say: (text: string) => void, items: readonly Item[]): Promise<Update | null> {
  if (items.length === 0) return null;
  place.hidden = false;
  try {
    if (!mayDraw()) throw new Error("no WebGL");
    const [library, config, kinds] = await Promise.all([loadLibrary(), getConfig(), getKinds(), styled()]);
    const update = await openFeedMap({ library, place, config, kinds, items, words });
    const credits = [config.base_map?.attribution, place.dataset["attribution"]].filter((text) => text !== undefined && text !== "");
    if (credits.length > 0) place.after(element("p", { class: "map-credit" }, credits.join(" · ")));
    return update;
  } catch (error) {
    console.warn(error);
    place.hidden = true;
    place.replaceChildren();
    say(words("map.missing"));
    return null;
  }
}

for (const place of document.querySelectorAll<HTMLElement>("[data-feed-map]")) void show(place, words);
