// A proxy of the demo that can stop answering, stall, and pretend to be another release of the page.

import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";

export interface ReleaseProxy {
  url: string;
  /** How requests are answered: by the demo, not at all, or never. */
  mode: "up" | "down" | "stalled";
  /** The page's version as the browser sees it. */
  release: string;
  /** The version that the worker names, if it is another one than the page's. */
  workerRelease: string | null;
  close(): void;
}

/** startReleaseProxy starts a proxy that shows the demo's own release. */
export async function startReleaseProxy(demo: string): Promise<ReleaseProxy> {
  const target = new URL(demo);
  const page = await (await fetch(demo)).text();
  const own = /"\/overlay\/([0-9a-z]+)\//.exec(page)?.[1] ?? "";
  expect(own).not.toBe("");

  const forward = (question: IncomingMessage, answer: ServerResponse): void => {
    const asked = question.url ?? "/";
    const [, version, file = ""] = /^\/overlay\/([0-9a-z]+)\/(.*)$/.exec(asked) ?? [];
    // As the service does: the current files under any version, but only the current version may be kept.
    const path = version === undefined ? asked : `/overlay/${version === proxy.release ? own : "older"}/${file}`;
    const isStamped = /^\/(\?.*)?$/.test(asked) || asked === "/sw.js";
    const headers = isStamped ? { ...question.headers, "accept-encoding": "identity", "if-none-match": "" } : question.headers;
    const ask = request({ host: target.hostname, port: target.port, path, method: question.method, headers }, (got) => {
      if (!isStamped) {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
        return;
      }
      let text = "";
      got.setEncoding("utf8");
      got.on("data", (chunk: string) => (text += chunk));
      got.on("end", () => {
        const headers = { ...got.headers };
        delete headers["content-length"];
        delete headers.etag;
        answer.writeHead(got.statusCode ?? 502, headers);
        answer.end(text.split(own).join(asked === "/sw.js" ? (proxy.workerRelease ?? proxy.release) : proxy.release));
      });
    });
    ask.on("error", () => answer.destroy());
    answer.on("close", () => ask.destroy());
    question.pipe(ask);
  };
  const server = createServer((question, answer) => {
    if (proxy.mode === "up") forward(question, answer);
    else if (proxy.mode === "down") question.socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  let mode: ReleaseProxy["mode"] = "up";
  const proxy: ReleaseProxy = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
      server.closeAllConnections(); // the stream too
    },
    release: own,
    workerRelease: null,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return proxy;
}
