// Which requests the service worker answers, and how (pure).

/** Release is the object that the service inserts before the worker's code. */
export interface Release {
  /** Version of the page's files, which stands in their addresses. */
  version: string;
  /** Names of the scripts and style sheets. */
  files: readonly string[];
}

/**
 * Answering is how a request is answered: the page itself; a file of this release; data that the page needs to start; a request after
 * which nobody may see the stored pins; or by the network alone, as if there were no worker.
 */
export type Answering = "page" | "file" | "start" | "forget" | "network";

/** Paths that the page needs before its first pins. The style has a query for the night. */
const startPaths: readonly string[] = ["/v2/overlay/config", "/v2/kinds", "/v2/sources", "/map/style.json", "/map/tilejson"];
const iconPaths = ["/v2/icons/", "/map/icons/"];

/** Writes that end a session, of the API and of the pages; writes about an account can. */
const forgetting = /^\/(v2\/auth\/sign-out|sign-out|v2\/account|account)(\/|$)/;

/** answeringOf decides about a request to this service. */
export function answeringOf({ method, mode }: Pick<Request, "method" | "mode">, path: string, release: Release): Answering {
  if (method !== "GET") return method !== "HEAD" && forgetting.test(path) ? "forget" : "network";
  if (mode === "navigate") return path === "/" ? "page" : "network";
  if (path.startsWith(filePath(release, ""))) return "file";
  return startPaths.includes(path) || iconPaths.some((icons) => path.startsWith(icons)) ? "start" : "network";
}

/** filePath returns the address of a file of the release. */
export const filePath = ({ version }: Release, name: string): string => `/overlay/${version}/${name}`;

const shellPrefix = "wayside-shell-";

/** shellName returns the name of the release's cache. */
export const shellName = ({ version }: Release): string => shellPrefix + version;

/** isOldShell reports whether a cache is another release's. */
export const isOldShell = (name: string, release: Release): boolean => name.startsWith(shellPrefix) && name !== shellName(release);

/** isPageOf reports whether the text of a page belongs to the release: the service may be upgraded while the worker is installed. */
export const isPageOf = (page: string, release: Release): boolean => page.includes(`"${filePath(release, "")}`);
