// The list of messages on the bench. An app may post thousands in a second: a few are shown, the others are counted.

import type { Words } from "../words.ts";
import type { FrameEvent } from "./appframe.ts";
import { describe } from "./describe.ts";

const longest = 200; // lines
const mostAtOnce = 20; // lines between two updates
const updateEvery = 100; // milliseconds

const says = { load: "bench.loaded", away: "bench.away", sent: "bench.sent", ready: "bench.received", other: "bench.ignored", flood: "bench.flood" } as const;

/** MessageLog shows the messages between page and app. */
export class MessageLog {
  private waiting: HTMLElement[] = [];

  private skipped = 0;

  private timer = 0;

  constructor(
    private readonly list: HTMLElement,
    private readonly words: Words,
  ) {}

  readonly take = (event: FrameEvent): void => {
    if (this.timer === 0) this.timer = window.setTimeout(this.update, updateEvery);
    if (this.waiting.length >= mostAtOnce) this.skipped++;
    else this.waiting.push(this.line(event));
  };

  private line(event: FrameEvent): HTMLElement {
    const line = document.createElement("li");
    line.className = event.kind;
    const label = document.createElement("span");
    label.textContent = `${new Date().toISOString().slice(11, 23)} ${this.words(says[event.kind])}`;
    line.append(label);
    if ("message" in event) {
      const code = document.createElement("code");
      code.textContent = describe(event.message, event.kind === "sent" ? 2000 : 200);
      line.append(" ", code);
    }
    return line;
  }

  private readonly update = (): void => {
    this.timer = 0;
    if (this.skipped > 0) {
      const line = document.createElement("li");
      line.textContent = this.words("bench.skipped", this.skipped);
      this.waiting.push(line);
    }
    this.list.prepend(...this.waiting.reverse());
    this.waiting = [];
    this.skipped = 0;
    while (this.list.children.length > longest) this.list.lastElementChild?.remove();
  };
}
