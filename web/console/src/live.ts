// Results that appear by themselves: the page asks whether its feed changed, and then replaces its parts by those of the page as
// it is now.

/** waitBefore returns the milliseconds until the next question, by how long the page has been open. */
export function waitBefore(open: number): number {
  if (open < 60_000) return 2000;
  return open < 600_000 ? 5000 : 30_000;
}

const minPageInterval = 5000; // milliseconds: a page counts against the account's limit on management
const longestOpen = 12 * 3600_000; // then the page is reloaded by hand

/** feedChanged names the event that is dispatched to the document after parts were replaced. */
export const feedChanged = "wayside:feed-changed";

/** replaceParts replaces the parts that differ, and returns the new ones. A part that holds the focus stays. */
export function replaceParts(now: ParentNode, then: ParentNode): Element[] {
  const replaced: Element[] = [];
  for (const part of now.querySelectorAll<HTMLElement>("[data-live-part]")) {
    const name = part.dataset["livePart"] ?? "";
    const next = then.querySelector(`[data-live-part="${CSS.escape(name)}"]`);
    if (next === null || part.contains(document.activeElement)) continue;
    const made = document.importNode(next, true);
    part.replaceWith(made);
    replaced.push(made);
  }
  return replaced;
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    window.setTimeout(resolve, milliseconds);
  });

/** visible resolves as soon as the page is seen. */
function visible(): Promise<void> {
  if (document.visibilityState === "visible") return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", function seen() {
      if (document.visibilityState !== "visible") return;
      document.removeEventListener("visibilitychange", seen);
      resolve();
    });
  });
}

/** changedSince returns the version of the feed if it is not the given one. It throws if there is no use in asking again. */
async function changedSince(path: string, version: string): Promise<string | null> {
  let answer: Response;
  try {
    answer = await fetch(`${path}?since=${encodeURIComponent(version)}`, { cache: "no-store", redirect: "error" });
  } catch {
    return null; // no network, for now
  }
  if (answer.status === 204 || answer.status === 429 || answer.status >= 500) return null;
  if (!answer.ok) throw new Error(`the service answered ${String(answer.status)}`);
  return answer.text();
}

async function currentPage(): Promise<Document | null> {
  try {
    const answer = await fetch(location.href, { cache: "no-store", redirect: "error" });
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    return null;
  }
}

/** follow keeps the page up to date. refreshed gets each new part. */
export async function follow(line: HTMLElement, refreshed: (part: Element) => void): Promise<void> {
  const { live: path = "", liveOn = "", liveUpdated = "", liveOff = "" } = line.dataset;
  const note = line.querySelector<HTMLElement>("[data-live-note]");
  const reload = line.querySelector("a");
  let version = line.dataset["liveVersion"] ?? "";
  const say = (text: string, stopped: boolean): void => {
    if (note) note.textContent = text;
    if (reload) reload.hidden = !stopped;
  };
  say(liveOn, false);
  const since = Date.now();
  try {
    for (let open = 0; open < longestOpen; open = Date.now() - since) {
      await pause(waitBefore(open));
      await visible();
      const next = await changedSince(path, version);
      if (next === null) continue;
      const page = await currentPage();
      if (page !== null) {
        version = next;
        replaceParts(document, page).forEach(refreshed);
        document.dispatchEvent(new Event(feedChanged));
        document.querySelector("main > .done")?.remove(); // what was to come has come
        say(liveUpdated.replace("{0}", new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "medium" }).format()), false);
      }
      await pause(minPageInterval);
    }
  } catch (error) {
    console.warn(error);
  }
  say(liveOff, true);
}
