// Draws a feed's entities in every element with data-feed-map (see internal/console/doc.go). The map library, the pins and the base
// map are those of the overlay.

import { getConfig, getKinds } from "../../overlay/src/api.ts";
import { element } from "../../overlay/src/dom.ts";
import { loadLibrary, mayDraw } from "../../overlay/src/map.ts";
import { openFeedMap } from "./feedmap.ts";
import { itemsOf } from "./features.ts";
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

/** draw fills one element, or shows why it cannot. */
async function draw(place: HTMLElement, words: Words): Promise<void> {
  const note = element("p", { class: "map-note", role: "status" });
  place.after(note);
  const say = (text: string): void => {
    note.textContent = text;
  };
  let items;
  try {
    const answer = itemsOf(await read(place));
    items = answer.items;
    if (answer.truncated) say(words("map.first", items.length));
  } catch (error) {
    console.warn(error);
    say(words("map.failed"));
    return;
  }
  if (items.length === 0) {
    say(words("map.empty"));
    return;
  }
  place.hidden = false;
  try {
    if (!mayDraw()) throw new Error("no WebGL");
    const [library, config, kinds] = await Promise.all([loadLibrary(), getConfig(), getKinds(), styled()]);
    await openFeedMap({ library, place, config, kinds, items, words });
    const credits = [config.base_map?.attribution, place.dataset["attribution"]].filter((text) => text !== undefined && text !== "");
    if (credits.length > 0) place.after(element("p", { class: "map-credit" }, credits.join(" · ")));
  } catch (error) {
    console.warn(error);
    place.hidden = true;
    place.replaceChildren();
    say(words("map.missing"));
  }
}

for (const place of document.querySelectorAll<HTMLElement>("[data-feed-map]")) void draw(place, words);
