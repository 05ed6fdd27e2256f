// Says one thing at a time: by the browser's own voice, by clips of the service, or by tones.

import type { AlertSounds, Note } from "../alerts/alertsounds.ts";

/** Speech is a text to be spoken, with its clip. */
export interface Speech {
  text: string;
  /** Language of the text, such as "de". */
  language: string;
  /** Path of the text as audio; undefined if there is none. */
  clip: string | undefined;
  /** Notes that are played instead where there is no voice. */
  notes: readonly Note[];
  /** Estimated seconds. */
  seconds: number;
}

const clipTimeout = 700; // ms: a turn that is told later than that is told too late
const startTimeout = 1500; // ms in which a voice begins to speak
const maxClips = 6; // that are kept decoded

/** localVoice returns a voice that speaks a language without sending the text to another host. */
export function localVoice(voices: readonly SpeechSynthesisVoice[], language: string): SpeechSynthesisVoice | null {
  const speaks = voices.filter(({ lang, localService }) => localService && (lang === language || lang.replace("_", "-").split("-")[0]?.toLowerCase() === language));
  return speaks.find((voice) => voice.default) ?? speaks[0] ?? null;
}

/** Speaker speaks one text at a time. */
export class Speaker {
  readonly #sounds: AlertSounds;
  readonly #clips = new Map<string, Promise<AudioBuffer | null>>();
  /** Voices that did not begin to speak. */
  readonly #silent = new Set<string>();
  #stop: (() => void) | null = null;

  constructor(sounds: AlertSounds) {
    this.#sounds = sounds;
    // Browsers load the list of voices when it is first asked for.
    if ("speechSynthesis" in window) speechSynthesis.getVoices();
  }

  /** hasVoice reports whether the browser speaks a language itself. */
  hasVoice(language: string): boolean {
    return this.#voiceFor(language) !== null;
  }

  /** prepare loads a clip that will be needed. */
  prepare(clip: string): void {
    if (!this.#clips.has(clip) && this.#sounds.context !== null) void this.#load(clip);
  }

  /** say stops the present text, speaks another one and calls done once, when that has been spoken or has failed. */
  say(speech: Speech, done: () => void): void {
    this.stop();
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      clearTimeout(limit);
      if (this.#stop === stop) this.#stop = null;
      done();
    };
    const stop = (): void => {
      ended = true;
      clearTimeout(limit);
    };
    const limit = setTimeout(end, (2 * speech.seconds + 4) * 1000); // some browsers never say that a voice has ended
    this.#stop = stop;
    const voice = this.#voiceFor(speech.language);
    if (voice !== null) this.#speak(voice, speech, end);
    else void this.#play(speech, end, () => ended);
  }

  /** stop stops the present text without calling its done. */
  stop(): void {
    this.#stop?.();
    this.#stop = null;
    this.#stopSound?.();
    this.#stopSound = null;
    if ("speechSynthesis" in window) speechSynthesis.cancel();
  }

  #stopSound: (() => void) | null = null;

  #voiceFor(language: string): SpeechSynthesisVoice | null {
    if (!("speechSynthesis" in window)) return null;
    const voice = localVoice(speechSynthesis.getVoices(), language);
    return voice === null || this.#silent.has(voice.voiceURI) ? null : voice;
  }

  #speak(voice: SpeechSynthesisVoice, speech: Speech, end: () => void): void {
    const utterance = new SpeechSynthesisUtterance(speech.text);
    utterance.voice = voice;
    utterance.lang = voice.lang;
    let isOver = false;
    const giveUp = (): void => {
      if (isOver) return;
      isOver = true;
      this.#silent.add(voice.voiceURI);
      utterance.onend = utterance.onerror = null;
      speechSynthesis.cancel();
      void this.#play(speech, end, () => this.#stop === null);
    };
    const starting = setTimeout(giveUp, startTimeout);
    utterance.onstart = () => {
      clearTimeout(starting);
    };
    utterance.onend = () => {
      isOver = true;
      clearTimeout(starting);
      end();
    };
    utterance.onerror = ({ error }) => {
      clearTimeout(starting);
      if (error === "interrupted" || error === "canceled") isOver = true;
      else giveUp();
    };
    speechSynthesis.speak(utterance);
  }

  /** #play plays the clip if it is there in time, otherwise the tones. */
  async #play({ clip, notes }: Speech, end: () => void, isOver: () => boolean): Promise<void> {
    const buffer = clip === undefined || this.#sounds.context === null ? null : await within(this.#load(clip), clipTimeout);
    if (isOver()) return;
    const { context } = this.#sounds;
    if (buffer === null || context === null) {
      this.#sounds.play(notes);
      setTimeout(end, 1000 * Math.max(0, ...notes.map(({ startsAt, duration }) => startsAt + duration)));
      return;
    }
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    source.onended = end;
    this.#stopSound = () => {
      source.onended = null;
      source.stop();
    };
    source.start();
  }

  #load(clip: string): Promise<AudioBuffer | null> {
    const known = this.#clips.get(clip);
    if (known !== undefined) return known;
    const loading = this.#fetch(clip);
    this.#clips.set(clip, loading);
    for (const oldest of this.#clips.keys()) if (this.#clips.size > maxClips) this.#clips.delete(oldest);
    return loading;
  }

  async #fetch(clip: string): Promise<AudioBuffer | null> {
    try {
      const response = await fetch(clip);
      if (!response.ok || this.#sounds.context === null) return null;
      return await this.#sounds.context.decodeAudioData(await response.arrayBuffer());
    } catch {
      return null; // tones are heard instead
    }
  }
}

/** within returns null if a promise takes longer than so many milliseconds. */
function within<T>(promise: Promise<T>, timeout: number): Promise<T | null> {
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      resolve(null);
    }, timeout);
    void promise.then((value) => {
      clearTimeout(late);
      resolve(value);
    });
  });
}
