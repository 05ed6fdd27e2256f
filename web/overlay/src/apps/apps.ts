// Apps in the car: all of it that is loaded when the account has apps or the driver opens the menu's page about them. This module
// connects the others and contains no rules.
//
//   entry.ts        what the page has of apps before that: what the service says of them in the page, and the loader
//   host.ts         what is said to a frame and heard from it (pure; shared with the app bench)
//   api.ts          requests, and the types of their answers
//   slot.ts         the slot beside the map: tabs and frames; appframe.ts one frame
//   catalogchanges.ts  which changes of the catalogue concern this driver (pure)
//   appsmenu.ts     the menu's page; configform.ts the form of a config (fieldvalues.ts, pure)
//   appwords.ts     texts, each language loaded when it is needed

import styleURL from "./apps.css?url"; // imported as a style it would make Vite add its own loader to the first load
import type { Preferences } from "../state/account.ts";
import { HTTPError } from "../net/api.ts";
import { byId, element } from "../browser/dom.ts";
import type { Locale } from "../i18n/locale.ts";
import { Observable } from "../browser/observable.ts";
import type { State } from "../state/state.ts";
import { getInstalled, type Installed } from "./api.ts";
import { AppsMenu } from "./appsmenu.ts";
import { loadAppTexts, makeAppSay, type AppSay } from "./appwords.ts";
import { CatalogChanges } from "./catalogchanges.ts";
import { deviceOf } from "./host.ts";
import { AppSlot } from "./slot.ts";
import { en } from "./words/apps-en.ts";

const lookInterval = 60_000; // ms
/** Milliseconds over which the pages with an app that changed spread their looks. */
const maxRefreshDelay = 500;

/** AppsDeps are the dependencies of apps in the page. */
export interface AppsDeps {
  state: State;
  locale: Observable<Locale>;
  preferences: Preferences;
  listOpen: Observable<boolean>;
  signIn: () => void;
  /** Origins that the page's policy lets in. */
  origins: readonly string[];
}

/** Narrower maps have no room for the list beside them. */
const roomForList = 900;

/** openApps adds the apps to the page; it is called once. */
export async function openApps(deps: AppsDeps): Promise<AppsMenu> {
  const { state, preferences, locale } = deps;
  const say = new Observable<AppSay>(makeAppSay("en", en));
  const installed = new Observable<readonly Installed[] | null>(null);
  await Promise.all([loadStyle(), keepWords(state, say)]);
  const isTouch = window.matchMedia("(pointer: coarse)").matches;
  const device = deviceOf(isTouch, { width: screen.width, height: screen.height });
  const slot = new AppSlot({
    say,
    frames: {
      say: () => say.get(),
      parts: () => ({ theme: state.theme.get(), units: state.settings.get().units, uiSize: state.settings.get().density, device }),
      origins: deps.origins,
    },
    onOpen: () => {
      if (byId("main").clientWidth < roomForList) deps.listOpen.set(false);
    },
  });
  state.theme.watch(() => {
    slot.changed();
  });
  state.settings.watch(() => {
    slot.changed();
  });
  const look = async (): Promise<void> => {
    const now = await getInstalled();
    if (preferences.person.get() === null) return; // signed out meanwhile
    installed.set(now);
    slot.update(now);
  };
  const refreshIfVisible = (): void => {
    if (document.visibilityState !== "hidden") refresh();
  };
  const refresh = (): void => {
    if (preferences.person.get() === null) return;
    look().catch((error: unknown) => {
      if (error instanceof HTTPError && error.status === 401) preferences.signedOut();
      else if (error instanceof HTTPError && error.status === 404) slot.update([]); // the operator turned apps off
    });
  };
  const changes = new CatalogChanges(state.appsChange.get());
  preferences.person.watch((person) => {
    if (person !== null) {
      refreshIfVisible();
      return;
    }
    installed.set(null);
    slot.update([]);
  });
  setInterval(refreshIfVisible, lookInterval);
  // A suspension takes an app out of open pages, hidden ones too.
  state.appsChange.watch((change) => {
    if (change === null) return;
    const ids = installed.get()?.map(({ app }) => app.id) ?? null;
    if (changes.mustRead(change, ids)) setTimeout(refresh, Math.random() * maxRefreshDelay);
  });
  document.addEventListener("visibilitychange", refreshIfVisible);
  const configured = (id: string): void => {
    slot.reconfigure(id);
  };
  const restart = (id: string): void => {
    slot.restart(id);
  };
  const turnSources = (ids: readonly string[], on: boolean): void => {
    const others = state.settings.get().sources_off.filter((id) => !ids.includes(id));
    preferences.choose({ sources_off: on ? others : [...others, ...ids] });
  };
  return new AppsMenu({ preferences, locale, say, installed, look, configured, restart, turnSources, signIn: deps.signIn });
}

/** loadStyle returns when the style is there, or cannot be had. */
function loadStyle(): Promise<void> {
  const link = element("link", { rel: "stylesheet", href: styleURL });
  const loaded = new Promise<void>((resolve) => {
    link.onload = link.onerror = () => {
      resolve();
    };
  });
  document.head.append(link);
  return loaded;
}

/** keepWords sets the texts about apps, and returns when those of the present language are there. */
function keepWords(state: State, say: Observable<AppSay>): Promise<void> {
  return new Promise((resolve) => {
    state.words.watch(({ language }) => {
      loadAppTexts(language)
        .then(
          (texts) => {
            if (state.words.get().language === language) say.set(makeAppSay(language, texts));
          },
          (error: unknown) => {
            console.warn(error); // the texts stay as they are
          },
        )
        .then(resolve, resolve);
    });
  });
}
