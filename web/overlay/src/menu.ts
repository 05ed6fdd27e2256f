// The menu: a front page and a page for each group of settings, whose contents are in menupages.ts.

import type { Preferences } from "./account.ts";
import type { Observable } from "./observable.ts";
import { element } from "./dom.ts";
import type { Key } from "./i18n/words.ts";
import { accountPage, attributionsPage, displayPage, kindsPage, networksPage, soundPage, sourcesPage } from "./menupages.ts";
import { setLabel, makeButton, replaceChildren, setText, makeIcon, type Item } from "./widgets.ts";
import type { Locale } from "./locale.ts";
import { isLookingAround, type Actions, type State } from "./state.ts";
import type { AlertSounds } from "./alertsounds.ts";

/** MenuDeps are the menu's dependencies. */
export interface MenuDeps {
  state: State;
  actions: Actions;
  locale: Observable<Locale>;
  preferences: Preferences;
  tones: AlertSounds;
  signIn: () => void;
}

const pages = {
  account: { title: "account.title", make: accountPage },
  kinds: { title: "menu.kinds", make: kindsPage },
  sources: { title: "menu.sources", make: sourcesPage },
  networks: { title: "menu.networks", make: networksPage },
  display: { title: "menu.display", make: displayPage },
  sound: { title: "menu.sound", make: soundPage },
  credits: { title: "credits.title", make: attributionsPage },
} as const satisfies Record<string, { title: Key; make: (deps: MenuDeps) => Item[] }>;

type PageName = keyof typeof pages;

const names = Object.keys(pages) as PageName[];

/** frontPage links to the other pages. */
function frontPage({ locale, state, actions, preferences }: MenuDeps, go: (page: PageName) => void, shut: () => void): Item[] {
  const { say: speak } = locale.get();
  const rows = names.map((name): Item => {
    const note = element("small", {});
    const row = makeButton({ class: "row", id: `menu-${name}` }, () => {
      go(name);
    }, element("span", { class: "name" }, speak(pages[name].title), note), makeIcon("onward"));
    return {
      element: row,
      update() {
        if (name !== "account") return;
        const person = preferences.person.get();
        setText(note, person === null ? speak("account.guest") : person.email);
      },
    };
  });
  const located = makeButton({ class: "row", id: "menu-locate" }, () => {
    shut();
    actions.locate();
  }, element("span", { class: "name" }, speak("place.again")));
  const middle = makeButton({ class: "row", id: "menu-middle" }, () => {
    shut();
    actions.nameMiddle();
  }, element("span", { class: "name" }, speak("place.middle")));
  rows.unshift({
    element: located,
    update() {
      const status = state.positionStatus.get();
      located.hidden = status === "asking" || status === "found";
    },
  }, {
    element: middle,
    update() {
      middle.hidden = !state.drawable.get() || !isLookingAround(state);
    },
  });
  const links = ([["/about", "menu.about"], ["/docs", "menu.developers"]] as const).map(([href, text]): Item => ({
    element: element("a", { class: "row", href }, element("span", { class: "name" }, speak(text)), makeIcon("onward")),
    update: () => undefined,
  }));
  return [...rows, ...links];
}

/** Menu is closed initially. */
export interface Menu {
  /** Opens the menu. */
  button: HTMLButtonElement;
  element: HTMLElement;
}

export function makeMenu(deps: MenuDeps): Menu {
  const { state, locale, preferences, tones } = deps;
  const title = element("h2", { id: "menu-title" });
  const back = makeButton({ class: "signed" }, () => {
    show(null);
  }, makeIcon("back"));
  const close = makeButton({ class: "signed" }, () => {
    shut();
  }, makeIcon("close"));
  const body = element("div", { class: "pages" });
  const box = element("section", { class: "menu panel", id: "menu", role: "dialog", "aria-labelledby": title.id, hidden: "" }, element("header", {}, back, title, close), body);
  const button = makeButton({ class: "signed menu-button", "aria-controls": "menu", "aria-expanded": "false" }, () => {
    if (box.hidden) open();
    else shut();
  }, makeIcon("menu"));
  let page: PageName | null = null;
  let items: readonly Item[] = [];

  const update = (): void => {
    if (!box.hidden) for (const item of items) item.update();
  };
  /** build rebuilds the page. It is called only when the contents change. */
  const build = (): void => {
    const words = locale.get();
    setLabel(button, words.say("menu.open"));
    if (box.hidden) return;
    setLabel(back, words.say("do.back"));
    setLabel(close, words.say("do.close"));
    back.hidden = page === null;
    setText(title, words.say(page === null ? "menu.title" : pages[page].title));
    items = page === null ? frontPage(deps, show, shut) : pages[page].make(deps);
    update();
    replaceChildren(body, items.map((item) => item.element));
  };
  const show = (next: PageName | null): void => {
    const from = page;
    page = next;
    build();
    body.scrollTop = 0;
    if (next !== null) back.focus();
    else if (from !== null) document.getElementById(`menu-${from}`)?.focus();
  };
  const open = (): void => {
    box.hidden = false;
    button.setAttribute("aria-expanded", "true");
    show(null);
    close.focus();
  };
  const shut = (): void => {
    box.hidden = true;
    button.setAttribute("aria-expanded", "false");
    button.focus();
  };
  box.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    if (page === null) shut();
    else show(null);
  });
  for (const observable of [locale, state.sources, state.kinds, state.config, preferences.person]) (observable as Observable<unknown>).watch(build);
  for (const observable of [state.settings, state.health, state.cameraMode, state.names, state.attributions, state.positionStatus, state.following, state.fix, tones.ready]) (observable as Observable<unknown>).watch(update);
  let networks = state.settings.get().networks;
  state.settings.watch((settings) => {
    if (settings.networks !== networks && page === "networks") build();
    networks = settings.networks;
  });
  return { button, element: box };
}
