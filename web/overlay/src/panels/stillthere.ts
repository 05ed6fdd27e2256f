// The question after passing a decaying pin: "Still there?" with two large buttons. It is loaded when the first pin was passed.

import type { Preferences } from "../state/account.ts";
import type { Vote } from "../net/api.ts";
import { element } from "../browser/dom.ts";
import { entityLabel, iconOf } from "../pins/entitylabels.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Observable } from "../browser/observable.ts";
import type { Alerts } from "../alerts/alerts.ts";
import type { State } from "../state/state.ts";
import { answer, close, initialAsking, stepAsking, type Asking } from "../alerts/stillthererules.ts";
import type { Reply, Votes } from "./vote.ts";
import { makeButton, makeIcon, setAttribute, setLabel, setText, setTextOrHide } from "../browser/widgets.ts";

/** StillThereDeps are the question's dependencies. */
export interface StillThereDeps {
  state: State;
  locale: Observable<Locale>;
  preferences: Preferences;
  votes: Votes;
  /** signIn opens the sign-in for a guest. */
  signIn: () => void;
}

/** showStillThere fills the box and shows it for the pin that the given alerts name, and for each later one. */
export function showStillThere(box: HTMLElement, first: Alerts, { state, locale, preferences, votes, signIn }: StillThereDeps): void {
  let asking: Asking = initialAsking;
  let reply: Reply | null = null;
  const icon = element("img", { alt: "", class: "icon" });
  const kind = element("span", { class: "kind" });
  const question = element("strong", {});
  const said = element("p", { role: "status", class: "reply", hidden: "" });
  const buttons = (["confirm", "dispute"] as const).map((vote) => ({ vote, button: makeButton({ class: vote }, () => void cast(vote)) }));
  const voting = element("div", { class: "votes" }, ...buttons.map(({ button }) => button));
  const guest = makeButton({ class: "strong" }, () => {
    set(close(asking));
    signIn();
  });
  const away = makeButton({ class: "signed away" }, () => {
    set(close(asking));
  }, makeIcon("close"));
  const head = element("header", {}, icon, element("div", { class: "what" }, question, kind), away);
  box.append(head, voting, guest, said);
  box.setAttribute("role", "group");

  const draw = (): void => {
    const { pin, answered } = asking;
    box.hidden = pin === null;
    box.closest(".head")?.classList.toggle("asking", pin !== null);
    if (pin === null) return;
    const words = locale.get();
    const isGuest = preferences.person.get() === null;
    setAttribute(icon, "src", iconOf(pin.entity, state.kinds.get()));
    setText(kind, entityLabel(pin.entity, state.kinds.get(), words));
    setText(question, words.say("passed.ask"));
    setLabel(box, words.say("passed.ask"));
    setLabel(away, words.say("do.close"));
    voting.hidden = isGuest || answered;
    guest.hidden = !isGuest || answered;
    setText(guest, words.say("passed.signIn"));
    for (const { vote, button } of buttons) setText(button, words.say(vote === "confirm" ? "vote.there" : "vote.gone"));
    setTextOrHide(said, answered && reply !== null ? words.say(reply) : "");
  };
  const set = (next: Asking): void => {
    if (next.pin !== asking.pin) reply = null;
    asking = next;
    draw();
  };
  const cast = async (vote: Vote): Promise<void> => {
    const { pin } = asking;
    if (pin === null || asking.answered) return;
    set(answer(asking, performance.now()));
    const got = await votes.cast(pin.id, vote);
    if (asking.pin !== pin) return;
    reply = got;
    set(answer(asking, performance.now()));
  };
  const update = (alerts: Alerts): void => {
    const connection = state.connection.get();
    set(
      stepAsking(asking, {
        now: performance.now(),
        alerts,
        speed: state.pose()?.speed ?? null,
        isGuest: preferences.person.get() === null,
        isConnected: connection !== null && connection.how !== "lost",
        lead: state.settings.get().lead,
      }),
    );
  };
  update(first);
  let isFirst = true;
  state.alerts.watch((alerts) => {
    if (!isFirst) update(alerts); // the first call is for the current value
    isFirst = false;
  });
  for (const observable of [locale, preferences.person] as const) (observable as Observable<unknown>).watch(draw);
}
