// The kinds' drawings as images of the map, drawn to a canvas at the screen's density.

import type { Map as MapLibre } from "maplibre-gl";
import type { Kind } from "./wire.ts";

/** Side of an icon in CSS pixels. */
const side = 56;

/** addIcons gives the map an image for each kind, under the kind's id. A drawing that does not load leaves its kind without. */
export async function addIcons(map: MapLibre, kinds: readonly Kind[], density: number): Promise<void> {
  await Promise.allSettled(
    kinds.map(async (kind) => {
      const image = await draw(new URL(kind.icon_url).pathname, Math.round(side * density));
      if (!map.hasImage(kind.id)) map.addImage(kind.id, image, { pixelRatio: density });
    }),
  );
}

/** draw gives the pixels of a drawing of this service. */
async function draw(path: string, pixels: number): Promise<ImageData> {
  const drawing = new Image(pixels, pixels);
  drawing.src = path;
  await drawing.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = pixels;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  context.drawImage(drawing, 0, 0, pixels, pixels);
  return context.getImageData(0, 0, pixels, pixels);
}
