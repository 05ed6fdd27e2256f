// The alert banner: kind and remaining distance in large type, with a sound when it is announced.

import type { Banner as Alert } from "../alerts/announcer.ts";
import type { Observable } from "../browser/observable.ts";
import { element } from "../browser/dom.ts";
import type { DetailsLoader } from "../pins/detailsloader.ts";
import { iconOf, entityLabel, limitText, streetOf } from "../pins/entitylabels.ts";
import { limitOf } from "../pins/wellknown.ts";
import { setLabel, makeButton, makeLimitSign, setText, setAttribute, makeIcon, setTextOrHide } from "../browser/widgets.ts";
import type { Locale } from "../i18n/locale.ts";
import { isKindHidden } from "../settings/settings.ts";
import type { AlertCandidate } from "../alerts/alerts.ts";
import type { Actions, State } from "../state/state.ts";
import type { AlertSounds } from "../alerts/alertsounds.ts";

const hereWithin = 25; // metres

/** makeBanner shows state.alerts. */
export function makeBanner(state: State, actions: Actions, locale: Observable<Locale>, tones: AlertSounds, details: DetailsLoader): HTMLElement {
  const icon = element("img", { alt: "", class: "icon" });
  const figure = element("strong", { class: "figure" });
  const kind = element("span", { class: "kind" });
  const street = element("span", { class: "street" });
  const sign = makeLimitSign();
  const open = makeButton({ class: "alert" }, () => {
    actions.select(shown?.pin.id ?? null);
  }, icon, element("span", { class: "what" }, kind, street), sign.element, figure);
  const away = makeButton({ class: "signed away" }, () => {
    if (shown !== null) actions.dismiss(shown.pin.id);
  }, makeIcon("close"));
  const spoken = element("p", { class: "unseen", role: "alert" });
  const box = element("div", { class: "banner", hidden: "" }, open, away);
  let shown: Alert<AlertCandidate> | null = null;

  const hasTone = (kindID: string): boolean => {
    const { tones: areOn, kinds_muted } = state.settings.get();
    return areOn && !isKindHidden(kindID, kinds_muted);
  };

  const draw = (): void => {
    const words = locale.get();
    shown = state.alerts.get().banner;
    box.hidden = shown === null;
    if (shown === null) return;
    const { entity, zone } = shown.pin;
    setAttribute(icon, "src", iconOf(entity, state.kinds.get()));
    setText(kind, zone > 0 && shown.distance === 0 ? words.say("banner.inZone") : entityLabel(entity, state.kinds.get(), words));
    details.load();
    const brief = details.loaded.get()?.summaryOf(entity, words) ?? "";
    setTextOrHide(street, [brief, streetOf(entity)].filter((text) => text !== "").join(" · "));
    const { units } = state.settings.get();
    const limit = limitOf(entity, units);
    sign.show(limit, limit === null ? "" : limitText(limit, units, words));
    setText(figure, shown.distance < hereWithin ? words.say("banner.here") : words.format.distance(shown.distance).text);
    setAttribute(box, "data-stage", shown.stage);
    setLabel(away, words.say("banner.dismiss"));
  };

  let announced: unknown = null;
  state.alerts.watch(({ announce }) => {
    draw();
    if (announce === null || announce === announced) return;
    announced = announce;
    const words = locale.get();
    const { entity } = announce.pin;
    const values = { kind: entityLabel(entity, state.kinds.get(), words), distance: words.format.spokenDistance(announce.distance) };
    const on = streetOf(entity);
    const { units } = state.settings.get();
    const limit = limitOf(entity, units);
    const where = on === "" ? words.say("banner.spoken", values) : words.say("banner.spokenStreet", { ...values, street: on });
    const alert = limit === null ? where : `${where}. ${limitText(limit, units, words)}`;
    const text = announce.stage === "near" ? words.say("banner.spokenNear", { alert }) : alert;
    setText(spoken, text);
    if (hasTone(entity.kind_id)) tones.announce(announce.stage, text);
  });
  for (const observable of [locale, state.kinds, details.loaded]) (observable as Observable<unknown>).watch(draw);
  const region = element("section", { class: "alerts" }, box, spoken);
  locale.watch((words) => {
    setLabel(region, words.say("banner.label"));
  });
  return region;
}
