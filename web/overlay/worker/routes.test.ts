import { describe, expect, it } from "vitest";
import { answeringOf, filePath, isOldShell, isPageOf, shellName } from "./routes.ts";

const release = { version: "1a2b", files: ["index.js"] };
const of = (path: string, method = "GET", mode: RequestMode = "cors"): string => answeringOf({ method, mode }, path, release);

describe("the worker answers", () => {
  it("the page, and no other page", () => {
    expect(of("/", "GET", "navigate")).toBe("page");
    expect(of("/about", "GET", "navigate")).toBe("network");
    expect(of("/v2/kinds", "GET", "navigate")).toBe("network");
  });

  it("files of its own release only", () => {
    expect(of("/overlay/1a2b/index.js")).toBe("file");
    expect(of("/overlay/1a2bc/index.js")).toBe("network");
    expect(of("/console/1a2b/map.js")).toBe("network");
  });

  it("what the page needs to start, and neither reads nor the stream", () => {
    for (const path of ["/v2/overlay/config", "/v2/kinds", "/v2/sources", "/v2/icons/alert.police.svg", "/map/style.json", "/map/icons/sprite@2x.json"]) expect(of(path)).toBe("start");
    for (const path of ["/v2/stream", "/v2/entities/nearby", "/v2/account", "/v2/alerts", "/map/tiles/1/1/1", "/v2/sources/a/entities"]) expect(of(path)).toBe("network");
  });

  it("no write, but notices what ends a session", () => {
    for (const path of ["/sign-out", "/v2/auth/sign-out", "/account/delete", "/account/end-others"]) expect(of(path, "POST", "navigate")).toBe("forget");
    expect(of("/v2/account", "DELETE")).toBe("forget");
    expect(of("/accounts/x", "POST")).toBe("network");
    expect(of("/v2/entities/x/confirm", "POST")).toBe("network");
  });
});

it("shells of other releases are told apart", () => {
  expect(isOldShell("wayside-shell-older", release)).toBe(true);
  expect(isOldShell(shellName(release), release)).toBe(false);
  expect(isOldShell("wayside-pins", release)).toBe(false);
  expect(isPageOf('<script src="/overlay/1a2b/index.js">', release)).toBe(true);
  expect(isPageOf('<script src="/overlay/1a2bc/index.js">', release)).toBe(false);
  expect(filePath(release, "a.js")).toBe("/overlay/1a2b/a.js");
});
