// Speech recognition on the device alone: browsers that send speech to others are not used.

/** Recognition is the part of SpeechRecognition that is used. */
export interface Recognition {
  lang: string;
  processLocally: boolean;
  onresult: ((event: { results: ArrayLike<ArrayLike<{ transcript: string }>> }) => void) | null;
  onend: (() => void) | null;
  onerror: (() => void) | null;
  start(): void;
  abort(): void;
}

/** RecognitionClass is SpeechRecognition of browsers that may recognise on the device; older ones lack available(). */
interface RecognitionClass {
  new (): Recognition;
  available?(options: { langs: readonly string[]; processLocally: boolean }): Promise<string>;
}

/** localRecognition returns a factory of recognitions on the device for a language; null: there is none, or the language is not installed. */
export async function localRecognition(language: string, made: unknown): Promise<(() => Recognition) | null> {
  if (typeof made !== "function") return null;
  const recogniser = made as unknown as RecognitionClass;
  if (recogniser.available === undefined || !("processLocally" in (made.prototype as object))) return null;
  try {
    if ((await recogniser.available({ langs: [language], processLocally: true })) !== "available") return null;
  } catch {
    return null;
  }
  return () => {
    const one = new recogniser();
    one.lang = language;
    one.processLocally = true;
    return one;
  };
}

/** listen calls onText once with the recognised text, and onEnd in any case. The returned function stops it. */
export function listen(make: () => Recognition, onText: (text: string) => void, onEnd: () => void): () => void {
  const one = make();
  one.onresult = ({ results }) => {
    const text = results[0]?.[0]?.transcript.trim() ?? "";
    if (text !== "") onText(text);
  };
  one.onend = one.onerror = () => {
    one.onend = one.onerror = null;
    onEnd();
  };
  try {
    one.start();
  } catch {
    onEnd();
  }
  return () => {
    one.abort();
  };
}
