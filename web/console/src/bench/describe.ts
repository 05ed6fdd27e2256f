/** describe returns a message as JSON of at most the given number of characters. Long strings are cut before they are written: apps may post megabytes. */
export function describe(message: unknown, longest = 80): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(message, (_, value: unknown) => (typeof value === "string" ? value.slice(0, longest) : value));
  } catch {
    // cyclic, or with numbers that JSON has not
  }
  text ??= String(message);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
