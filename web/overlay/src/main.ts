// The page that a driver opens in the car: it ties the modules together and decides nothing.
//
//   wire.ts        what the service answers (types)
//   api.ts         the one way out: reads of this service
//   cell.ts        a value that others watch: all of the state
//   geo.ts         distances and directions (pure)
//   position.ts    where the driver is
//   reader.ts      keeps what is near up to date
//   map.ts         opens MapLibre
//   basemap.ts     the map below the pins
//   icons.ts       the kinds' drawings as images of the map
//   pins.ts        source and layers of the pins; difference.ts reckons what changed (pure)
//   menu.ts, notice.ts, attribution.ts   panels over the map; dom.ts makes elements
//   words.ts       every text that is shown

import { getConfig, getKinds } from "./api.ts";
import { attribute } from "./attribution.ts";
import { baseStyle } from "./basemap.ts";
import { byId } from "./dom.ts";
import { addIcons } from "./icons.ts";
import { canDraw, openMap } from "./map.ts";
import { makeMenu } from "./menu.ts";
import { makeNotice, type Notice } from "./notice.ts";
import { drawPins } from "./pins.ts";
import { locate, type Finding } from "./position.ts";
import { read } from "./reader.ts";
import { words } from "./words.ts";

const findingText: Record<Finding, string | null> = {
  asking: words.locating,
  found: null,
  named: null,
  refused: words.pick,
  missing: words.pick,
};

async function start(notice: Notice, panels: HTMLElement): Promise<void> {
  const where = locate(new URLSearchParams(location.search).get("at"), "geolocation" in navigator ? navigator.geolocation : null, Date.now);
  const reader = read(() => where.fix.get());
  if (!canDraw()) {
    notice.say(words.cannotDraw);
    return;
  }
  const [config, kinds] = await Promise.all([getConfig(), getKinds()]);
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--ground").trim();
  const center = where.fix.get();
  const map = await openMap({ container: byId("map"), style: baseStyle(config, ground), center });
  panels.append(attribute(config));
  await addIcons(map, kinds, window.devicePixelRatio);
  const pins = drawPins(map);
  reader.entities.watch((entities) => {
    pins.show(entities);
  });
  where.finding.watch((finding) => {
    notice.say(findingText[finding]);
  });
  let centred = center !== null;
  where.fix.watch((fix) => {
    if (fix === null || centred) return;
    centred = true;
    map.jumpTo({ center: fix, zoom: 14 });
  });
  map.on("click", ({ lngLat }) => {
    const finding = where.finding.get();
    if (finding === "refused" || finding === "missing") where.name(lngLat);
  });
}

const notice = makeNotice();
const panels = byId("panels");
panels.append(notice.element, makeMenu());
start(notice, panels).catch((error: unknown) => {
  notice.say(words.cannotStart);
  console.error(error);
  setTimeout(() => {
    location.reload();
  }, 5000);
});
