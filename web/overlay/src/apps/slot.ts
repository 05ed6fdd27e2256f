// The slot beside the map, or below it in portrait: a strip of tabs at the outer edge, and the frame of the chosen app. It folds to
// the strip alone.

import { element } from "../browser/dom.ts";
import type { Observable } from "../browser/observable.ts";
import { readStored, store } from "../browser/storage.ts";
import { keyedList, makeButton, makeIcon, setAttribute, setLabel, setText } from "../browser/widgets.ts";
import type { Installed } from "./api.ts";
import { guardFocus } from "./focusguard.ts";
import { AppFrame, type FrameDeps } from "./appframe.ts";
import type { AppSay } from "./appwords.ts";
import { slotOf } from "./host.ts";

const chosenKey = "wayside.app"; // key in the browser's local storage: id of the chosen app, empty for none
/** Where the window is this low, the slot is folded until the driver opens it. */
const low = "(max-height: 480px)";

/** SlotDeps are the dependencies of AppSlot. */
export interface SlotDeps {
  frames: FrameDeps;
  say: Observable<AppSay>;
  /** Called when the slot takes room from the map. */
  onOpen: () => void;
}

/** AppSlot is the slot beside the map: tabs and frames. */
export class AppSlot {
  readonly #deps: SlotDeps;
  readonly #tabs = element("div", { class: "tabs", role: "tablist" });
  readonly #stage = element("div", { class: "stage" });
  readonly #fold: HTMLButtonElement;
  readonly #root: HTMLElement;
  readonly #frames = new Map<string, AppFrame>();
  readonly #showTabs: (apps: readonly Installed[]) => void;
  #shown: readonly Installed[] = [];
  #chosen: string | null;

  constructor(deps: SlotDeps) {
    this.#deps = deps;
    this.#chosen = readStored(chosenKey) ?? (window.matchMedia(low).matches ? "" : null);
    this.#fold = makeButton({ class: "signed" }, () => {
      this.choose("");
    }, makeIcon("close"));
    this.#root = element("aside", { class: "slot", id: "apps", hidden: "" }, this.#stage, element("div", { class: "strip" }, this.#tabs, this.#fold));
    this.#showTabs = keyedList(this.#tabs, ({ app }: Installed) => app.id, (installed) => this.#makeTab(installed));
    document.body.append(this.#root);
    guardFocus(this.#stage, (frame) => {
      for (const app of this.#frames.values()) app.stopGrabbing(frame);
    });
    deps.say.watch((say) => {
      setLabel(this.#root, say("slot.label"));
      setLabel(this.#tabs, say("slot.label"));
      setLabel(this.#fold, say("slot.fold"));
      this.changed();
    });
    new ResizeObserver(() => {
      this.#measure();
    }).observe(this.#stage);
    window.addEventListener("message", (event) => {
      for (const frame of this.#frames.values()) if (frame.receive(event)) return;
    });
  }

  /** update takes over the installed apps: frames of removed apps are removed with all their contents. */
  update(all: readonly Installed[]): void {
    const framed = all.filter(({ app }) => slotOf(app.kinds) !== null);
    for (const [id, frame] of this.#frames) {
      const installed = framed.find(({ app }) => app.id === id);
      if (installed !== undefined) {
        frame.update(installed);
        continue;
      }
      frame.unmount();
      frame.element.remove();
      this.#frames.delete(id);
    }
    this.#shown = framed.filter(({ hidden }) => !hidden);
    this.#arrange();
  }

  /** choose shows an app; empty: none, which folds the slot. */
  choose(id: string): void {
    this.#chosen = id;
    store(chosenKey, id);
    this.#arrange();
    if (id === "") this.#tabs.querySelector("button")?.focus();
  }

  /** changed sends the look to all frames, if it has changed. */
  changed(): void {
    for (const frame of this.#frames.values()) frame.changed();
  }

  /** reconfigure reads the config of a frame again: a changed secret looks the same in the list of installed apps. */
  reconfigure(id: string): void {
    void this.#frames.get(id)?.reconfigure();
  }

  /** restart loads the page of an app anew. */
  restart(id: string): void {
    this.#frames.get(id)?.restart();
  }

  #arrange(): void {
    const chosen = this.#shown.find(({ app }) => app.id === this.#chosen) ?? (this.#chosen === "" ? undefined : this.#shown[0]);
    this.#root.hidden = this.#shown.length === 0;
    this.#stage.hidden = this.#fold.hidden = chosen === undefined;
    const { classList } = document.body;
    const opens = chosen !== undefined && !classList.contains("with-app");
    classList.toggle("with-apps", this.#shown.length > 0);
    classList.toggle("with-app", chosen !== undefined);
    this.#showTabs(this.#shown);
    this.#measure();
    if (opens) this.#deps.onOpen();
    for (const { app } of this.#shown) {
      setAttribute(this.#tabOf(app.id), "aria-selected", String(app === chosen?.app));
      if (app === chosen?.app) this.#frameOf(chosen).show(true);
    }
    for (const [id, frame] of this.#frames) if (id !== chosen?.app.id) frame.show(false);
    this.#measure();
  }

  #tabOf(id: string): HTMLElement {
    return document.getElementById(`tab-${id}`) ?? this.#tabs;
  }

  #frameOf(installed: Installed): AppFrame {
    const known = this.#frames.get(installed.app.id);
    if (known !== undefined) return known;
    const frame = new AppFrame(installed, this.#deps.frames);
    this.#frames.set(installed.app.id, frame);
    this.#stage.append(frame.element);
    this.#measure();
    return frame;
  }

  #makeTab({ app }: Installed): { element: HTMLElement; update: (installed: Installed) => void } {
    const sign = element("span", { class: "app-sign", "aria-hidden": "true" });
    const name = element("span", { class: "app-name", dir: "auto" });
    const tab = makeButton({ class: "tab", role: "tab", id: `tab-${app.id}`, "aria-controls": `app-${app.id}` }, () => {
      this.choose(this.#chosen === app.id || tab.getAttribute("aria-selected") === "true" ? "" : app.id);
    }, sign, name);
    return {
      element: tab,
      update: (installed) => {
        setText(name, installed.app.name);
        setLabel(tab, installed.app.name);
        drawSign(sign, installed);
      },
    };
  }

  #measure(): void {
    const { width, height } = this.#stage.getBoundingClientRect();
    for (const frame of this.#frames.values()) frame.resized({ width, height });
  }
}

/** drawSign draws an app's icon, or the first letter of its name. */
function drawSign(sign: HTMLElement, { app }: Installed): void {
  const path = app.icon_url === null ? null : new URL(app.icon_url, location.href);
  const present = sign.querySelector("img");
  if (path?.origin !== location.origin) {
    setText(sign, String.fromCodePoint(app.name.codePointAt(0) ?? 0));
    return;
  }
  if (present?.src === path.href) return;
  sign.textContent = "";
  sign.append(element("img", { alt: "", src: path.href }));
}
