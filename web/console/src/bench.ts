// The app bench (internal/http/console/appbench.go): shows an app, sends it what its developer chooses, shows each message, and runs the
// checks. Nothing of the app is loaded before the developer presses a button.

import type { Parts } from "../../overlay/src/apps/host.ts";
import { AppFrame } from "./bench/appframe.ts";
import { check, firstParts, withUnknown, type Finding, type Report } from "./bench/checks.ts";
import { MessageLog } from "./bench/messagelog.ts";
import { blankConfig, fullConfig, parseConfig, parseSchema } from "./bench/samples.ts";
import { wordsOf, type Words } from "./words.ts";

/** find returns an element that the page has. */
function find<T extends Element>(part: ParentNode, selector: string, kind: new () => T): T {
  const found = part.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`);
  return found;
}

class Bench {
  private frame: AppFrame | null = null;

  private shown = true;

  private busy = false;

  private readonly url: string;

  private readonly words: Words;

  private readonly form: HTMLFormElement;

  private readonly stage: HTMLElement;

  private readonly log: MessageLog;

  constructor(private readonly part: HTMLElement) {
    this.url = part.dataset["url"] ?? "";
    this.words = wordsOf(part.dataset["words"]);
    this.form = find(part, "[data-set]", HTMLFormElement);
    this.stage = find(part, "[data-stage]", HTMLElement);
    this.log = new MessageLog(find(part, "[data-log]", HTMLElement), this.words);
    this.on("open", () => { this.open(); });
    this.on("check", () => void this.check());
    this.on("hide", () => { this.hide(); });
    this.on("twice", () => { this.twice(); });
    this.on("reload", () => { this.open(); });
    this.on("close", () => { this.close(); });
    this.form.addEventListener("submit", (event) => { event.preventDefault(); });
    this.form.addEventListener("change", () => { this.changed(); });
    part.hidden = false;
  }

  private button(name: string): HTMLButtonElement {
    return find(this.part, `[data-do="${name}"]`, HTMLButtonElement);
  }

  private on(name: string, run: () => void): void {
    this.button(name).addEventListener("click", run);
  }

  /** say shows the state, and enables the buttons that it allows. */
  private say(key: string): void {
    find(this.part, "[data-state]", HTMLElement).textContent = this.words(key);
    for (const name of ["hide", "twice", "reload", "close"]) this.button(name).disabled = this.frame === null || this.busy;
    for (const name of ["open", "check"]) this.button(name).disabled = this.busy;
  }

  /** parts returns the form's values; null: a field is wrong, which the page shows. */
  private parts(): Parts | null {
    const values = new FormData(this.form);
    const text = (name: string): string => (values.get(name) as string | null) ?? "";
    const wrong = find(this.part, "[data-wrong]", HTMLElement);
    wrong.hidden = true;
    if (!this.form.reportValidity()) return null;
    let json: Pick<Parts, "config">;
    try {
      const schema = parseSchema(this.json("schema"));
      const set = parseConfig(this.json("values"));
      json = { config: values.has("blank") ? blankConfig(schema, set) : fullConfig(schema, set) };
    } catch (error) {
      wrong.textContent = (error as Error).message;
      wrong.hidden = false;
      return null;
    }
    return {
      ...firstParts(text("slot") as Parts["slot"], json.config),
      theme: text("theme") as Parts["theme"],
      units: text("units") as Parts["units"],
      uiSize: Number(text("uiSize")),
      size: { width: Number(text("width")), height: Number(text("height")) },
      device: { kind: text("kind"), input: text("input") } as Parts["device"],
    };
  }

  /** json parses the value of a field of the form; undefined: it is blank. */
  private json(name: string): unknown {
    const text = find(this.form, `[name="${name}"]`, HTMLTextAreaElement).value.trim();
    if (text === "") return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw new Error(this.words("bench.not-json", name === "values" ? "config" : "config_schema", (error as Error).message));
    }
  }

  private open(): void {
    const parts = this.parts();
    if (parts === null) return;
    this.frame?.close();
    this.frame = new AppFrame(this.url, parts, this.stage, this.log.take);
    this.shown = true;
    this.say("bench.opened");
  }

  private close(): void {
    this.frame?.close();
    this.frame = null;
    this.say("bench.closed");
  }

  private hide(): void {
    this.shown = !this.shown;
    this.frame?.show(this.shown);
    this.say(this.shown ? "bench.opened" : "bench.hidden");
  }

  private twice(): void {
    const { frame } = this;
    frame?.send(frame.context);
    frame?.send(frame.context);
  }

  /** changed sends the form's present values. */
  private changed(): void {
    const { frame } = this;
    const parts = this.parts();
    if (parts === null || frame === null || this.busy) return;
    frame.change(parts);
    if (new FormData(this.form).has("unknown")) frame.send(withUnknown(frame.context));
  }

  /** check runs all checks in a frame of their own, and shows the report. */
  private async check(): Promise<void> {
    const parts = this.parts();
    if (parts === null) return;
    this.close();
    this.busy = true;
    this.say("bench.running");
    const shown = find(this.part, "[data-report]", HTMLElement);
    const rows = find(shown, "[data-findings]", HTMLElement);
    const summary = find(shown, "[data-summary]", HTMLElement);
    rows.replaceChildren();
    summary.textContent = this.words("bench.running");
    shown.hidden = false;
    find(shown, "[data-json]", HTMLElement).hidden = true;
    const plan = { url: this.url, slot: parts.slot, schema: this.json("schema"), config: this.json("values"), madeBy: "bench" as const };
    try {
      const report = await check(plan, this.stage, { onFinding: (finding) => { rows.append(this.row(finding)); }, onEvent: this.log.take });
      this.report(report, shown, summary);
    } catch (error) {
      summary.textContent = (error as Error).message;
    } finally {
      this.busy = false;
      this.say("bench.closed");
    }
  }

  private row({ check: name, seen, result }: Finding): HTMLTableRowElement {
    const row = document.createElement("tr");
    row.className = result;
    const cells = [this.words(`bench.${result}`), name, seen].map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    });
    row.append(...cells);
    return row;
  }

  private report(report: Report, shown: HTMLElement, summary: HTMLElement): void {
    const failed = report.checks.filter(({ result }) => result === "fail").length;
    const all = report.checks.length;
    summary.textContent = failed === 0 ? this.words("bench.passed", all) : this.words("bench.failed", failed, all);
    const text = JSON.stringify(report, null, 2);
    const json = find(shown, "[data-json]", HTMLElement);
    find(json, "code", HTMLElement).textContent = text;
    const link = find(json, "[data-download]", HTMLAnchorElement);
    if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    json.hidden = false;
  }
}

const part = document.querySelector<HTMLElement>("[data-bench]");
if (part) new Bench(part);
