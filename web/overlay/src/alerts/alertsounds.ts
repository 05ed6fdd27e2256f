// The sounds of announcements: two soft notes for an alert ahead, three higher ones for a near camera.

import type { AlertStage } from "./alertrules.ts";
import { Observable } from "../browser/observable.ts";

/** Note is one note of a sound. */
export interface Note {
  /** Hertz. */
  pitch: number;
  /** Seconds after the start of the sound. */
  startsAt: number;
  /** Seconds. */
  duration: number;
}

/** notes lists the notes of each stage. */
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

const volume = 0.25; // share of full volume
const attack = 0.02; // seconds of fade-in, against a click

/** AlertSounds plays the notes. Browsers allow no sound before the first touch. */
export class AlertSounds {
  /** Whether the browser has sound at all. */
  readonly possible = typeof AudioContext === "function";
  /** Whether sound can be played. */
  readonly ready = new Observable(false);
  /** takeOver returns whether somebody else announces an alert; null: nobody does. */
  takeOver: ((stage: AlertStage, text: string) => boolean) | null = null;
  #context: AudioContext | null = null;

  /** context plays sounds; null if none can be played now. */
  get context(): AudioContext | null {
    return this.#context?.state === "running" ? this.#context : null;
  }

  /** unlockOn resumes the audio context at each touch: it is suspended before the first one and may be after the car slept. */
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
        () => undefined, // retried at the next touch
      );
    } catch {
      this.ready.set(false); // a browser without audio
    }
  }

  /** announce plays the notes of an alert, unless its text is spoken. */
  announce(stage: AlertStage, text: string): void {
    if (this.takeOver?.(stage, text) !== true) this.play(notes[stage]);
  }

  play(all: readonly Note[]): void {
    const { context } = this;
    if (context === null) return;
    for (const { pitch, startsAt, duration } of all) {
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
