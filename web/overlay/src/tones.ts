// What is heard: two soft notes when something lies ahead, three higher ones when a camera is near.

import type { AlertStage } from "./alertrules.ts";
import { Cell } from "./cell.ts";

/** Note is a sound of a tone. */
export interface Note {
  /** Hertz. */
  pitch: number;
  /** Seconds from the start of the tone. */
  begins: number;
  /** Seconds. */
  lasts: number;
}

/** notes of each stage. */
export const notes: Readonly<Record<AlertStage, readonly Note[]>> = {
  ahead: [
    { pitch: 523.25, begins: 0, lasts: 0.22 },
    { pitch: 659.25, begins: 0.2, lasts: 0.4 },
  ],
  near: [
    { pitch: 783.99, begins: 0, lasts: 0.16 },
    { pitch: 783.99, begins: 0.22, lasts: 0.16 },
    { pitch: 1046.5, begins: 0.44, lasts: 0.4 },
  ],
};

const loudness = 0.25; // of what the car can; the driver has a knob
const rise = 0.02; // seconds; a tone that begins at once clicks

/** Tones plays. Before the first touch browsers let nothing be heard, and neither does the page. */
export class Tones {
  /** Whether something can be heard. */
  readonly ready = new Cell(false);
  #context: AudioContext | null = null;

  /** listen waits for touches: a car that slept may have stopped the sound, and the next touch starts it again. */
  listen(target: EventTarget): void {
    const wake = (): void => {
      this.#wake();
    };
    target.addEventListener("pointerup", wake);
    target.addEventListener("keydown", wake);
  }

  #wake(): void {
    if (this.#context?.state === "running") return;
    try {
      const context = (this.#context ??= new AudioContext());
      context.onstatechange = () => {
        this.ready.set(context.state === "running");
      };
      context.resume().then(
        () => {
          this.ready.set(context.state === "running");
        },
        () => undefined, // the next touch tries again
      );
    } catch {
      this.ready.set(false); // a browser without sound
    }
  }

  play(stage: AlertStage): void {
    const context = this.#context;
    if (context?.state !== "running") return;
    for (const { pitch, begins, lasts } of notes[stage]) {
      const start = context.currentTime + begins;
      const oscillator = context.createOscillator();
      const gain = context.createGain();
      oscillator.type = "sine";
      oscillator.frequency.value = pitch;
      gain.gain.setValueAtTime(0, start);
      gain.gain.linearRampToValueAtTime(loudness, start + rise);
      gain.gain.exponentialRampToValueAtTime(0.001, start + lasts);
      oscillator.connect(gain).connect(context.destination);
      oscillator.start(start);
      oscillator.stop(start + lasts);
    }
  }
}
