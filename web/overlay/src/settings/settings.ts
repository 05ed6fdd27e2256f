// The driver's settings: choices, defaults, and which of two stored copies wins (pure).

/** Units are the units of distances and speeds. */
export type Units = "metric" | "imperial";
/** ThemeChoice is the driver's choice of the theme. */
export type ThemeChoice = "day" | "night" | "auto";
/** languages lists the languages of the page. */
export const languages = ["en", "de", "fr", "nl", "es", "it", "ar"] as const;
/** Language is a language of the page. */
export type Language = (typeof languages)[number];

/** Settings are the settings in effect: choices and defaults. */
export interface Settings {
  units: Units;
  /** auto follows the sun. */
  theme: ThemeChoice;
  language: Language;
  /** Size of text and buttons, 0 to 10. */
  density: number;
  /** Whether sounds are played. */
  tones: boolean;
  /** Factor on the distance at which alerts are announced, 0.5 to 2. */
  lead: number;
  /** Ids of hidden sources. */
  sources_off: readonly string[];
  /** Ids of hidden kinds; their subtypes are hidden too. */
  kinds_off: readonly string[];
  /** Ids of kinds that are announced without a sound; their subtypes are silent too. tones is for all kinds. */
  kinds_muted: readonly string[];
  /** Charger networks that are shown; null for those of the tier. */
  networks: readonly string[] | null;
}

/**
 * Choices are the settings that the driver chose, in the form of GET and PUT /v2/account/preferences, except for kinds_muted, which
 * only the browser stores. A missing member follows the browser and the defaults.
 */
export type Choices = Partial<Omit<Settings, "networks">> & { networks?: readonly string[] };

/** StoredChoices are choices as the browser stores them. */
export interface StoredChoices {
  choices: Choices;
  /** When the driver last chose, in milliseconds since 1970; 0 if never. */
  updated: number;
  /** The account does not have these choices yet. */
  unsent: boolean;
}

/** noStoredChoices is the state of a browser without stored choices. */
export const noStoredChoices: StoredChoices = { choices: {}, updated: 0, unsent: false };

/** The service's limits (internal/people/account). */
export const limits = { density: [0, 10], lead: [0.5, 2], sourcesOff: 200, kindsOff: 18, networks: 50, networkBytes: 64 } as const;

/** Regions whose roads are measured in miles. */
const mileRegions: readonly string[] = ["US", "GB", "LR", "MM"];

/** defaultSettings returns the defaults for a browser's languages (navigator.languages), the preferred one first. */
export function defaultSettings(browserLanguages: readonly string[]): Settings {
  const parts = browserLanguages.map((tag) => tag.split("-"));
  const known = parts.map(([language = ""]) => language.toLowerCase()).find(isLanguage);
  const region = parts[0]?.slice(1).find((part) => part.length === 2)?.toUpperCase() ?? "";
  return {
    units: mileRegions.includes(region) ? "imperial" : "metric",
    theme: "auto",
    language: known ?? "en",
    density: 5,
    tones: true,
    lead: 1,
    sources_off: [],
    kinds_off: [],
    kinds_muted: [],
    networks: null,
  };
}

/** effectiveSettings returns the choices with defaults for the rest. */
export function effectiveSettings(choices: Choices, browserLanguages: readonly string[]): Settings {
  return { ...defaultSettings(browserLanguages), ...choices };
}

const isLanguage = (value: unknown): value is Language => languages.some((language) => language === value);

const isWithin = (value: unknown, [low, high]: readonly [number, number]): value is number =>
  typeof value === "number" && value >= low && value <= high;

/** parseList returns the distinct valid texts of a list; null if the value is not a list. */
function parseList(value: unknown, maxItems: number, isValid: (text: string) => boolean): string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.filter((one): one is string => typeof one === "string" && isValid(one));
  return [...new Set(texts)].slice(0, maxItems);
}

const isSource = (id: string): boolean => /^(incidents|feed:[\da-f-]{36})$/.test(id);
const isKind = (id: string): boolean => /^[a-z]+(\.[a-z_]+)+$/.test(id) && id.length <= 64;
const isNetwork = (id: string): boolean =>
  // Networks are separated by commas in queries.
  id !== "" && !/[,\p{C}\p{Zl}\p{Zp}]/u.test(id) && new TextEncoder().encode(id).length <= limits.networkBytes;

/** parseChoices parses choices from the browser or the account. Invalid members count as not chosen; it never throws. */
export function parseChoices(stored: unknown): Choices {
  if (typeof stored !== "object" || stored === null) return {};
  const { units, theme, language, density, tones, lead, sources_off, kinds_off, kinds_muted, networks } = stored as Record<keyof Settings, unknown>;
  const sourcesOff = parseList(sources_off, limits.sourcesOff, isSource);
  const kindsOff = parseList(kinds_off, limits.kindsOff, isKind);
  const kindsMuted = parseList(kinds_muted, limits.kindsOff, isKind);
  const chosen = parseList(networks, limits.networks, isNetwork);
  return {
    ...((units === "metric" || units === "imperial") && { units }),
    ...((theme === "day" || theme === "night" || theme === "auto") && { theme }),
    ...(isLanguage(language) && { language }),
    ...(isWithin(density, limits.density) && { density }),
    ...(typeof tones === "boolean" && { tones }),
    ...(isWithin(lead, limits.lead) && { lead }),
    ...(sourcesOff && { sources_off: sourcesOff }),
    ...(kindsOff && { kinds_off: kindsOff }),
    ...(kindsMuted && { kinds_muted: kindsMuted }),
    ...(chosen && { networks: chosen }),
  };
}

/** parseStoredChoices parses the browser's stored text; null if there is none. */
export function parseStoredChoices(text: string | null): StoredChoices {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "null");
  } catch {
    return noStoredChoices; // written by another script, or truncated
  }
  if (typeof stored !== "object" || stored === null) return noStoredChoices;
  const { choices, updated, unsent } = stored as Record<keyof StoredChoices, unknown>;
  return { choices: parseChoices(choices), updated: typeof updated === "number" && updated > 0 ? updated : 0, unsent: unsent === true };
}

/** serializeChoices returns the text that parseStoredChoices parses. */
export function serializeChoices(stored: StoredChoices): string {
  return JSON.stringify(stored);
}

/** withChoice adds a choice, with a later time than all before even if the car's clock was set back. signedIn: the account needs it too. */
export function withChoice(stored: StoredChoices, choice: Choices, wallTime: number, signedIn: boolean): StoredChoices {
  return { choices: { ...stored.choices, ...parseChoices(choice) }, updated: Math.max(wallTime, stored.updated + 1), unsent: stored.unsent || signedIn };
}

/** withoutChoices removes choices, so that the browser and the defaults apply again. */
export function withoutChoices(stored: StoredChoices, members: readonly (keyof Settings)[], wallTime: number, signedIn: boolean): StoredChoices {
  const rest = Object.entries(stored.choices).filter(([member]) => !members.some((one) => one === member));
  return withChoice({ ...stored, choices: Object.fromEntries(rest) }, {}, wallTime, signedIn);
}

/** accountChoices returns the choices that the account stores. */
export function accountChoices(choices: Choices): Choices {
  const sent = { ...choices };
  delete sent.kinds_muted;
  return sent;
}

/** AccountChoices is the account's copy. */
export interface AccountChoices {
  choices: Choices;
  /** In milliseconds since 1970; null if the service does not tell. */
  updated: number | null;
}

/**
 * mergeChoices decides between the browser's copy and the account's: the newest wins as a whole. If the account's copy has no time, it
 * wins unless the driver chose something while signed in that never reached it, since a guest's choices in this car say less about the
 * driver than the account does. An account without choices takes the browser's.
 */
export function mergeChoices(stored: StoredChoices, { choices, updated }: AccountChoices): StoredChoices {
  const ours = { ...stored, unsent: true };
  const { kinds_muted } = stored.choices;
  const theirs = { choices: { ...choices, ...(kinds_muted && { kinds_muted }) }, unsent: false };
  if (updated !== null) return stored.updated > updated ? ours : { ...theirs, updated };
  if (stored.unsent) return stored;
  if (Object.keys(choices).length > 0) return { ...theirs, updated: stored.updated };
  return Object.keys(accountChoices(stored.choices)).length > 0 ? ours : stored;
}

/** markSent records that the account has the choices; choices made meanwhile remain unsent. */
export function markSent(stored: StoredChoices, updated: number): StoredChoices {
  return stored.updated === updated ? { ...stored, unsent: false } : stored;
}

/** isKindHidden reports whether a kind or one of its parents is hidden. */
export function isKindHidden(kind: string, kindsOff: readonly string[]): boolean {
  return kindsOff.some((off) => kind === off || kind.startsWith(`${off}.`));
}
