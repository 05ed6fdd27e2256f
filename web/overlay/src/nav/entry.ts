// The part of navigation that is loaded with the page: a button, the address, and the loader of the rest.

import { element } from "../browser/dom.ts";
import type { Preferences } from "../state/account.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Observable } from "../browser/observable.ts";
import { parseLink } from "./geouri.ts";
import { keptDriveKey } from "./keptdrivekey.ts";
import { readStored } from "../browser/storage.ts";
import { makeButton, setText } from "../browser/widgets.ts";
import type { Navigation, NavigationHost } from "./deps.ts";
import type { Destination } from "../state/state.ts";

/** NavigationEntry loads navigation once, with the first command. */
export class NavigationEntry {
  readonly #host: () => NavigationHost;
  #loading: Promise<Navigation> | null = null;

  constructor(host: () => NavigationHost) {
    this.#host = host;
  }

  /** load fails without a connection; the next call tries again. */
  load(): Promise<Navigation> {
    this.#loading ??= import("./navigation.ts").then(async ({ loadStyle, mountNavigation }) => {
      await loadStyle();
      return mountNavigation(this.#host());
    });
    this.#loading.catch(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** run loads navigation and calls a command of it. */
  run(command: (navigation: Navigation) => void): void {
    this.load().then(command, (error: unknown) => {
      console.warn(error);
    });
  }

  driveTo(destination: Destination): void {
    this.run((navigation) => {
      navigation.choose([destination]);
    });
  }

  /** awaitSent drives to destinations that a phone sends to this screen. Its code is loaded once the screen is signed in. */
  awaitSent(preferences: Preferences): void {
    const stop = preferences.person.watch((person) => {
      if (person?.scope !== "screen") return;
      setTimeout(() => {
        stop();
      });
      import("./sentdestination.ts").then(
        ({ keepAsking }) => {
          keepAsking(preferences, (destination) => {
            this.driveTo(destination);
          });
        },
        (error: unknown) => {
          console.warn(error);
        },
      );
    });
  }

  /** takeAddress resumes the drive of before, or drives to where the page's address leads (`?to=lat,lng` or a geo: URI), which is then removed: it is not kept in the browser's history. */
  takeAddress(query: URLSearchParams): void {
    const destination = parseLink(query.get("to"));
    if (!query.has("to")) {
      if (readStored(keptDriveKey) !== null) {
        this.run((navigation) => {
          navigation.resume();
        });
      }
      return;
    }
    query.delete("to");
    const search = query.toString();
    history.replaceState(null, "", location.pathname + (search === "" ? "" : `?${search}`));
    if (destination !== null) this.driveTo(destination);
  }
}

/** makeWhereToButton makes the button that asks where to. */
export function makeWhereToButton(entry: NavigationEntry, locale: Observable<Locale>): HTMLElement {
  const text = element("span", {});
  const button = makeButton({ class: "where-to", id: "where-to" }, () => {
    entry.run((navigation) => {
      navigation.openSearch();
    });
  }, text);
  locale.watch(({ say }) => {
    setText(text, say("nav.whereTo"));
  });
  return button;
}
