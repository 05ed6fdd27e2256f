// Makes the picture of README.md anew from the demo's drive: make pictures. The program is named in $WAYSIDE. It needs Chromium.

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { chromium } from "playwright-core";

const folder = new URL("../../docs/pictures/", import.meta.url);
const program = process.env.WAYSIDE;
if (!program) throw new Error("name the program in $WAYSIDE");
const listen = process.env.LISTEN ?? "127.0.0.1:18097";
const car = { width: 1280, height: 800 };
const phone = { width: 390, height: 800 };
const gap = 24;

const demo = spawn(program, ["demo", "--listen", listen], { stdio: ["ignore", "pipe", "inherit"] });
const ready = new Promise((resolve, reject) => {
  demo.stdout.on("data", (text) => String(text).includes("Ctrl-C") && resolve(undefined));
  demo.on("exit", () => reject(new Error("the demo ended")));
});
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", chromiumSandbox: false, args: ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });

/** driveUntilAlert opens the demo's drive and takes its picture once something is announced. */
async function driveUntilAlert(size, theme) {
  const page = await browser.newPage({ viewport: size, locale: "en-IE", colorScheme: "light" });
  await page.addInitScript((name) => localStorage.setItem("wayside.choices", JSON.stringify({ choices: { theme: name }, updated: 1, unsent: false })), theme);
  await page.goto(`http://${listen}/?drive=demo`);
  const start = page.getByRole("button", { name: "Start the demo drive" });
  await start.click({ timeout: 15_000 }).catch(() => undefined); // only at a first visit
  await page.locator("#banner, .banner").first().waitFor({ state: "visible", timeout: 90_000 });
  await page.getByText("Tap to turn on sound").click({ timeout: 2000 }).catch(() => undefined);
  await page.waitForTimeout(1500); // until the map is drawn
  const picture = await page.screenshot();
  await page.close();
  return picture;
}

try {
  await ready;
  const pictures = [await driveUntilAlert(car, "night"), await driveUntilAlert(phone, "day")];
  const page = await browser.newPage();
  const side = await page.evaluate(
    async ({ sources, width, height, gap, left }) => {
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const paper = canvas.getContext("2d");
      for (const [i, source] of sources.entries()) {
        const image = Object.assign(new Image(), { src: source });
        await image.decode();
        paper.drawImage(image, i === 0 ? 0 : left + gap, 0);
      }
      return canvas.toDataURL("image/webp", 0.82);
    },
    { sources: pictures.map((p) => `data:image/png;base64,${p.toString("base64")}`), width: car.width + gap + phone.width, height: car.height, gap, left: car.width },
  );
  mkdirSync(folder, { recursive: true });
  const webp = Buffer.from(side.slice(side.indexOf(",") + 1), "base64");
  writeFileSync(new URL("drive.webp", folder), webp);
  console.log(`docs/pictures/drive.webp, ${String(webp.length)} bytes`);
} finally {
  await browser.close();
  demo.removeAllListeners("exit");
  demo.kill("SIGINT");
}
