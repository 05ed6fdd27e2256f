// The texts of the map, which the page embeds in its language.

/** Words returns the text of a key with {0} and {1} filled, or the key itself if the page has no such text. */
export type Words = (key: string, ...values: readonly (string | number)[]) => string;

/** wordsOf parses the JSON that the page embeds. */
export function wordsOf(json: string | undefined): Words {
  const texts = new Map(Object.entries(JSON.parse(json ?? "{}") as Record<string, string>));
  return (key, ...values) => (texts.get(key) ?? key).replace(/\{(\d)\}/g, (slot, at: string) => String(values[Number(at)] ?? slot));
}
