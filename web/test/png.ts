// Reads the pixels of a screenshot: of all PNG files only what Chromium writes, 8 bits per channel, RGB or RGBA, not interlaced.

import { inflateSync } from "node:zlib";

export interface Picture {
  width: number;
  height: number;
  /** Bytes for each pixel, red, green and blue first. */
  channels: number;
  pixels: Uint8Array;
}

/** decodePNG returns the pixels of a PNG file. */
export function decodePNG(file: Buffer): Picture {
  const [width, height, depth, colourType, interlace] = [file.readUInt32BE(16), file.readUInt32BE(20), file[24], file[25], file[28]];
  if (depth !== 8 || (colourType !== 2 && colourType !== 6) || interlace !== 0) throw new Error("a PNG of another form than screenshots have");
  const parts: Buffer[] = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    if (file.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  }
  const channels = colourType === 6 ? 4 : 3;
  return { width, height, channels, pixels: unfilter(inflateSync(Buffer.concat(parts)), width * channels, height, channels) };
}

/** unfilter undoes the filter that each line begins with: the difference to the left, above, their mean, or Paeth's choice. */
function unfilter(raw: Uint8Array, stride: number, height: number, channels: number): Uint8Array {
  const out = new Uint8Array(stride * height);
  for (let line = 0; line < height; line++) {
    const filter = raw[line * (stride + 1)] ?? 0;
    const [from, to] = [line * (stride + 1) + 1, line * stride];
    for (let i = 0; i < stride; i++) {
      const left = i < channels ? 0 : (out[to + i - channels] ?? 0);
      const above = line === 0 ? 0 : (out[to + i - stride] ?? 0);
      const corner = i < channels || line === 0 ? 0 : (out[to + i - stride - channels] ?? 0);
      out[to + i] = (raw[from + i] ?? 0) + predicted(filter, left, above, corner);
    }
  }
  return out;
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    default: {
      const [fromLeft, fromAbove, fromCorner] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
      if (fromLeft <= fromAbove && fromLeft <= fromCorner) return left;
      return fromAbove <= fromCorner ? above : corner;
    }
  }
}
