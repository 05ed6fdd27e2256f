// Draws the pictures of the application from its one drawing: npm run appicons. The pictures are committed, since browsers and phones
// ask for PNG and ICO; run this after a change of internal/http/pages/app/icon.svg. It needs Chromium.

import { readFileSync, writeFileSync } from "node:fs";
import { chromium } from "playwright-core";

const folder = new URL("../../internal/http/pages/app/", import.meta.url);
const drawing = readFileSync(new URL("icon.svg", folder), "utf8");
// Phones cut a maskable icon to a circle or a square of their own: it has no round corners, and its drawing is smaller.
const full = drawing.replace(/ rx="\d+"/, "");
const maskable = full.replace('viewBox="0 0 512 512"', 'viewBox="-40 -40 592 592"').replace('<rect width="512" height="512"', '<rect x="-40" y="-40" width="592" height="592"');

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", chromiumSandbox: false });

/** draw returns a PNG with so many pixels along each side. */
async function draw(svg, size) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(`<style>body{margin:0}svg{display:block;width:100vw;height:100vh}</style>${svg}`);
  const picture = await page.screenshot({ omitBackground: true });
  await page.close();
  return picture;
}

/** icoOf wraps one PNG as an ICO file: a header of 6 bytes and an entry of 16. */
function icoOf(png, size) {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2); // an icon
  head.writeUInt16LE(1, 4); // one picture
  head.writeUInt8(size, 6);
  head.writeUInt8(size, 7);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12); // bits of a pixel
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}

const files = {
  "icon-192.png": await draw(drawing, 192),
  "icon-512.png": await draw(drawing, 512),
  "icon-maskable-512.png": await draw(maskable, 512),
  "apple-touch-icon.png": await draw(full, 180),
  "favicon.ico": icoOf(await draw(drawing, 32), 32),
};
for (const [name, content] of Object.entries(files)) writeFileSync(new URL(name, folder), content);
await browser.close();
