// The server of the apps in tests: pages of another site than the service's, each by its path, some of them hostile.

import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Answer writes the answer to a request for a path. */
export type Answer = (response: ServerResponse) => void;

export interface AppServer {
  /** Its origin by a name of another site than the service's. */
  origin: string;
  /** Another origin of the same site, which apps may have, too. */
  other: string;
  /** Its origin by a name that only the tests' browser knows. */
  third: string;
  /** What paths answer, in place of a page that listens. */
  answers: Map<string, Answer>;
  /** Host and path of each request. */
  visits: string[];
  close(): void;
}

/** page answers with a page. */
export const page =
  (script: string, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", ...headers });
    response.end(`<!doctype html><meta charset="utf-8"><title>App</title><body style="margin:0;font:16px sans-serif"><p id="out">App</p><script>${script}</script>`);
  };

/** listening records all that the host says, in window.log, and says ready when it is loaded. */
export const listening = `
  window.log = [];
  addEventListener("message", ({ origin, data }) => log.push({ at: performance.now(), origin, data }));
  parent.postMessage({ type: "ready" }, "*");
`;

/** hostile tries what a frame may not, and keeps what came of it in window.found. */
export const hostile = `
  window.found = {};
  const attempt = (name, work) => { try { found[name] = String(work()); } catch (error) { found[name] = error.name; } };
  attempt("popup", () => open("/app/popup"));
  attempt("alert", () => alert("here"));
  attempt("confirm", () => confirm("here"));
  attempt("top", () => { top.location.href = "/app/top"; });
  attempt("reads", () => top.document.title);
  attempt("storage", () => top.localStorage.length);
  attempt("frameElement", () => frameElement);
  attempt("download", () => { const link = document.createElement("a"); link.href = URL.createObjectURL(new Blob(["x"])); link.download = "x.txt"; document.body.append(link); link.click(); });
  navigator.geolocation.getCurrentPosition(() => { found.position = "told"; done = true; }, ({ code }) => { found.position = code; window.done = true; });
`;

/** nested holds a frame of a third site. */
export const nested = (src: string): string => `${listening}
  const frame = document.createElement("iframe");
  frame.src = ${JSON.stringify(src)};
  document.body.append(frame);
`;

/** floods posts ten thousand messages a second. */
export const floods = `
  parent.postMessage({ type: "ready" }, "*");
  setInterval(() => { for (let i = 0; i < 100; i++) parent.postMessage({ type: "ready", i }, "*"); }, 10);
`;

/** large posts objects of 10 MB, 25 a second, of many members each, and cyclic ones, and deep ones. */
export const large = `
  parent.postMessage({ type: "ready" }, "*");
  const text = "x".repeat(10 << 20), cyclic = {}, many = Array.from({ length: 300000 }, (_, i) => ({ i }));
  let deep = {};
  for (let i = 0; i < 2000; i++) deep = { deep };
  cyclic.self = cyclic;
  setInterval(() => { for (const message of [{ type: text }, cyclic, deep, { type: many }]) parent.postMessage(message, "*"); }, 40);
`;

export async function startAppServer(): Promise<AppServer> {
  const answers = new Map<string, Answer>();
  const visits: string[] = [];
  const [server, second] = [createServer(), createServer()];
  const handle: RequestListener = (request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    visits.push(`${request.headers.host ?? ""}${path}`);
    (answers.get(path) ?? page(listening))(response);
  };
  const [port, otherPort] = await Promise.all(
    [server, second].map(async (one) => {
      one.on("request", handle);
      await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
      return String((one.address() as AddressInfo).port);
    }),
  );
  return {
    origin: `http://localhost:${port ?? ""}`,
    other: `http://localhost:${otherPort ?? ""}`,
    third: `http://third.test:${port ?? ""}`,
    answers,
    visits,
    close: () => {
      for (const one of [server, second]) {
        one.closeAllConnections();
        one.close();
      }
    },
  };
}
