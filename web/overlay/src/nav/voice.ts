// Speaks during a drive: the announcements of the service, notices of the route, and the alerts of the page, in one queue.

import { watchAll } from "../browser/observable.ts";
import { notes as alertNotes, type Note } from "../alerts/alertsounds.ts";
import { readStored, store } from "../browser/storage.ts";
import { makeButton, makeIcon, replaceChildren, setLabel } from "../browser/widgets.ts";
import type { NavDeps } from "./deps.ts";
import { Speaker } from "./speaker.ts";
import { add, advance, emptyQueue, finish, withdraw, type SpeechQueue, type Utterance } from "./speechqueue.ts";
import type { Led, VoiceMode } from "./state.ts";
import type { Trip } from "./trippanel.ts";
import { announcementsOf, dueAt, isStale, secondsToNext, spokenSeconds, toneOf, type Announcement } from "./voicerules.ts";

const modeKey = "wayside.voice"; // key in the browser's local storage
const modes = ["all", "alerts", "off"] as const;
const updateInterval = 250; // ms
const alertMaxWait = 6000; // ms: how long an alert may wait
const noticeMaxWait = 10_000; // ms
const repeatTimeout = 20_000; // ms in which no sentence is said twice
const preparedClips = 2;

/** Said is an utterance of a drive. */
interface Said extends Utterance {
  text: string;
  language: string;
  clip: string | undefined;
  notes: readonly Note[];
  /** null unless it is about a turn. */
  announcement: Announcement | null;
}

const noticeNotes: readonly Note[] = [
  { pitch: 659.25, startsAt: 0, duration: 0.2 },
  { pitch: 523.25, startsAt: 0.2, duration: 0.4 },
];

/** Voice connects the queue with the drive. */
class Voice {
  readonly #deps: NavDeps;
  readonly #speaker: Speaker;
  #queue: SpeechQueue<Said> = emptyQueue;
  #led: Led | null = null;
  #announcements: readonly Announcement[] = [];
  readonly #over = new Set<string>();
  #last = { text: "", at: -Infinity };
  #count = 0;

  constructor(deps: NavDeps) {
    this.#deps = deps;
    this.#speaker = new Speaker(deps.host.sounds);
  }

  /** follow switches to a new route and drops the announcements of the old one. */
  follow(led: Led | null): void {
    if (led === this.#led) return;
    this.#led = led;
    this.#announcements = led === null ? [] : announcementsOf(led.line);
    this.#over.clear();
    // A driver who is under way knows the road: on a new route the first turn is announced first.
    if (led !== null && led.reason !== null) for (const one of this.#announcements) if (one.step === 0 && one.isOpening) this.#over.add(one.key);
    this.#queue = withdraw(this.#queue, ({ rank }) => rank !== "turn" && led !== null);
    if (led === null && this.#deps.nav.phase.get() !== "arrived") this.#hush();
  }

  /** update runs with each fix and four times a second. */
  update(): void {
    const { nav } = this.#deps;
    const progress = nav.progress.get();
    const led = this.#led;
    if (led === null || nav.phase.get() !== "led") return;
    let [toAnnouncement, toManeuver] = [Infinity, Infinity];
    if (progress !== null && !progress.isOff) {
      const { metres, speed } = progress;
      if (nav.voice.get() === "all") this.#announce(led, metres, speed);
      const next = secondsToNext(led.line, this.#announcements, metres, speed);
      [toAnnouncement, toManeuver] = [next.announcement, next.maneuver];
      this.#queue = withdraw(this.#queue, ({ announcement }) => announcement === null || !isStale(announcement, metres, speed));
      this.#prepare(metres);
    }
    const { queue, start } = advance(this.#queue, { now: performance.now(), toAnnouncement, toManeuver });
    this.#queue = queue;
    if (start !== null) this.#say(start);
  }

  /** enqueue adds a sentence that is not about a turn. */
  enqueue(rank: "notice" | "alert", text: string, notes: readonly Note[], maxWait: number): void {
    const { language } = this.#deps.host.locale.get();
    const staleAt = performance.now() + maxWait;
    const seconds = this.#speaker.hasVoice(language) ? spokenSeconds(text) : 1;
    this.#queue = add(this.#queue, { key: `${rank}${String(++this.#count)}`, rank, seconds, staleAt, text, language, clip: undefined, notes, announcement: null });
    this.update();
  }

  /** setMode stops utterances that the mode excludes. */
  setMode(mode: VoiceMode): void {
    const isWanted = ({ rank }: Said): boolean => mode === "all" || (mode === "alerts" && rank === "alert");
    this.#queue = withdraw(this.#queue, isWanted);
    if (this.#queue.current !== null && !isWanted(this.#queue.current)) this.#hush();
  }

  #announce(led: Led, metres: number, speed: number): void {
    const { announce, over } = dueAt(this.#announcements, metres, speed, this.#over);
    for (const key of over) this.#over.add(key);
    if (announce === null) return;
    const { announcement: text, clip } = announce.voice;
    const now = performance.now();
    if (text === this.#last.text && now - this.#last.at < repeatTimeout) return; // a new route begins with the turn of the old one
    const language = led.route.voiceLocale ?? this.#deps.host.locale.get().language;
    this.#queue = add(this.#queue, {
      key: `turn${String(++this.#count)}`, rank: "turn", seconds: spokenSeconds(text), staleAt: Infinity,
      text, language, clip, notes: toneOf(led.line.steps[announce.step + 1]), announcement: announce,
    });
  }

  /** #prepare loads the clips of the next announcements, where no voice speaks them. */
  #prepare(metres: number): void {
    const led = this.#led;
    if (led === null || this.#deps.nav.voice.get() !== "all" || this.#speaker.hasVoice(led.route.voiceLocale ?? "")) return;
    for (const { voice } of this.#announcements.filter(({ key, due }) => due >= metres && !this.#over.has(key)).slice(0, preparedClips)) {
      if (voice.clip !== undefined) this.#speaker.prepare(voice.clip);
    }
  }

  #say(said: Said): void {
    if (said.rank === "turn") this.#last = { text: said.text, at: performance.now() };
    this.#speaker.say(said, () => {
      this.#queue = finish(this.#queue, said);
      this.update();
    });
  }

  #hush(): void {
    this.#speaker.stop();
    this.#queue = { waiting: this.#queue.waiting, current: null };
  }
}

/** mountVoice speaks during drives, and adds the button of the voice's mode. */
export function mountVoice(deps: NavDeps, { buttons }: Trip): void {
  const { host, nav } = deps;
  const voice = new Voice(deps);
  const stored = readStored(modeKey);
  nav.voice.set(modes.find((mode) => mode === stored) ?? "all");
  nav.voice.watch((mode) => {
    store(modeKey, mode === "all" ? null : mode);
    voice.setMode(mode);
  });
  const button = makeButton({ class: "signed", id: "nav-voice" }, () => {
    const next = modes[(modes.indexOf(nav.voice.get()) + 1) % modes.length] ?? "all";
    nav.voice.set(next);
    // While led, it stands for the button of sounds, without which no alert is heard.
    if (next !== "off" && !host.state.settings.get().tones) host.preferences.choose({ tones: true });
  });
  buttons.prepend(button);
  watchAll([nav.voice, host.locale], () => {
    const mode = nav.voice.get();
    setLabel(button, host.locale.get().say(`nav.voice.${mode}`));
    button.dataset["mode"] = mode;
    replaceChildren(button, [mode === "alerts" ? makeAlertsIcon() : makeIcon(mode === "all" ? "sound" : "muted")]);
  });
  nav.led.watch((led) => {
    voice.follow(led);
    voice.update();
  });
  nav.progress.watch(() => {
    voice.update();
  });
  nav.notice.watch((notice) => {
    if (notice !== null && nav.voice.get() === "all") voice.enqueue("notice", notice.text, noticeNotes, noticeMaxWait);
  });
  host.sounds.takeOver = (stage, text) => {
    if (nav.phase.get() !== "led") return false;
    if (nav.voice.get() !== "off") voice.enqueue("alert", text, alertNotes[stage], alertMaxWait);
    return true;
  };
  let timer: ReturnType<typeof setInterval> | undefined;
  nav.phase.watch((phase) => {
    clearInterval(timer);
    if (phase !== "led") return;
    timer = setInterval(() => {
      voice.update();
    }, updateInterval);
  });
}

/** makeAlertsIcon makes a loudspeaker with an exclamation mark. */
function makeAlertsIcon(): SVGElement {
  const icon = makeIcon("sound");
  icon.querySelector("path")?.setAttribute("d", "M4 9.5v5h4l5 4.5v-14l-5 4.5zM18.5 6v7M18.5 17v1");
  return icon;
}
