// The part of reports that is loaded with the page: the button, for a driver who is signed in to a service that takes reports.

import { element } from "../browser/dom.ts";
import type { Observable } from "../browser/observable.ts";
import { makeButton, makeIcon, setText } from "../browser/widgets.ts";
import type { ReportDeps, ReportPanel } from "./panel.ts";

/** makeReport makes the button and the place of the panel, whose code is loaded with the first touch. */
export function makeReport(deps: ReportDeps): { button: HTMLButtonElement; panel: HTMLElement } {
  const { state, locale, preferences } = deps;
  const panel = element("section", { class: "report panel", hidden: "", role: "dialog" });
  const text = element("span", {});
  let loading: Promise<ReportPanel> | null = null;
  const button = makeButton({ class: "strong to-report", id: "report" }, () => {
    const seen = { pose: state.pose(), at: performance.now() }; // what the driver reports is here, not where the kind is chosen
    loading ??= import("./panel.ts").then(async ({ loadStyle, makeReportPanel }) => {
      await loadStyle();
      return makeReportPanel(panel, button, deps);
    });
    loading.then(
      (made) => {
        made.open(seen);
      },
      (error: unknown) => {
        loading = null; // without a connection: the next touch tries again
        console.warn(error);
      },
    );
  }, makeIcon("report"), text);
  const draw = (): void => {
    setText(text, locale.get().say("report.open"));
    button.hidden = preferences.person.get() === null || !state.sources.get().some(({ id }) => id === "drivers") || state.fix.get() === null || !panel.hidden;
  };
  for (const observable of [locale, preferences.person, state.sources, state.fix]) (observable as Observable<unknown>).watch(draw);
  new MutationObserver(draw).observe(panel, { attributes: true, attributeFilter: ["hidden"] });
  return { button, panel };
}
