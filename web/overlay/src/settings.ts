// What a driver chose, what holds where nothing was chosen, and which copy counts (pure).

export type Units = "metric" | "imperial";
export type ThemeChoice = "day" | "night" | "auto";
export const languages = ["en", "de", "fr", "nl", "es", "it"] as const;
export type Language = (typeof languages)[number];

/** Settings is what holds: every choice, or what counts instead. */
export interface Settings {
  units: Units;
  /** auto: by the sun. */
  theme: ThemeChoice;
  language: Language;
  /** Of text and buttons, 0 to 10; more is larger. */
  density: number;
  /** Whether something is to be heard. */
  tones: boolean;
  /** Factor on the distance at which is warned, 0.5 to 2. */
  lead: number;
  /** Ids of sources that are not shown. */
  sources_off: readonly string[];
  /** Ids of kinds that are not shown, each with its subtypes. */
  kinds_off: readonly string[];
  /** Charger networks that are shown; null: those of the tier. */
  networks: readonly string[] | null;
}

/**
 * Choices is what the driver chose, as GET and PUT /v2/account/preferences have it. What is missing was not chosen, and follows
 * the browser and the defaults.
 */
export type Choices = Partial<Omit<Settings, "networks">> & { networks?: readonly string[] };

/** StoredChoices is what the browser stores. */
export interface StoredChoices {
  choices: Choices;
  /** When the driver last chose, in milliseconds since 1970; 0: never. */
  updated: number;
  /** The account does not have these choices yet. */
  unsent: boolean;
}

export const noStoredChoices: StoredChoices = { choices: {}, updated: 0, unsent: false };

/** The service's bounds (internal/account). */
export const limits = { density: [0, 10], lead: [0.5, 2], sourcesOff: 200, kindsOff: 18, networks: 50, networkBytes: 64 } as const;

/** Drivers from here measure roads in miles. */
const mileRegions: readonly string[] = ["US", "GB", "LR", "MM"];

/** defaultSettings is what holds for a browser with these languages (navigator.languages), the preferred first. */
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
    networks: null,
  };
}

/** effectiveSettings is what holds. */
export function effectiveSettings(choices: Choices, browserLanguages: readonly string[]): Settings {
  return { ...defaultSettings(browserLanguages), ...choices };
}

const isLanguage = (value: unknown): value is Language => languages.some((language) => language === value);

const isWithin = (value: unknown, [low, high]: readonly [number, number]): value is number =>
  typeof value === "number" && value >= low && value <= high;

/** parseList reads a list of different texts; whatever is none of them is left out. null: it is no list. */
function parseList(value: unknown, maxItems: number, isValid: (text: string) => boolean): string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.filter((one): one is string => typeof one === "string" && isValid(one));
  return [...new Set(texts)].slice(0, maxItems);
}

const isSource = (id: string): boolean => /^(incidents|feed:[\da-f-]{36})$/.test(id);
const isKind = (id: string): boolean => /^[a-z]+(\.[a-z_]+)+$/.test(id) && id.length <= 64;
const isNetwork = (id: string): boolean =>
  // A comma would make two of it where networks are read from a query.
  id !== "" && !/[,\p{C}\p{Zl}\p{Zp}]/u.test(id) && new TextEncoder().encode(id).length <= limits.networkBytes;

/** parseChoices reads what a browser or the account kept. What makes no sense counts as not chosen; nothing fails. */
export function parseChoices(stored: unknown): Choices {
  if (typeof stored !== "object" || stored === null) return {};
  const { units, theme, language, density, tones, lead, sources_off, kinds_off, networks } = stored as Record<keyof Settings, unknown>;
  const sourcesOff = parseList(sources_off, limits.sourcesOff, isSource);
  const kindsOff = parseList(kinds_off, limits.kindsOff, isKind);
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
    ...(chosen && { networks: chosen }),
  };
}

/** parseStoredChoices reads what the browser stored as text; null: nothing. */
export function parseStoredChoices(text: string | null): StoredChoices {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "null");
  } catch {
    return noStoredChoices; // what somebody else wrote there, or half of it
  }
  if (typeof stored !== "object" || stored === null) return noStoredChoices;
  const { choices, updated, unsent } = stored as Record<keyof StoredChoices, unknown>;
  return { choices: parseChoices(choices), updated: typeof updated === "number" && updated > 0 ? updated : 0, unsent: unsent === true };
}

/** serializeChoices is the text that readKept reads. */
export function serializeChoices(stored: StoredChoices): string {
  return JSON.stringify(stored);
}

/** withChoice adds a choice. It is newer than all before, also when the car's clock was set back. signedIn: the account shall have it. */
export function withChoice(stored: StoredChoices, choice: Choices, wallTime: number, signedIn: boolean): StoredChoices {
  return { choices: { ...stored.choices, ...parseChoices(choice) }, updated: Math.max(wallTime, stored.updated + 1), unsent: stored.unsent || signedIn };
}

/** withoutChoices takes choices back, so that the browser and the defaults count again. */
export function withoutChoices(stored: StoredChoices, members: readonly (keyof Settings)[], wallTime: number, signedIn: boolean): StoredChoices {
  const rest = Object.entries(stored.choices).filter(([member]) => !members.some((one) => one === member));
  return withChoice({ ...stored, choices: Object.fromEntries(rest) }, {}, wallTime, signedIn);
}

/** AccountChoices is the account's copy. */
export interface AccountChoices {
  choices: Choices;
  /** In milliseconds since 1970; null: the service does not say. */
  updated: number | null;
}

/**
 * merge decides between the browser's copy and the account's: the newest wins as a whole. Where the account does not say when,
 * its copy wins unless the driver chose something while signed in that never reached it; what a guest chose in this car says
 * less of a driver than their account. An account that has chosen nothing takes the browser's.
 */
export function mergeChoices(stored: StoredChoices, { choices, updated }: AccountChoices): StoredChoices {
  const ours = { ...stored, unsent: true };
  if (updated !== null) return stored.updated > updated ? ours : { choices, updated, unsent: false };
  if (stored.unsent) return stored;
  if (Object.keys(choices).length > 0) return { choices, updated: stored.updated, unsent: false };
  return Object.keys(stored.choices).length > 0 ? ours : stored;
}

/** markSent is after the account has taken the choices; what was chosen meanwhile stays unsent. */
export function markSent(stored: StoredChoices, updated: number): StoredChoices {
  return stored.updated === updated ? { ...stored, unsent: false } : stored;
}

/** isKindHidden says whether a kind is hidden, by itself or by what it is a subtype of. */
export function isKindHidden(kind: string, kindsOff: readonly string[]): boolean {
  return kindsOff.some((off) => kind === off || kind.startsWith(`${off}.`));
}
