// What is heard: two soft notes when something lies ahead, three higher ones when a camera is near.

import type { AlertStage } from "./alertrules.ts";
import { Observable } from "./observable.ts";

/** Note is a sound of a tone. */
export interface Note {
  /** Hertz. */
  pitch: number;
  /** Seconds from the start of the tone. */
  startsAt: number;
  /** Seconds. */
  duration: number;
}

/** notes of each stage. */
export const notes: Readonly<Record<AlertStage, readonly Note[]>> = {
  ahead: [
    { pitch: 523.25, startsAt: 0, duration: 0.22 },
    { pitch: 659.25, startsAt: 0.2, duration: 0.4 },
  ],
  near: [
    { pitch: 783.99, startsAt: 0, duration: 0.16 },
    { pitch: 783.99, startsAt: 0.22, duration: 0.16 },
    { pitch: 1046.5, startsAt: 0.44, duration: 0.4 },
  ],
};

const volume = 0.25; // of what the car can; the driver has a knob
const attack = 0.02; // seconds; a tone that begins at once clicks

/** AlertSounds plays. Before the first touch browsers let nothing be heard, and neither does the page. */
export class AlertSounds {
  /** Whether something can be heard. */
  readonly ready = new Observable(false);
  #context: AudioContext | null = null;

  /** unlockOn waits for touches: a car that slept may have stopped the sound, and the next touch starts it again. */
  unlockOn(target: EventTarget): void {
    const resume = (): void => {
      this.#resume();
    };
    target.addEventListener("pointerup", resume);
    target.addEventListener("keydown", resume);
  }

  #resume(): void {
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
    for (const { pitch, startsAt, duration } of notes[stage]) {
      const start = context.currentTime + startsAt;
      const oscillator = context.createOscillator();
      const gain = context.createGain();
      oscillator.type = "sine";
      oscillator.frequency.value = pitch;
      gain.gain.setValueAtTime(0, start);
      gain.gain.linearRampToValueAtTime(volume, start + attack);
      gain.gain.exponentialRampToValueAtTime(0.001, start + duration);
      oscillator.connect(gain).connect(context.destination);
      oscillator.start(start);
      oscillator.stop(start + duration);
    }
  }
}
