// The service worker: it keeps the page's own files, so that the page opens without a connection. The service puts the release in
// front of this script, so that its bytes change with each release (internal/http/pages).
//
//   the page        from the network, so that a new release is there at once; from the cache if the network does not answer in time
//   its files       of this release from the cache, since they never change; those of other releases from the network
//   data to start   from the network, and from the cache if it does not answer in time
//
// Everything else, the stream above all, goes to the network as if there were no worker. The page itself keeps the last pins
// (../src/offlinepins.ts); the worker deletes them with the session.

import { pinCache } from "../src/state/pincache.ts";
import { answeringOf, filePath, isOldShell, isPageOf, shellName, type Release } from "./routes.ts";

/** WorkerEvent is an event that the worker can prolong. */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface RequestEvent extends WorkerEvent {
  request: Request;
  /** The browser's own request for a page, which it sends while the worker starts. */
  preloadResponse?: Promise<Response | undefined>;
  respondWith(answer: Promise<Response>): void;
}

/** Worker is the worker's global object, which TypeScript's DOM library does not declare. */
interface Worker {
  release: Release;
  registration: { navigationPreload?: { enable(): Promise<void> } };
  clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate", listener: (event: WorkerEvent) => void): void;
  addEventListener(name: "fetch", listener: (event: RequestEvent) => void): void;
}

/** Milliseconds after which a stored answer is used; a car's connection often stalls instead of failing. */
const networkTimeout = 3000;

const worker = self as unknown as Worker;
const release = worker.release;

/** install stores the page and its files, all of one release or nothing. The browser tries again later. */
async function install(): Promise<void> {
  const shell = await caches.open(shellName(release));
  // The page of a guest, without apps: a driver's installed apps change while the page is stored.
  const page = await fetch("/", { cache: "reload", credentials: "omit" });
  if (!page.ok || !isPageOf(await page.clone().text(), release)) throw new Error("the service has another release");
  await Promise.all(
    release.files.map(async (name) => {
      const file = await fetch(filePath(release, name));
      // A service of another release sends its own file and forbids to store it.
      if (!file.ok || !(file.headers.get("Cache-Control") ?? "").includes("immutable")) throw new Error(`${name} is of another release`);
      await shell.put(filePath(release, name), file);
    }),
  );
  await shell.put("/", page);
  await worker.skipWaiting();
}

async function activate(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => isOldShell(name, release)).map((name) => caches.delete(name)));
  await worker.registration.navigationPreload?.enable();
  await worker.clients.claim();
}

/** fromNetworkOr returns the network's answer, or the stored one if the network fails or takes too long. */
async function fromNetworkOr(fresh: Promise<Response>, stored: Response | undefined): Promise<Response> {
  if (stored === undefined) return fresh;
  const late = new Promise<Response>((resolve) => {
    setTimeout(() => {
      resolve(stored);
    }, networkTimeout);
  });
  const answered = fresh.then(
    (answer) => (answer.status >= 500 ? stored : answer), // a proxy whose service restarts
    () => stored,
  );
  return Promise.race([answered, late]);
}

async function page({ request, preloadResponse }: RequestEvent): Promise<Response> {
  const fresh = Promise.resolve(preloadResponse).then((answer) => answer ?? fetch(request));
  const shell = await caches.open(shellName(release));
  return fromNetworkOr(fresh, await shell.match("/"));
}

async function file({ request }: RequestEvent): Promise<Response> {
  const shell = await caches.open(shellName(release));
  return (await shell.match(request.url)) ?? fetch(request);
}

async function start(event: RequestEvent): Promise<Response> {
  const { url } = event.request;
  const fresh = fetch(event.request);
  event.waitUntil(fresh.then((answer) => keep(url, answer.clone())).catch(() => undefined)); // no network, or a full disk
  const shell = await caches.open(shellName(release));
  return fromNetworkOr(fresh, await shell.match(url));
}

async function keep(url: string, answer: Response): Promise<void> {
  if (answer.ok) await (await caches.open(shellName(release))).put(url, answer);
}

worker.addEventListener("install", (event) => {
  event.waitUntil(install());
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(activate());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  switch (answeringOf(request, url.pathname, release)) {
    case "page":
      event.respondWith(page(event));
      break;
    case "file":
      event.respondWith(file(event));
      break;
    case "start":
      event.respondWith(start(event));
      break;
    case "forget":
      event.waitUntil(caches.delete(pinCache));
      break;
    case "network":
      break;
  }
});
