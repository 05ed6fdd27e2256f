// The contents of the menu's pages. Choices apply immediately and are stored.

import type { AlertSounds } from "../alerts/alertsounds.ts";
import { notes } from "../alerts/alertsounds.ts";
import { isCharger, ordinaryLeadAt } from "../alerts/alertrules.ts";
import { element } from "../browser/dom.ts";
import type { Key } from "../i18n/en.ts";
import { languageNames } from "../i18n/words.ts";
import { setKindsVisible, setKindVisible } from "../settings/kindchoice.ts";
import { networkName, pathOf, sourceLabel, textOf } from "../pins/entitylabels.ts";
import { makeChoice, makeSwitch, makeButton, makeStepper, replaceChildren, setTextOrHide, type Item } from "../browser/widgets.ts";
import { isKindHidden, languages, limits, parseChoices, type Settings } from "../settings/settings.ts";
import { attributionOf } from "../pins/attribution.ts";
import { attributionNodes } from "../map/attributionline.ts";
import type { Kind, Source } from "../net/wire.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Preferences } from "../state/account.ts";
import type { State, Actions } from "../state/state.ts";
import type { LoadApps } from "../apps/entry.ts";
import type { Observable } from "../browser/observable.ts";

/** MenuDeps are the menu's dependencies. */
export interface MenuDeps {
  state: State;
  actions: Actions;
  locale: Observable<Locale>;
  preferences: Preferences;
  tones: AlertSounds;
  signIn: () => void;
  /** null: the service has no apps. */
  apps: LoadApps | null;
}

const staticItem = (made: HTMLElement): Item => ({ element: made, update: () => undefined });

function textsOf(name: string, { locale }: MenuDeps): { name: string; on: string; off: string } {
  const { say: speak } = locale.get();
  return { name, on: speak("state.on"), off: speak("state.off") };
}

function accountPage({ locale, preferences, signIn }: MenuDeps): Item[] {
  const { say: speak } = locale.get();
  const person = preferences.person.get();
  const reply = element("p", { role: "status", hidden: "" });
  const who = element("p", {}, person === null ? speak("account.guest") : speak("account.as", { name: person.email }));
  const kept = element("p", { class: "soft" }, speak(person === null ? "account.keptHere" : "account.kept"));
  const button = makeButton({ class: "strong", id: "account-do" }, () => {
    if (person === null) signIn();
    else
      preferences.signOut().catch(() => {
        setTextOrHide(reply, speak("link.failed"));
      });
  }, speak(person === null ? "account.signIn" : "account.signOut"));
  const reset = makeButton({ id: "account-reset" }, () => {
    preferences.reset();
  }, speak("do.reset"));
  return [who, kept, button, reply, reset].map(staticItem);
}

const groupKeys: Readonly<Record<string, Key>> = { alerts: "group.alerts", cameras: "group.cameras", chargers: "group.chargers", traffic: "group.traffic" };

/** KindList is a setting that lists kinds, each with its subtypes: those that are hidden, or those without a sound. */
type KindList = "kinds_off" | "kinds_muted";

function kindsPage(deps: MenuDeps): Item[] {
  return kindSwitches("kinds_off", deps.state.kinds.get(), deps);
}

/** kindSwitches makes a switch for each kind, by groups. */
function kindSwitches(setting: KindList, all: readonly Kind[], deps: MenuDeps): Item[] {
  const { state, locale, preferences } = deps;
  const words = locale.get();
  const ids = all.map(({ id }) => id);
  const off = (): readonly string[] => state.settings.get()[setting];
  const items: Item[] = [];
  for (const group of new Set(all.map((kind) => kind.group))) {
    const of = all.filter((kind) => kind.group === group);
    const key = groupKeys[group] as "group.alerts" | undefined; // none of them takes a value
    const name = key === undefined ? group : words.say(key);
    const turn = (on: boolean): void => {
      preferences.choose({ [setting]: setKindsVisible(off(), of.map(({ id }) => id), on, ids) });
    };
    const both = ([true, false] as const).map((on) =>
      makeButton({ id: `all-${group}-${String(on)}`, "aria-label": `${name}: ${words.say(on ? "menu.all" : "menu.none")}` }, () => {
        turn(on);
      }, words.say(on ? "menu.all" : "menu.none")),
    );
    items.push(staticItem(element("div", { class: "group" }, element("h3", {}, name), ...both)), ...of.map((kind) => kindSwitch(setting, kind, deps, ids)));
  }
  return items;
}

function kindSwitch(setting: KindList, kind: Kind, deps: MenuDeps, all: readonly string[]): Item {
  const { state, locale, preferences } = deps;
  const icon = element("img", { alt: "", class: "icon", src: pathOf(kind.icon_url) });
  const off = (): readonly string[] => state.settings.get()[setting];
  const turn = (on: boolean): void => {
    preferences.choose({ [setting]: setKindVisible(off(), kind.id, on, all) });
  };
  const made = makeSwitch(`kind-${kind.id}`, textsOf(locale.get().kind(kind.id, kind.label), deps), () => !isKindHidden(kind.id, off()), turn, [icon]);
  if (kind.id.split(".").length > 2) made.element.classList.add("sub");
  return made;
}

function sourcesPage(deps: MenuDeps): Item[] {
  const { state, locale } = deps;
  const sources = state.sources.get();
  if (sources.length === 0) return [staticItem(element("p", {}, locale.get().say("sources.empty")))];
  return sources.map((source) => sourceSwitch(source, deps));
}

function sourceSwitch(source: Source, deps: MenuDeps): Item {
  const { state, locale, preferences } = deps;
  const off = (): readonly string[] => state.settings.get().sources_off;
  const turn = (on: boolean): void => {
    const others = off().filter((id) => id !== source.id);
    preferences.choose({ sources_off: on ? others : [...others, source.id] });
  };
  const note = (): string => {
    const health = state.health.get().find(({ id }) => id === source.id);
    return [attributionOf(source), health === undefined ? "" : locale.get().say(`sources.${health.status}`)].filter((text) => text !== "").join(" · ");
  };
  return makeSwitch(`source-${source.id}`, textsOf(sourceLabel(source, locale.get()), deps), () => !off().includes(source.id), turn, [], note);
}

/** networksPage: guests see the primary network only, accounts one more, premium any selection or all (D4.7). */
function networksPage(deps: MenuDeps): Item[] {
  const { state, locale, preferences } = deps;
  const { say: speak } = locale.get();
  const primary = state.config.get()?.primary_network ?? "";
  const tier = preferences.person.get()?.tier ?? "guest";
  const chosen = (): readonly string[] => state.settings.get().networks ?? [];
  const only = staticItem(element("p", {}, speak("networks.primary", { network: networkName(primary) })));
  if (tier === "guest") return [only, staticItem(element("p", { class: "soft" }, speak("networks.guest"))), staticItem(makeButton({ class: "strong", id: "networks-sign-in" }, deps.signIn, speak("account.signIn")))];
  const seen = state.known.get().filter(({ kind_id }) => isCharger(kind_id)).map((entity) => textOf(entity, "network"));
  const names = [...new Set([...chosen(), ...seen])].filter((name) => name !== "" && name !== primary).sort();
  const set = (networks: readonly string[]): void => {
    preferences.choose({ networks });
  };
  const turn = (name: string, on: boolean): void => {
    const others = chosen().filter((one) => one !== name && one !== primary);
    set(on ? (tier === "account" ? [name] : [...others, name]) : others);
  };
  const items = names.map((name) => makeSwitch(`network-${name}`, textsOf(networkName(name), deps), () => chosen().includes(name), (on) => {
    turn(name, on);
  }));
  const note = staticItem(element("p", { class: "soft" }, speak("networks.tier")));
  if (tier === "premium") items.unshift(makeSwitch("networks-all", textsOf(speak("networks.all"), deps), () => state.settings.get().networks === null, (on) => {
    if (on) preferences.unchoose(["networks"]);
    else set([]);
  }));
  return [tier === "account" ? note : null, chosen().length === 0 && tier === "account" ? only : null, ...items, networkForm(speak("networks.add"), turn)].filter((item) => item !== null);
}

function networkForm(text: string, turn: (name: string, on: boolean) => void): Item {
  const field = element("input", { type: "text", id: "network-name", "aria-label": text, maxlength: String(limits.networkBytes), autocomplete: "off" });
  const form = element("form", { class: "adder" }, field, element("button", { type: "submit", id: "network-add" }, text));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [name] = parseChoices({ networks: [field.value.trim().toLowerCase()] }).networks ?? [];
    if (name !== undefined) turn(name, true);
  });
  return staticItem(form);
}

function displayPage(deps: MenuDeps): Item[] {
  const { state, locale, preferences } = deps;
  const { say: speak, format } = locale.get();
  const setting = <K extends "theme" | "units" | "language">(key: K) => ({
    chosen: (): Settings[K] => state.settings.get()[key],
    choose: (value: Settings[K]): void => {
      preferences.choose({ [key]: value });
    },
  });
  const [theme, units, language] = [setting("theme"), setting("units"), setting("language")];
  const [lowest, highest] = limits.density;
  const density = (): number => state.settings.get().density;
  return [
    makeChoice("theme", speak("theme.title"), (["auto", "day", "night"] as const).map((value) => [value, speak(`theme.${value}`)]), theme.chosen, theme.choose),
    makeChoice(
      "camera",
      speak("map.orientation"),
      [["heading", speak("map.headingUp")], ["north", speak("map.northUp")]],
      () => state.cameraMode.get(),
      (mode) => {
        state.cameraMode.set(mode);
      },
    ),
    makeSwitch("names", textsOf(speak("map.names"), deps), () => state.names.get(), (on) => {
      state.names.set(on);
    }),
    makeStepper(
      "density",
      speak("density.title"),
      [speak("density.smaller"), speak("density.larger")],
      () => speak("density.value", { value: format.number(density()) }),
      (up) => (up ? density() < highest : density() > lowest),
      (up) => {
        preferences.choose({ density: Math.min(highest, Math.max(lowest, Math.round(density()) + (up ? 1 : -1))) });
      },
    ),
    makeChoice("units", speak("units.title"), (["metric", "imperial"] as const).map((value) => [value, speak(`units.${value}`)]), units.chosen, units.choose),
    makeChoice("language", speak("language.title"), languages.map((value) => [value, languageNames[value]]), language.chosen, language.choose),
  ];
}

const leadStep = 0.25;
const exampleSpeed = 50 / 3.6; // metres per second

function soundPage(deps: MenuDeps): Item[] {
  const { state, locale, preferences, tones } = deps;
  const { say: speak, format } = locale.get();
  const [shortest, longest] = limits.lead;
  const lead = (): number => state.settings.get().lead;
  const tone = makeSwitch("tones", textsOf(speak("tones.title"), deps), () => state.settings.get().tones, (on) => {
    preferences.choose({ tones: on });
  });
  const touch = element("p", { class: "soft", hidden: "" });
  return [
    tone,
    staticItem(makeButton({ id: "tones-try" }, () => {
      tones.play(notes.ahead);
    }, speak("tones.try"))),
    {
      element: touch,
      update() {
        setTextOrHide(touch, tones.ready.get() ? "" : speak("tones.touch"));
      },
    },
    makeStepper(
      "lead",
      speak("lead.title"),
      [speak("lead.later"), speak("lead.earlier")],
      () => speak("lead.value", { speed: format.speed(exampleSpeed).text, distance: format.distance(ordinaryLeadAt(exampleSpeed, lead())).text }),
      (up) => (up ? lead() < longest : lead() > shortest),
      (up) => {
        preferences.choose({ lead: Math.min(longest, Math.max(shortest, lead() + (up ? leadStep : -leadStep))) });
      },
    ),
    staticItem(element("h3", {}, speak("tones.kinds"))),
    ...kindSwitches("kinds_muted", state.kinds.get().filter(({ id }) => !isCharger(id)), deps),
  ];
}

function attributionsPage({ state, locale }: MenuDeps): Item[] {
  const list = element("ul", { class: "credits" });
  let shown: readonly string[] = [];
  const none = element("p", {});
  return [
    {
      element: list,
      update() {
        const texts = state.attributions.get();
        if (texts !== shown) replaceChildren(list, texts.map((text) => element("li", {}, ...attributionNodes(text))));
        shown = texts;
        list.hidden = texts.length === 0;
        setTextOrHide(none, texts.length === 0 ? locale.get().say("credits.none") : "");
      },
    },
    staticItem(none),
  ];
}

/** contents makes the contents of each page. */
export const contents = {
  account: accountPage,
  kinds: kindsPage,
  sources: sourcesPage,
  networks: networksPage,
  display: displayPage,
  sound: soundPage,
  credits: attributionsPage,
} as const;

/** Contents makes the contents of each page of the menu. */
export type Contents = typeof contents;
