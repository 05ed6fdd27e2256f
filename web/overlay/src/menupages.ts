// What stands on the pages of the menu. Every choice holds at once and is kept.

import { isCharger, leadAt } from "./alertrules.ts";
import { element } from "./dom.ts";
import type { Key } from "./i18n/words.ts";
import { languageNames } from "./i18n/words.ts";
import { turnAll, turnKind } from "./kindchoice.ts";
import type { Needs } from "./menu.ts";
import { networkName, pathOf, textOf } from "./entitylabels.ts";
import { makeChoice, makeSwitch, makeButton, setText, makeStepper, setTextOrHide, type Item } from "./widgets.ts";
import { isOff, languages, limits, readChoices, type Settings } from "./settings.ts";
import { attributionOf } from "./attribution.ts";
import type { Kind, Source } from "./wire.ts";

const still = (made: HTMLElement): Item => ({ element: made, update: () => undefined });

function textsOf(name: string, { locale }: Needs): { name: string; on: string; off: string } {
  const { say: speak } = locale.get();
  return { name, on: speak("state.on"), off: speak("state.off") };
}

export function accountPage({ locale, choosing, signIn }: Needs): Item[] {
  const { say: speak } = locale.get();
  const person = choosing.person.get();
  const reply = element("p", { role: "status", hidden: "" });
  const who = element("p", {}, person === null ? speak("account.guest") : speak("account.as", { name: person.email }));
  const kept = element("p", { class: "soft" }, speak(person === null ? "account.keptHere" : "account.kept"));
  const button = makeButton({ class: "strong", id: "account-do" }, () => {
    if (person === null) signIn();
    else
      choosing.signOut().catch(() => {
        setTextOrHide(reply, speak("link.failed"));
      });
  }, speak(person === null ? "account.signIn" : "account.signOut"));
  const reset = makeButton({ id: "account-reset" }, () => {
    choosing.forget();
  }, speak("do.reset"));
  return [who, kept, button, reply, reset].map(still);
}

const groupKeys: Readonly<Record<string, Key>> = { alerts: "group.alerts", cameras: "group.cameras", chargers: "group.chargers", traffic: "group.traffic" };

export function kindsPage(needs: Needs): Item[] {
  const { state, locale, choosing } = needs;
  const words = locale.get();
  const all = state.kinds.get();
  const ids = all.map(({ id }) => id);
  const off = (): readonly string[] => state.settings.get().kinds_off;
  const items: Item[] = [];
  for (const group of new Set(all.map((kind) => kind.group))) {
    const of = all.filter((kind) => kind.group === group);
    const key = groupKeys[group] as "group.alerts" | undefined; // none takes a value
    const name = key === undefined ? group : words.say(key);
    const turn = (on: boolean): void => {
      choosing.choose({ kinds_off: turnAll(off(), of.map(({ id }) => id), on, ids) });
    };
    const both = ([true, false] as const).map((on) =>
      makeButton({ id: `all-${group}-${String(on)}`, "aria-label": `${name}: ${words.say(on ? "menu.all" : "menu.none")}` }, () => {
        turn(on);
      }, words.say(on ? "menu.all" : "menu.none")),
    );
    items.push(still(element("div", { class: "group" }, element("h3", {}, name), ...both)), ...of.map((kind) => kindSwitch(kind, needs, ids)));
  }
  return items;
}

function kindSwitch(kind: Kind, needs: Needs, all: readonly string[]): Item {
  const { state, locale, choosing } = needs;
  const icon = element("img", { alt: "", class: "icon", src: pathOf(kind.icon_url) });
  const off = (): readonly string[] => state.settings.get().kinds_off;
  const turn = (on: boolean): void => {
    choosing.choose({ kinds_off: turnKind(off(), kind.id, on, all) });
  };
  const made = makeSwitch(`kind-${kind.id}`, textsOf(locale.get().kind(kind.id, kind.label), needs), () => !isOff(kind.id, off()), turn, [icon]);
  if (kind.id.split(".").length > 2) made.element.classList.add("sub");
  return made;
}

export function sourcesPage(needs: Needs): Item[] {
  const { state, locale } = needs;
  const sources = state.sources.get();
  if (sources.length === 0) return [still(element("p", {}, locale.get().say("sources.empty")))];
  return sources.map((source) => sourceSwitch(source, needs));
}

function sourceSwitch(source: Source, needs: Needs): Item {
  const { state, locale, choosing } = needs;
  const off = (): readonly string[] => state.settings.get().sources_off;
  const turn = (on: boolean): void => {
    const others = off().filter((id) => id !== source.id);
    choosing.choose({ sources_off: on ? others : [...others, source.id] });
  };
  const note = (): string => {
    const health = state.health.get().find(({ id }) => id === source.id);
    return [attributionOf(source), health === undefined ? "" : locale.get().say(`sources.${health.status}`)].filter((text) => text !== "").join(" · ");
  };
  return makeSwitch(`source-${source.id}`, textsOf(source.label, needs), () => !off().includes(source.id), turn, [], note);
}

/** networksPage: guests see the primary network alone, accounts one more, premium whatever they choose or all (D4.7). */
export function networksPage(needs: Needs): Item[] {
  const { state, locale, choosing } = needs;
  const { say: speak } = locale.get();
  const primary = state.config.get()?.primary_network ?? "";
  const tier = choosing.person.get()?.tier ?? "guest";
  const chosen = (): readonly string[] => state.settings.get().networks ?? [];
  const only = still(element("p", {}, speak("networks.primary", { network: networkName(primary) })));
  if (tier === "guest") return [only, still(makeButton({ class: "strong", id: "networks-sign-in" }, needs.signIn, speak("account.signIn")))];
  const seen = state.known.get().filter(({ kind_id }) => isCharger(kind_id)).map((entity) => textOf(entity, "network"));
  const names = [...new Set([...chosen(), ...seen])].filter((name) => name !== "" && name !== primary).sort();
  const set = (networks: readonly string[]): void => {
    choosing.choose({ networks });
  };
  const turn = (name: string, on: boolean): void => {
    const others = chosen().filter((one) => one !== name && one !== primary);
    set(on ? (tier === "account" ? [name] : [...others, name]) : others);
  };
  const items = names.map((name) => makeSwitch(`network-${name}`, textsOf(networkName(name), needs), () => chosen().includes(name), (on) => {
    turn(name, on);
  }));
  const note = still(element("p", { class: "soft" }, speak("networks.tier")));
  if (tier === "premium") items.unshift(makeSwitch("networks-all", textsOf(speak("networks.all"), needs), () => state.settings.get().networks === null, (on) => {
    if (on) choosing.unchoose(["networks"]);
    else set([]);
  }));
  return [tier === "account" ? note : null, chosen().length === 0 && tier === "account" ? only : null, ...items, adder(speak("networks.add"), turn)].filter((item) => item !== null);
}

function adder(text: string, turn: (name: string, on: boolean) => void): Item {
  const field = element("input", { type: "text", id: "network-name", "aria-label": text, maxlength: String(limits.networkBytes), autocomplete: "off" });
  const form = element("form", { class: "adder" }, field, element("button", { type: "submit", id: "network-add" }, text));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [name] = readChoices({ networks: [field.value.trim().toLowerCase()] }).networks ?? [];
    if (name !== undefined) turn(name, true);
  });
  return still(form);
}

export function displayPage({ state, locale, choosing }: Needs): Item[] {
  const { say: speak, format } = locale.get();
  const setting = <K extends "theme" | "units" | "language">(key: K) => ({
    chosen: (): Settings[K] => state.settings.get()[key],
    choose: (value: Settings[K]): void => {
      choosing.choose({ [key]: value });
    },
  });
  const [theme, units, language] = [setting("theme"), setting("units"), setting("language")];
  const [lowest, highest] = limits.density;
  const density = (): number => state.settings.get().density;
  return [
    makeChoice("theme", speak("theme.title"), (["auto", "day", "night"] as const).map((value) => [value, speak(`theme.${value}`)]), theme.chosen, theme.choose),
    makeChoice(
      "camera",
      speak("map.label"),
      [["heading", speak("map.headingUp")], ["north", speak("map.northUp")]],
      () => state.cameraMode.get(),
      (mode) => {
        state.cameraMode.set(mode);
      },
    ),
    makeStepper(
      "density",
      speak("density.title"),
      [speak("density.smaller"), speak("density.larger")],
      () => speak("density.value", { value: format.number(density()) }),
      (up) => (up ? density() < highest : density() > lowest),
      (up) => {
        choosing.choose({ density: Math.min(highest, Math.max(lowest, Math.round(density()) + (up ? 1 : -1))) });
      },
    ),
    makeChoice("units", speak("units.title"), (["metric", "imperial"] as const).map((value) => [value, speak(`units.${value}`)]), units.chosen, units.choose),
    makeChoice("language", speak("language.title"), languages.map((value) => [value, languageNames[value]]), language.chosen, language.choose),
  ];
}

const leadStep = 0.25;
const exampleSpeed = 50 / 3.6; // metres a second

export function soundPage(needs: Needs): Item[] {
  const { state, locale, choosing, tones } = needs;
  const { say: speak, format } = locale.get();
  const [shortest, longest] = limits.lead;
  const lead = (): number => state.settings.get().lead;
  const tone = makeSwitch("tones", textsOf(speak("tones.title"), needs), () => state.settings.get().tones, (on) => {
    choosing.choose({ tones: on });
  });
  const touch = element("p", { class: "soft", hidden: "" });
  return [
    tone,
    still(makeButton({ id: "tones-try" }, () => {
      tones.play("ahead");
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
      () => speak("lead.value", { speed: format.speed(exampleSpeed).text, distance: format.distance(leadAt(exampleSpeed, lead())).text }),
      (up) => (up ? lead() < longest : lead() > shortest),
      (up) => {
        choosing.choose({ lead: Math.min(longest, Math.max(shortest, lead() + (up ? leadStep : -leadStep))) });
      },
    ),
  ];
}

export function creditsPage({ state, locale }: Needs): Item[] {
  const list = element("ul", { class: "credits" });
  const none = element("p", {});
  return [
    {
      element: list,
      update() {
        const texts = state.attributions.get();
        while (list.children.length > texts.length) list.lastElementChild?.remove();
        texts.forEach((text, at) => {
          setText((list.children[at] ?? list.appendChild(element("li"))) as HTMLElement, text);
        });
        list.hidden = texts.length === 0;
        setTextOrHide(none, texts.length === 0 ? locale.get().say("credits.none") : "");
      },
    },
    still(none),
  ];
}
