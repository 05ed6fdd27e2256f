// Icons of kinds, status badges and clusters as images of the map, painted to a canvas at the screen's pixel density on demand.

import type { Map as MapLibre } from "maplibre-gl";
import type { ContextState } from "./map.ts";
import { tint, type Look } from "../pins/icontint.ts";
import type { Entity, Kind } from "../net/wire.ts";

/** Side of an icon in CSS pixels. */
export const side = 56;

const separator = "|";

/** pinImage returns the image name of a pin without the look, which the layer's style appends; limit is painted as a road sign. */
export const pinImage = (kind: string, status: Entity["status"], limit: number | null = null): string => ["pin", kind, limit === null ? status : `${status},${String(limit)}`].join(separator);
/** clusterImage returns the image name of a cluster, likewise. Large counts are rounded down, so that there are few images. */
export const clusterImage = (kind: string, count: number): string => ["cluster", kind, countText(count)].join(separator);
const exactCounts = 20;
/** countText rounds down to one digit: "7", "60+", "300+", "4k", "20k", "1M" (pure). */
export function countText(count: number): string {
  if (count < exactCounts) return String(count);
  const unit = 10 ** Math.floor(Math.log10(count) + 1e-9);
  const rounded = Math.floor(count / unit) * unit;
  if (rounded < 1000) return `${String(rounded)}+`;
  return rounded < 1_000_000 ? `${String(rounded / 1000)}k` : `${String(rounded / 1_000_000)}M`;
}
/** lookOf returns the suffix of an image name. */
export const lookOf = (look: Look): string => separator + look;

/** Icons adds images to the map. */
export class Icons {
  readonly #drawings = new Map<string, Promise<Drawing | null>>();
  readonly #paths: ReadonlyMap<string, string>;
  readonly #gravities: ReadonlyMap<string, number>;
  readonly #density: number;
  readonly #map: MapLibre;
  readonly #contextState: ContextState;
  /** On which all images are painted: making a canvas for each takes a slow processor longer than painting. */
  readonly #canvas: CanvasRenderingContext2D | null;

  constructor(map: MapLibre, contextState: ContextState, kinds: readonly Kind[], density: number) {
    this.#map = map;
    this.#contextState = contextState;
    this.#density = density;
    this.#canvas = makeCanvas(Math.round(side * density));
    this.#gravities = new Map(kinds.map(({ id, gravity }) => [id, gravity ?? 0]));
    this.#paths = new Map(kinds.map(({ id, icon_url }) => [id, new URL(icon_url).pathname]));
    map.on("styleimagemissing", ({ id }: { id: string }) => {
      void this.add([id]);
    });
  }

  /** gravityOf returns the gravity of a kind: the gravest kind's icon stands for a cluster. */
  gravityOf(kind: string): number {
    return this.#gravities.get(kind) ?? 0;
  }

  /** add ensures that the map has these images. A kind whose icon does not load gets a plain pin. */
  async add(names: Iterable<string>): Promise<void> {
    if (!this.#contextState.isAvailable()) return;
    await Promise.all([...new Set(names)].filter((name) => !this.#map.hasImage(name)).map((name) => this.#add(name)));
  }

  async #add(name: string): Promise<void> {
    const [sort, kind = "", about = "", look = "day"] = name.split(separator);
    if (sort !== "pin" && sort !== "cluster") return; // an image of the operator's style
    const drawing = await this.#drawing(kind);
    const image = this.#paint((context) => {
      if (sort === "cluster") {
        paintCluster(context, drawing?.image ?? null, about);
        return;
      }
      paintPin(context, drawing?.pixels ?? null);
      const [status, limit] = about.split(",");
      if (limit !== undefined) paintLimit(context, limit);
      if (status === "confirmed" || status === "disputed") paintBadge(context, status);
    });
    tint(image.data, look === "night" || look === "lost" ? look : "day");
    if (this.#contextState.isAvailable() && !this.#map.hasImage(name)) this.#map.addImage(name, image, { pixelRatio: this.#density });
  }

  #drawing(kind: string): Promise<Drawing | null> {
    const path = this.#paths.get(kind);
    if (path === undefined) return Promise.resolve(null);
    let drawing = this.#drawings.get(kind);
    if (drawing === undefined) {
      drawing = load(path, Math.round(side * this.#density));
      this.#drawings.set(kind, drawing);
      void drawing.then((loaded) => {
        if (loaded === null) this.#drawings.delete(kind); // retried with the next pin of the kind
      });
    }
    return drawing;
  }

  #paint(paint: (context: CanvasRenderingContext2D) => void): ImageData {
    const pixels = Math.round(side * this.#density);
    const context = this.#canvas;
    if (context === null) return new ImageData(pixels, pixels);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, pixels, pixels);
    context.scale(pixels / side, pixels / side);
    paint(context);
    return context.getImageData(0, 0, pixels, pixels);
  }
}

/** Drawing is a kind's icon. */
interface Drawing {
  /** In its own format, for painting at another size. */
  image: CanvasImageSource;
  /** Painted once, since a pin of each status begins with it. */
  pixels: CanvasImageSource;
}

function makeCanvas(pixels: number): CanvasRenderingContext2D | null {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = pixels;
  return canvas.getContext("2d", { willReadFrequently: true });
}

async function load(path: string, pixels: number): Promise<Drawing | null> {
  const image = new Image(pixels, pixels);
  image.src = path;
  try {
    await image.decode();
  } catch {
    return null;
  }
  const painted = makeCanvas(pixels);
  painted?.drawImage(image, 0, 0, pixels, pixels);
  return { image, pixels: painted?.canvas ?? image };
}

const dark = "#17324a";

function disc(context: CanvasRenderingContext2D, x: number, y: number, radius: number, fill: string): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
  context.lineWidth = 2.5;
  context.strokeStyle = "#fff";
  context.stroke();
}

function paintPin(context: CanvasRenderingContext2D, drawing: CanvasImageSource | null): void {
  if (drawing === null) paintPlain(context);
  else context.drawImage(drawing, 0, 0, side, side);
}

/** paintPlain paints the pin of a kind without an icon. */
function paintPlain(context: CanvasRenderingContext2D): void {
  disc(context, side / 2, side / 2, side * 0.36, dark);
  context.fillStyle = "#fff";
  context.fillRect(side / 2 - 2.5, side * 0.32, 5, side * 0.22);
  context.fillRect(side / 2 - 2.5, side * 0.6, 5, 5);
}

/** paintCluster paints two pins of a kind, one behind the other, and the count on a plate. */
function paintCluster(context: CanvasRenderingContext2D, drawing: CanvasImageSource | null, count: string): void {
  const share = 0.82;
  const paint = (x: number, alpha: number): void => {
    context.save();
    context.globalAlpha = alpha;
    context.translate(x, 0);
    context.scale(share, share);
    paintPin(context, drawing);
    context.restore();
  };
  paint(side * (1 - share), 0.55);
  paint(0, 1);
  const height = 22;
  const isLong = count.length > 3;
  const width = isLong ? 14 + 9 * count.length : 14 + 11 * count.length;
  const [x, y] = [side - width - 1, side - height - 1];
  const radius = height / 2;
  context.beginPath();
  context.moveTo(x + radius, y);
  context.arcTo(x + width, y, x + width, y + height, radius);
  context.arcTo(x + width, y + height, x, y + height, radius);
  context.arcTo(x, y + height, x, y, radius);
  context.arcTo(x, y, x + width, y, radius);
  context.fillStyle = dark;
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = "#fff";
  context.stroke();
  write(context, count, x + width / 2, y + height / 2 + 1, isLong ? 15 : 17);
}

/** paintLimit paints a speed limit as a road sign, at the pin's lower edge. */
function paintLimit(context: CanvasRenderingContext2D, limit: string): void {
  const radius = 14;
  const [x, y] = [side - radius - 1, side - radius - 1];
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = "#fff";
  context.fill();
  context.beginPath();
  context.arc(x, y, radius - 2, 0, 2 * Math.PI);
  context.lineWidth = 3;
  context.strokeStyle = "#c8102e";
  context.stroke();
  write(context, limit, x, y + 0.5, limit.length > 2 ? 11 : 13, "#111");
}

/** paintBadge shows the status by shape, not by colour alone. */
function paintBadge(context: CanvasRenderingContext2D, status: "confirmed" | "disputed"): void {
  const [x, y] = [side - 12, 12];
  disc(context, x, y, 10, status === "confirmed" ? "#0b6b37" : "#4c535a");
  if (status === "disputed") {
    write(context, "?", x, y + 0.5, 16);
    return;
  }
  context.beginPath();
  context.moveTo(x - 4.5, y + 0.5);
  context.lineTo(x - 1, y + 4);
  context.lineTo(x + 5, y - 3.5);
  context.lineWidth = 3;
  context.strokeStyle = "#fff";
  context.stroke();
}

function write(context: CanvasRenderingContext2D, text: string, x: number, y: number, size: number, colour = "#fff"): void {
  context.font = `bold ${String(size)}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = colour;
  context.fillText(text, x, y);
}
