import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { en } from "../overlay/src/i18n/en.ts";
import { openTestConsole, type TestConsole } from "./testconsole.ts";
import { screens, town } from "./harness.ts";

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
  const car = await testConsole.visit("/", { place: town, viewport: screens.middle });
  const notice = car.page.locator(".notice [data-about=hidden]");
  await notice.getByText(en["law.hidden"].replace("{kinds}", "Speed camera, Red-light camera")).waitFor();
  await car.screenshot("law-hidden");
  await car.moveTo({ lat: lat + 0.5, lng });
  await notice.waitFor({ state: "hidden", timeout: 10_000 }); // otherwise the notice would stay for twenty seconds
});
