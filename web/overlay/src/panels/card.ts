// The card of one entity: its facts, its sources and the driver's vote.

import type { Preferences } from "../state/account.ts";
import type { Vote } from "../net/api.ts";
import type { Observable } from "../browser/observable.ts";
import { lifetimeOf } from "../pins/freshness.ts";
import { serverTime } from "../net/serverclock.ts";
import { element } from "../browser/dom.ts";
import { confidenceOf } from "../i18n/format.ts";
import { distance } from "../geo/geo.ts";
import { iconOf, entityLabel, limitText, networkName, sourceLabel, streetOf, textOf } from "../pins/entitylabels.ts";
import { setLabel, makeButton, makeLimitSign, setText, setAttribute, makeIcon, setTextOrHide } from "../browser/widgets.ts";
import { attributionOf, sourcesOf, mergedFrom } from "../pins/attribution.ts";
import { placeOf, zoneWidthOf } from "../pins/shapes.ts";
import type { DetailsLoader } from "../pins/detailsloader.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Actions, State } from "../state/state.ts";
import type { Reply, Votes } from "./vote.ts";
import { limitOf } from "../pins/wellknown.ts";
import type { Entity, Source } from "../net/wire.ts";

const updateInterval = 1000; // ms between two updates of ages and distances
const justNowLimit = 10_000; // ms

/** CardDeps are the card's dependencies. */
export interface CardDeps {
  state: State;
  actions: Actions;
  locale: Observable<Locale>;
  preferences: Preferences;
  votes: Votes;
  details: DetailsLoader;
  /** signIn opens the sign-in for a guest who wants to vote. */
  signIn: () => void;
}

/** sourceText returns a source's name and its attribution, which must be shown with its data. */
const sourceText = (source: Source, words: Locale): string => [...new Set([sourceLabel(source, words), attributionOf(source)])].filter((text) => text !== "").join(" · ");

const driversLayer = "drivers"; // of the built-in source

/** reportedText returns when a driver's report was last supported, and by how many drivers in all. */
function reportedText(entity: Entity, age: number, words: Locale): string {
  const drivers = entity.confirm_count + 1; // its author
  const written = words.format.number(drivers);
  return age < justNowLimit ? words.count("card.reportedNow", drivers, written) : words.count("card.reported", drivers, written, { age: words.format.duration(age) });
}

/** factsOf returns the lines of the card below its header (pure). */
export function factsOf(entity: Entity, gone: boolean, sources: readonly Source[], now: number, words: Locale): string[] {
  const { say: speak, format } = words;
  const { lastSeen, expires } = lifetimeOf(entity);
  const age = now - lastSeen;
  const { own, others } = sourcesOf(entity, sources);
  const network = textOf(entity, "network");
  const counted = (what: "card.confirms" | "card.disputes", n: number): string[] => (n > 0 ? [words.count(what, n, format.number(n))] : []);
  const votes = [...counted("card.confirms", entity.confirm_count), ...counted("card.disputes", entity.dispute_count)];
  const certainty = confidenceOf(entity.confidence, entity.dispute_count);
  const isReport = entity.layer_slug === driversLayer && certainty !== "doubtful" && !gone && !Number.isNaN(age);
  const zone = zoneWidthOf(entity) > 0; // its place is hidden on purpose: the card claims neither a missing street nor a confidence
  return [
    gone ? speak("card.expired") : "",
    zone ? speak("card.zone") : "",
    isReport ? [reportedText(entity, age, words), ...counted("card.disputes", entity.dispute_count)].join(" · ") : "",
    gone || isReport ? "" : [...(zone ? [] : [speak(`confidence.${certainty}`)]), ...votes].join(" · "),
    isReport || Number.isNaN(age) ? "" : age < justNowLimit ? speak("card.seenNow") : speak("card.seen", { age: format.duration(age) }),
    expires === null || gone ? "" : speak("card.ends", { time: format.duration(expires - now) }),
    network === "" ? "" : speak("card.network", { network: networkName(network) }),
    own === null ? "" : speak("card.source", { source: sourceText(own, words) }),
    others.length === 0 ? "" : speak("card.alsoFrom", { sources: others.map((source) => sourceText(source, words)).join(", ") }),
  ].filter((text) => text !== "");
}

/** makeCard shows state.selected. */
export function makeCard(deps: CardDeps): HTMLElement {
  const { state, actions, locale, preferences, votes, details } = deps;
  const icon = element("img", { alt: "", class: "icon" });
  const kind = element("h2", { id: "card-kind" });
  const street = element("p", { class: "street" });
  const distanceText = element("strong", { class: "figure" });
  const close = makeButton({ class: "signed" }, () => {
    actions.select(null);
  }, makeIcon("close"));
  const sign = makeLimitSign();
  const known = element("ul", { class: "details" });
  const facts = element("ul", { class: "facts" });
  const ballot = makeBallot(deps);
  const drive = makeButton({ class: "drive-there", id: "card-drive" }, () => {
    if (entity === null) return;
    const words = locale.get();
    const label = entityLabel(entity, state.kinds.get(), words);
    const at = streetOf(entity);
    actions.driveTo({ place: placeOf(entity), name: at === "" ? label : at, detail: at === "" ? "" : label });
    actions.select(null);
  });
  const head = element("header", {}, icon, element("div", { class: "what" }, kind, street, element("div", { class: "figures-row" }, distanceText, sign.element)), close);
  const box = element("section", { class: "card panel", hidden: "", "aria-labelledby": kind.id }, element("div", { class: "scroll" }, head, known, facts, drive, ballot.element));
  let entity: Entity | null = null;
  let isElsewhere = false; // an entity that is no longer in the view is not gone
  let previousID: string | null = null;

  const draw = (): void => {
    const id = state.selected.get();
    const found = id === null ? undefined : [...state.entities.get(), ...state.viewEntities.get()].find((one) => one.id === id || mergedFrom(one).some((other) => other.id === id));
    if (id === null) entity = null;
    else if (found !== undefined) entity = found;
    else if (entity?.id !== id) entity = state.known.get().find((one) => one.id === id) ?? null;
    box.hidden = entity === null;
    if (entity === null) return;
    const words = locale.get();
    setAttribute(icon, "src", iconOf(entity, state.kinds.get()));
    setText(kind, entityLabel(entity, state.kinds.get(), words));
    setTextOrHide(street, streetOf(entity) || (zoneWidthOf(entity) > 0 ? "" : words.say("card.noStreet")));
    if (found !== undefined) isElsewhere = state.viewEntities.get().includes(found);
    const pose = state.pose();
    setTextOrHide(distanceText, pose === null ? "" : words.format.distance(Math.max(0, distance(pose, placeOf(entity)) - zoneWidthOf(entity) / 2)).text);
    setLabel(close, words.say("do.close"));
    setText(drive, words.say("nav.driveThere"));
    drive.hidden = zoneWidthOf(entity) > 0; // a zone has no place to drive to
    const now = serverTime(state.clock.get(), performance.now(), Date.now());
    const limit = limitOf(entity, state.settings.get().units);
    sign.show(limit, limit === null ? "" : limitText(limit, state.settings.get().units, words));
    showLines(known, details.loaded.get()?.detailsOf(entity, words, now) ?? []);
    known.hidden = known.children.length === 0;
    showLines(facts, factsOf(entity, found === undefined && (!isElsewhere || hasExpired(entity, now)), state.sources.get(), now, words));
    ballot.show(entity.id);
  };
  state.selected.watch((id) => {
    if (id !== null) details.load();
    draw();
    if (id !== null && id !== previousID) void votes.load(id);
    previousID = id;
  });
  for (const observable of [state.entities, state.viewEntities, state.kinds, state.sources, locale, votes.own, details.loaded]) (observable as Observable<unknown>).watch(draw);
  preferences.person.watch((person) => {
    if (person !== null && entity !== null) void votes.load(entity.id);
  });
  setInterval(() => {
    if (entity !== null) draw();
  }, updateInterval);
  return box;
}

function hasExpired(entity: Entity, now: number): boolean {
  const { expires } = lifetimeOf(entity);
  return expires !== null && expires <= now;
}

function showLines(list: HTMLElement, texts: readonly string[]): void {
  while (list.children.length > texts.length) list.lastElementChild?.remove();
  texts.forEach((text, at) => {
    const line = list.children[at] ?? list.appendChild(element("li"));
    setText(line as HTMLElement, text);
  });
}

/** Ballot is the pair of buttons for voting. */
interface Ballot {
  element: HTMLElement;
  show(id: string): void;
}

function makeBallot({ locale, preferences, votes, signIn }: CardDeps): Ballot {
  const reply = element("p", { class: "reply", role: "status", hidden: "" });
  let id = "";
  let said: Reply | null = null;
  let waiting = false;
  const cast = async (vote: Vote): Promise<void> => {
    if (waiting) return; // a second touch while a request is in flight
    waiting = true;
    const on = id;
    const answer = await votes.cast(on, vote);
    waiting = false;
    if (on === id) said = answer;
    draw();
  };
  const buttons = (["confirm", "dispute"] as const).map((vote) => ({
    vote,
    button: makeButton({ class: vote }, () => {
      void cast(vote);
    }),
  }));
  const guest = makeButton({ class: "strong" }, signIn);
  // A complaint takes two touches: the first asks whether it is meant.
  let asked = false;
  const complain = async (): Promise<void> => {
    if (!asked) {
      asked = true;
      draw();
      return;
    }
    if (waiting) return;
    waiting = true;
    const on = id;
    const answer = await votes.complain(on);
    waiting = false;
    if (on === id) {
      said = answer;
      asked = false;
    }
    draw();
  };
  const complaint = makeButton({ class: "complaint" }, () => {
    void complain();
  });
  const voting = element("div", { class: "votes" }, ...buttons.map(({ button }) => button));
  const box = element("div", { class: "ballot" }, voting, guest, complaint, reply);
  const draw = (): void => {
    const { say: speak } = locale.get();
    const signedIn = preferences.person.get() !== null;
    const own = votes.own.get().get(id);
    voting.hidden = !signedIn;
    guest.hidden = signedIn;
    setText(guest, speak("vote.guest"));
    complaint.hidden = !signedIn || said === "complaint.thanks";
    setText(complaint, speak(asked ? "complaint.sure" : "complaint.do"));
    for (const { vote, button } of buttons) {
      setText(button, speak(vote === "confirm" ? "vote.there" : "vote.gone"));
      setAttribute(button, "aria-pressed", String(own === vote));
    }
    setTextOrHide(reply, said === null ? "" : speak(said));
  };
  preferences.person.watch(draw);
  return {
    element: box,
    show(entity) {
      if (entity !== id) {
        said = null;
        asked = false;
      }
      id = entity;
      draw();
    },
  };
}
