// The menu's page about apps: installed ones, others of the catalogue, and a view of one app with its form. A paired screen shows and
// hides installed apps, and no more (D16.10).

import type { Preferences } from "../state/account.ts";
import { HTTPError } from "../net/api.ts";
import { element } from "../browser/dom.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Observable } from "../browser/observable.ts";
import { makeButton, makeIcon, makeSwitch, replaceChildren, setTextOrHide, type Item } from "../browser/widgets.ts";
import { deleteInstalled, getCatalogue, putInstalled, RefusedError, type App, type Config, type Installed } from "./api.ts";
import type { AppSay } from "./appwords.ts";
import { makeConfigForm } from "./configform.ts";
import { slotOf } from "./host.ts";
import type { AppKey } from "./words/apps-en.ts";

/** AppsMenuDeps are the dependencies of AppsMenu. */
export interface AppsMenuDeps {
  preferences: Preferences;
  locale: Observable<Locale>;
  say: Observable<AppSay>;
  /** The installed apps; null: not read yet. */
  installed: Observable<readonly Installed[] | null>;
  /** look reads the installed apps again. */
  look: () => Promise<void>;
  /** Called after a driver configured an app. */
  configured: (id: string) => void;
  /** restart loads the page of an app anew. */
  restart: (id: string) => void;
  /** turnSources shows or hides the pins of sources. */
  turnSources: (ids: readonly string[], on: boolean) => void;
  signIn: () => void;
}

/** AppsMenu is the menu's page about apps. */
export class AppsMenu implements Item {
  readonly element = element("div", { class: "apps-menu" });
  readonly #deps: AppsMenuDeps;
  readonly #reply = element("p", { role: "status", hidden: "" });
  #catalogue: readonly App[] | null = null;
  #failed = false;
  #open: App | null = null;
  #items: Item[] = [];

  constructor(deps: AppsMenuDeps) {
    this.#deps = deps;
    for (const observable of [deps.preferences.person, deps.say, deps.locale] as Observable<unknown>[]) observable.watch(() => {
      this.#build();
    });
    let known = "";
    deps.installed.watch((installed) => {
      // The form is kept while nothing has changed: a driver may be typing.
      const now = JSON.stringify(installed);
      if (now !== known) this.#build();
      known = now;
    });
  }

  /** entered reads the catalogue again, when the driver opens the page. */
  entered(): void {
    this.#open = null;
    this.#say("");
    this.#build();
    if (this.#deps.preferences.person.get() === null) return;
    void this.#try(async () => {
      await this.#deps.look();
      if (!this.#isScreen()) this.#catalogue = await getCatalogue();
      this.#build();
    });
  }

  /** back leaves the view of one app; false: there was none. */
  back(): boolean {
    if (this.#open === null) return false;
    const { id } = this.#open;
    this.#open = null;
    this.#say("");
    this.#build();
    document.getElementById(`apps-${id}`)?.focus();
    return true;
  }

  update(): void {
    for (const item of this.#items) item.update();
  }

  #isScreen(): boolean {
    return this.#deps.preferences.person.get()?.scope === "screen";
  }

  #installedOf(id: string): Installed | undefined {
    return this.#deps.installed.get()?.find(({ app }) => app.id === id);
  }

  #say(text: string): void {
    setTextOrHide(this.#reply, text);
  }

  /** #try executes a command of the driver and shows its outcome. */
  async #try(work: () => Promise<void>): Promise<boolean> {
    this.#failed = false;
    try {
      await work();
      return true;
    } catch (error) {
      this.#failed = true;
      const say = this.#deps.say.get();
      const isFull = error instanceof HTTPError && error.status === 409;
      if (error instanceof HTTPError && error.status === 401) this.#deps.preferences.signedOut();
      this.#say(say(isFull ? "menu.full" : "menu.failed"));
      return false;
    }
  }

  #build(): void {
    const app = this.#open;
    this.#items = app === null ? this.#list() : this.#view(app);
    this.update();
    replaceChildren(this.element, [...this.#items.map((item) => item.element), this.#reply]);
  }

  #list(): Item[] {
    const say = this.#deps.say.get();
    if (this.#deps.preferences.person.get() === null) {
      const locale = this.#deps.locale.get();
      return [paragraph(say("menu.guest")), fixed(makeButton({ class: "strong", id: "apps-sign-in" }, this.#deps.signIn, locale.say("account.signIn")))];
    }
    const installed = this.#deps.installed.get();
    if (installed === null) return this.#failed ? [] : [paragraph(this.#deps.locale.get().say("state.loading"))];
    const items: Item[] = installed.length === 0 ? [paragraph(say("menu.none"))] : [heading(say("menu.installed"))];
    if (this.#isScreen()) return [...items, ...installed.map((one) => this.#visibility(one, one.app.name)), paragraph(say("menu.screen"))];
    items.push(...installed.map(({ app }) => this.#row(app)));
    if (this.#catalogue === null) return items;
    const more = this.#catalogue.filter(({ id }) => this.#installedOf(id) === undefined);
    return [...items, heading(say("menu.more")), ...(more.length === 0 ? [paragraph(say("menu.more.none"))] : more.map((app) => this.#row(app)))];
  }

  #row(app: App): Item {
    return fixed(makeButton({ class: "row", id: `apps-${app.id}` }, () => {
      this.#open = app;
      this.#say("");
      this.#build();
      this.element.parentElement?.scrollTo(0, 0);
    }, element("span", { class: "name", dir: "auto" }, app.name, element("small", {}, app.changed_since_review === true ? this.#deps.say.get()("app.changed") : app.summary)), makeIcon("onward")));
  }

  /** #visibility makes the switch that shows and hides an app, with the sources that it adds to the map. */
  #visibility(one: Installed, name: string): Item {
    const locale = this.#deps.locale.get();
    return makeSwitch(`apps-show-${one.app.id}`, { name, on: locale.say("state.on"), off: locale.say("state.off") }, () => !(this.#installedOf(one.app.id)?.hidden ?? one.hidden), (on) => {
      void this.#try(async () => {
        await putInstalled(one.app.id, { hidden: !on });
        this.#turnSources(one.app, on);
        await this.#deps.look();
      });
    });
  }

  #turnSources({ sources }: App, on: boolean): void {
    if (sources.length > 0) this.#deps.turnSources(sources, on);
  }

  #view(app: App): Item[] {
    const { say: sayOf, locale } = this.#deps;
    const say = sayOf.get();
    const installed = this.#installedOf(app.id);
    const { say: word } = locale.get();
    const form = makeConfigForm(app.config_schema, installed?.config ?? {}, installed !== undefined, { say, on: word("state.on"), off: word("state.off") });
    const save = makeButton({ class: "strong", id: "apps-save" }, () => {
      const config = form.read();
      if (config !== null) void this.#save(app, config, installed !== undefined, form.showErrors);
    }, say(installed === undefined ? "app.install" : "app.save"));
    const items: Item[] = [fixed(element("h3", { dir: "auto" }, app.name)), plain(app.summary)];
    if (app.changed_since_review === true) items.push(fixed(element("p", { class: "error" }, say("app.changed"))));
    if (installed !== undefined) items.push(this.#visibility(installed, say("app.show")));
    if (app.config_schema.length > 0) items.push(fixed(form.element));
    if (installed === undefined || app.config_schema.length > 0) items.push(fixed(save));
    if (installed !== undefined && slotOf(app.kinds) !== null) items.push(this.#restarter(app));
    if (installed !== undefined) items.push(this.#uninstaller(app));
    items.push(...about(app, say));
    return items;
  }

  /** #restarter makes the button for an app that hangs, which the page cannot detect. */
  #restarter(app: App): Item {
    const say = this.#deps.say.get();
    return fixed(makeButton({ id: "apps-restart" }, () => {
      this.#deps.restart(app.id);
      this.#say(say("app.restarted"));
    }, say("slot.restart")));
  }

  #uninstaller(app: App): Item {
    const say = this.#deps.say.get();
    let isSure = false;
    const button = makeButton({ id: "apps-uninstall" }, () => {
      if (!isSure) {
        isSure = true;
        button.textContent = say("app.uninstall.sure");
        return;
      }
      void this.#try(async () => {
        await deleteInstalled(app.id);
        this.#open = null;
        await this.#deps.look();
        this.#build();
      });
    }, say("app.uninstall"));
    return fixed(button);
  }

  async #save(app: App, config: Config, wasInstalled: boolean, showErrors: (errors: RefusedError["errors"]) => boolean): Promise<void> {
    await this.#try(async () => {
      try {
        await putInstalled(app.id, { config });
      } catch (error) {
        if (error instanceof RefusedError && showErrors(error.errors)) return;
        throw error;
      }
      if (!wasInstalled) this.#turnSources(app, true);
      await this.#deps.look();
      this.#deps.configured(app.id);
      this.#build(); // what is secret is masked now
      this.#say(this.#deps.say.get()(wasInstalled ? "app.saved" : "app.installed"));
    });
  }
}

function about({ developer, domains, cost, kinds, description }: App, say: AppSay): Item[] {
  const costs: Readonly<Record<string, AppKey>> = { free: "cost.free", one_time: "cost.one_time", subscription: "cost.subscription", freemium: "cost.freemium", donation: "cost.donation" };
  const costKey = costs[cost.model];
  const costText = [costKey === undefined ? "" : say(costKey), cost.note ?? ""].filter((text) => text !== "").join(". ");
  const lines = [
    kinds.includes("pins") || kinds.includes("custom_layer") ? say("app.map") : "",
    say("app.by", { developer }),
    costText,
    domains.length > 0 ? say("app.domains", { domains: domains.join(", ") }) : "",
    kinds.includes("widget") || kinds.includes("notifications") ? say("app.learns") : "",
  ];
  return [description, ...lines].filter((text) => text !== "").map((text) => plain(text, "soft"));
}

const fixed = (made: HTMLElement): Item => ({ element: made, update: () => undefined });
const paragraph = (text: string): Item => fixed(element("p", {}, text));
/** plain makes a text of a developer, in its own direction and with its own line breaks. */
const plain = (text: string, className = ""): Item => fixed(element("p", { class: `plain ${className}`.trim(), dir: "auto" }, text));
const heading = (text: string): Item => fixed(element("h3", {}, text));
