import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { en } from "../overlay/src/i18n/en.ts";
import { openTestConsole, type TestConsole } from "./testconsole.ts";
import { eventually, screens, stopClock, town } from "./harness.ts";
import { pass } from "./leddrive.ts";

const { lng, lat } = town;
const square = [[lng - 0.2, lat - 0.2], [lng + 0.2, lat - 0.2], [lng + 0.2, lat + 0.2], [lng - 0.2, lat + 0.2], [lng - 0.2, lat - 0.2]];
const law = {
  type: "FeatureCollection",
  features: [{ type: "Feature", properties: { name: "The town", hide: ["camera.speed", "camera.red_light"] }, geometry: { type: "Polygon", coordinates: [square] } }],
};

let folder: string;
let testConsole: TestConsole;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "wayside-law-"));
  const file = join(folder, "law.geojson");
  writeFileSync(file, JSON.stringify(law));
  testConsole = await openTestConsole({ more: `law.file = ${JSON.stringify(file)}` });
});

afterAll(async () => {
  await testConsole.end();
  rmSync(folder, { recursive: true });
});

test("where a restriction hides kinds, the page names them", async () => {
  const car = await testConsole.visit("/", { place: town, viewport: screens.middle, stopped: "later" });
  const notice = car.page.locator(".notice [data-about=hidden]");
  await notice.getByText(en["law.hidden"].replace("{kinds}", "Speed camera, Red-light camera")).waitFor();
  await stopClock(car.page);
  await car.screenshot("law-hidden");
  await car.moveTo({ lat: lat + 0.5, lng });
  let passed = 0;
  await eventually("the notice goes", async () => {
    await pass(car.page, 50);
    passed += 50;
    return notice.isHidden();
  });
  expect(passed, "by itself it stays for twenty seconds").toBeLessThan(15_000);
});
