import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openCar, town } from "./harness.ts";

/** The smallest window with room for the panels: the time of a frame is made of its pixels, and the rest of its drawing costs only time. */
const viewport = { width: 800, height: 500 };

/** slowGraphics blocks the page in each frame in proportion to the map's pixels: on any machine too long at full resolution. */
function slowGraphics(): void {
  const frame = (): void => {
    const { width = 0, height = 0 } = document.querySelector("canvas") ?? {};
    const until = performance.now() + 115e-6 * width * height;
    while (performance.now() < until);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

const waitForCanvasWidth = (page: Page, least: number, most: number): Promise<unknown> =>
  page.waitForFunction(
    ({ least, most }) => {
      const { width = NaN } = document.querySelector("canvas") ?? {};
      return width >= least && width <= most;
    },
    { least, most },
  );

test("where frames come slowly, the map is drawn coarser while it moves, and finely again when it stands", async () => {
  const full = viewport.width;
  const car = await openCar("/", { sensor: true, map: "sharp", viewport });
  const { page } = car;
  await car.sendFix({ ...town, heading: 0, speed: 0 });
  await waitForCanvasWidth(page, full, full);
  await page.evaluate(slowGraphics);
  const drive = await page.evaluateHandle(({ lat, lng }) => {
    let north = lat;
    const tell = (speed: number): void => {
      north += speed / 111_195;
      dispatchEvent(new CustomEvent("test:fix", { detail: { lat: north, lng, heading: 0, speed } }));
    };
    const timer = setInterval(tell, 1000, 15);
    return {
      end() {
        clearInterval(timer);
        tell(0);
      },
    };
  }, town);
  await waitForCanvasWidth(page, 1, 0.9 * full);
  await car.screenshot("coarse");
  expect((await page.locator("canvas").boundingBox())?.width, "it fills the screen as before").toBe(full);
  await page.evaluate((drive) => {
    drive.end();
  }, drive);
  await waitForCanvasWidth(page, full, full);
  await car.screenshot("fine-again");
});
