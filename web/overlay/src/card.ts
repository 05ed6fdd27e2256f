// The card of one entity: what is known of it, from whom, and whether the driver sees it too.

import type { Choosing } from "./account.ts";
import type { Vote } from "./api.ts";
import type { Cell } from "./cell.ts";
import { lifetimeOf } from "./freshness.ts";
import { serverTime } from "./serverclock.ts";
import { element } from "./dom.ts";
import { confidenceOf } from "./format.ts";
import { distance } from "./geo.ts";
import { iconOf, nameOf, networkName, streetOf, textOf } from "./naming.ts";
import { label, press, say, setAttribute, sign, tell } from "./parts.ts";
import { attributionOf, mergedFrom, sourcesByLayer } from "./sights.ts";
import { placeOf, zoneOf } from "./shapes.ts";
import type { Speech } from "./speech.ts";
import type { Actions, State } from "./state.ts";
import type { Reply, Votes } from "./vote.ts";
import type { Entity, Source } from "./wire.ts";

const every = 1000; // ms between two looks at ages and distances
const justNow = 10_000; // ms

/** Needs are what the card works with. */
export interface Needs {
  state: State;
  actions: Actions;
  speech: Cell<Speech>;
  choosing: Choosing;
  votes: Votes;
  /** signIn is for a guest who wants to vote. */
  signIn: () => void;
}

/** Sourced is whom an entity is from. */
export interface Sourced {
  /** null: the catalogue does not have it. */
  own: Source | null;
  others: readonly Source[];
}

/** sourcesOf are its own source and those of what is merged into it, each once (pure). */
export function sourcesOf(entity: Entity, sources: readonly Source[]): Sourced {
  const own = sourcesByLayer(sources).get(entity.layer_slug) ?? null;
  const ids = new Set(mergedFrom(entity).map(({ source }) => source));
  return { own, others: sources.filter((source) => source !== own && ids.has(source.id)) };
}

/** creditOf is a source's name and its attribution, which must be shown with its data. */
const creditOf = (source: Source): string => [...new Set([source.label, attributionOf(source)])].filter((text) => text !== "").join(" · ");

/** Facts are the lines of the card below its head (pure). */
export function factsOf(entity: Entity, gone: boolean, sources: readonly Source[], now: number, words: Speech): string[] {
  const { say: speak, format } = words;
  const { lastSeen, expires } = lifetimeOf(entity);
  const age = now - lastSeen;
  const { own, others } = sourcesOf(entity, sources);
  const network = textOf(entity, "network");
  const counted = (what: "card.confirms" | "card.disputes", n: number): string[] => (n > 0 ? [words.count(what, n, format.number(n))] : []);
  const votes = [...counted("card.confirms", entity.confirm_count), ...counted("card.disputes", entity.dispute_count)];
  return [
    gone ? speak("card.expired") : [speak(`confidence.${confidenceOf(entity.confidence)}`), ...votes].join(" · "),
    Number.isNaN(age) ? "" : age < justNow ? speak("card.seenNow") : speak("card.seen", { age: format.duration(age) }),
    expires === null || gone ? "" : speak("card.ends", { time: format.duration(expires - now) }),
    zoneOf(entity) > 0 ? speak("card.zone") : "",
    network === "" ? "" : speak("card.network", { network: networkName(network) }),
    own === null ? "" : speak("card.source", { source: creditOf(own) }),
    others.length === 0 ? "" : speak("card.alsoFrom", { sources: others.map(creditOf).join(", ") }),
  ].filter((text) => text !== "");
}

/** makeCard shows state.selected. */
export function makeCard(needs: Needs): HTMLElement {
  const { state, actions, speech, choosing, votes } = needs;
  const icon = element("img", { alt: "", class: "icon" });
  const kind = element("h2", { id: "card-kind" });
  const street = element("p", { class: "street" });
  const away = element("strong", { class: "figure" });
  const close = press({ class: "signed" }, () => {
    actions.select(null);
  }, sign("close"));
  const facts = element("ul", { class: "facts" });
  const ballot = makeBallot(needs);
  const head = element("header", {}, icon, element("div", { class: "what" }, kind, street, away), close);
  const box = element("section", { class: "card panel", hidden: "", "aria-labelledby": kind.id }, element("div", { class: "scroll" }, head, facts, ballot.element));
  let entity: Entity | null = null;
  let before: string | null = null;

  const draw = (): void => {
    const id = state.selected.get();
    const found = id === null ? undefined : state.entities.get().find((one) => one.id === id || mergedFrom(one).some((other) => other.id === id));
    if (id === null) entity = null;
    else if (found !== undefined) entity = found;
    else if (entity?.id !== id) entity = state.known.get().find((one) => one.id === id) ?? null;
    box.hidden = entity === null;
    if (entity === null) return;
    const words = speech.get();
    setAttribute(icon, "src", iconOf(entity, state.kinds.get()));
    say(kind, nameOf(entity, state.kinds.get(), words));
    say(street, streetOf(entity) || words.say("card.noStreet"));
    const pose = state.pose();
    tell(away, pose === null ? "" : words.format.distance(Math.max(0, distance(pose, placeOf(entity)) - zoneOf(entity) / 2)).text);
    label(close, words.say("do.close"));
    showLines(facts, factsOf(entity, found === undefined, state.sources.get(), serverTime(state.clock.get(), performance.now(), Date.now()), words));
    ballot.show(entity.id);
  };
  state.selected.watch((id) => {
    draw();
    if (id !== null && id !== before) void votes.recall(id);
    before = id;
  });
  for (const cell of [state.entities, state.kinds, state.sources, speech, votes.own]) (cell as Cell<unknown>).watch(draw);
  choosing.person.watch((person) => {
    if (person !== null && entity !== null) void votes.recall(entity.id);
  });
  setInterval(() => {
    if (entity !== null) draw();
  }, every);
  return box;
}

function showLines(list: HTMLElement, texts: readonly string[]): void {
  while (list.children.length > texts.length) list.lastElementChild?.remove();
  texts.forEach((text, at) => {
    const line = list.children[at] ?? list.appendChild(element("li"));
    say(line as HTMLElement, text);
  });
}

/** Ballot are the buttons for votes. */
interface Ballot {
  element: HTMLElement;
  show(id: string): void;
}

function makeBallot({ speech, choosing, votes, signIn }: Needs): Ballot {
  const reply = element("p", { class: "reply", role: "status", hidden: "" });
  let id = "";
  let said: Reply | null = null;
  let waiting = false;
  const cast = async (vote: Vote): Promise<void> => {
    if (waiting) return; // a second finger
    waiting = true;
    const on = id;
    const answer = await votes.cast(on, vote);
    waiting = false;
    if (on === id) said = answer;
    draw();
  };
  const buttons = (["confirm", "dispute"] as const).map((vote) => ({
    vote,
    button: press({ class: vote }, () => {
      void cast(vote);
    }),
  }));
  const guest = press({ class: "strong" }, signIn);
  const voting = element("div", { class: "votes" }, ...buttons.map(({ button }) => button));
  const box = element("div", { class: "ballot" }, voting, guest, reply);
  const draw = (): void => {
    const { say: speak } = speech.get();
    const signedIn = choosing.person.get() !== null;
    const own = votes.own.get().get(id);
    voting.hidden = !signedIn;
    guest.hidden = signedIn;
    say(guest, speak("vote.guest"));
    for (const { vote, button } of buttons) {
      say(button, speak(vote === "confirm" ? "vote.there" : "vote.gone"));
      setAttribute(button, "aria-pressed", String(own === vote));
    }
    tell(reply, said === null ? "" : speak(said));
  };
  choosing.person.watch(draw);
  return {
    element: box,
    show(entity) {
      if (entity !== id) said = null;
      id = entity;
      draw();
    },
  };
}
