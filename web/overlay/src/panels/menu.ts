// The menu: a front page and a page for each group of settings, whose contents are in menupages.ts, loaded when the menu is opened.

import type { Observable } from "../browser/observable.ts";
import { element } from "../browser/dom.ts";
import type { Key } from "../i18n/en.ts";
import type { AppsMenu } from "../apps/appsmenu.ts";
import type { Contents, MenuDeps } from "./menupages.ts";
import { setLabel, makeButton, replaceChildren, setText, makeIcon, type Item } from "../browser/widgets.ts";
import { isLookingAround } from "../state/state.ts";

const titles = {
  account: "account.title",
  apps: "menu.apps",
  kinds: "menu.kinds",
  sources: "menu.sources",
  networks: "menu.networks",
  display: "menu.display",
  sound: "menu.sound",
  credits: "credits.title",
} as const satisfies Record<string, Key>;

type PageName = keyof typeof titles;

const names = Object.keys(titles) as PageName[];

/** frontPage links to the other pages. */
function frontPage({ locale, state, actions, preferences, apps }: MenuDeps, go: (page: PageName) => void, shut: () => void): Item[] {
  const { say: speak } = locale.get();
  const rows = names.filter((name) => name !== "apps" || apps !== null).map((name): Item => {
    const note = element("small", {});
    const row = makeButton({ class: "row", id: `menu-${name}` }, () => {
      go(name);
    }, element("span", { class: "name" }, speak(titles[name]), note), makeIcon("onward"));
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

/** Menu is the menu, initially closed. */
export interface Menu {
  /** Opens the menu. */
  button: HTMLButtonElement;
  element: HTMLElement;
}

/** PageLoader loads the contents of the pages. After a failure the next page that is opened tries again. */
class PageLoader {
  apps: AppsMenu | null = null;
  readonly #deps: MenuDeps;
  readonly #onLoad: () => void;
  #contents: Contents | null = null;

  constructor(deps: MenuDeps, onLoad: () => void) {
    this.#deps = deps;
    this.#onLoad = onLoad;
  }

  /** load loads the contents of a page when it is opened; null: the front page, which needs nothing. */
  load(page: PageName | null): void {
    if (page === "apps") {
      this.#deps.apps?.().then((apps) => {
        this.apps = apps;
        apps.entered();
        this.#onLoad();
      }, console.warn);
    } else if (this.#contents === null) {
      import("./menupages.ts").then(({ contents }) => {
        this.#contents = contents;
        if (page !== null) this.#onLoad();
      }, console.warn);
    }
  }

  itemsOf(page: PageName): readonly Item[] {
    const loading = [{ element: element("p", {}, this.#deps.locale.get().say("state.loading")), update: () => undefined }];
    if (page === "apps") return this.apps === null ? loading : [this.apps];
    return this.#contents?.[page](this.#deps) ?? loading;
  }
}

/** makeMenu makes the menu. */
export function makeMenu(deps: MenuDeps): Menu {
  const { state, locale, preferences, tones } = deps;
  const title = element("h2", { id: "menu-title" });
  const goBack = (): void => {
    if (page !== "apps" || !loader.apps?.back()) show(null);
  };
  const back = makeButton({ class: "signed" }, goBack, makeIcon("back"));
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
  const loader = new PageLoader(deps, () => {
    build();
  });

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
    setText(title, words.say(page === null ? "menu.title" : titles[page]));
    items = page === null ? frontPage(deps, show, shut) : loader.itemsOf(page);
    update();
    replaceChildren(body, items.map((item) => item.element));
  };
  const show = (next: PageName | null): void => {
    const from = page;
    page = next;
    loader.load(next);
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
    else goBack();
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
