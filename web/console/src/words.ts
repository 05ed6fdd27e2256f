// What the map says, in the page's language: the page brings it along.

/** Words gives a text by its key, {0} and {1} filled. A key that the page does not know speaks for itself. */
export type Words = (key: string, ...values: readonly (string | number)[]) => string;

/** wordsOf reads the JSON that the page brings. */
export function wordsOf(json: string | undefined): Words {
  const texts = new Map(Object.entries(JSON.parse(json ?? "{}") as Record<string, string>));
  return (key, ...values) => (texts.get(key) ?? key).replace(/\{(\d)\}/g, (slot, at: string) => String(values[Number(at)] ?? slot));
}
