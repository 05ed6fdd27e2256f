// Where the browser keeps the last pins. The service worker and the page delete them when a session ends.

/** pinCache names the browser's cache of pins. */
export const pinCache = "wayside-pins";

/** forgetPins deletes the stored pins. Browsers without secure context have no caches. */
export async function forgetPins(): Promise<void> {
  if ("caches" in self) await caches.delete(pinCache);
}
