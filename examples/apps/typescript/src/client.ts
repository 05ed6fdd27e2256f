// The client of an app: what the page that shows it sends, in types, and nothing else. It has no dependency; copy it, or publish it.

/** Context is what the page sends. A later version may add members. */
export interface Context<Config extends object = Record<string, string | number | boolean>> {
  type: "context";
  theme: "day" | "night";
  units: "metric" | "imperial";
  /** The density that the driver prefers, a whole number from 0 to 10. Lay out by size. */
  uiSize: number;
  slot: "widget" | "notifications";
  /** Of the slot, in CSS pixels. */
  size: { width: number; height: number };
  device: { kind: "car" | "phone" | "desktop"; input: "touch" | "pointer" };
  /** What the driver set, by the keys of config_schema. A blank optional field is missing: declare it with a question mark. */
  config: Config;
}

/** Frame is the part of a window that the client uses. */
export interface Frame {
  readonly parent: { postMessage(message: unknown, target: string): void };
  addEventListener(type: "message", listener: (event: { source: unknown; data: unknown }) => void): void;
  removeEventListener(type: "message", listener: (event: { source: unknown; data: unknown }) => void): void;
}

function isContext(data: unknown): data is Context {
  if (typeof data !== "object" || data === null) return false;
  const { type, config } = data as Partial<Context>;
  return type === "context" && typeof config === "object";
}

/**
 * connect calls show with each context, and asks for the first one. Contexts come again and again: with each change of theme, units,
 * density, config or size, and also equal to the last one. The function that it returns ends that.
 */
export function connect<Config extends object>(show: (context: Context<Config>) => void, frame: Frame = window): () => void {
  const listen = ({ source, data }: { source: unknown; data: unknown }): void => {
    if (source === frame.parent && isContext(data)) show(data as unknown as Context<Config>);
  };
  frame.addEventListener("message", listen);
  // Any page may show an app, and this message tells nothing: it needs no target.
  if ((frame.parent as unknown) !== frame) frame.parent.postMessage({ type: "ready" }, "*");
  return () => {
    frame.removeEventListener("message", listen);
  };
}

/** fontSize is the base size of type for a density, in CSS pixels, by convention. */
export const fontSize = (uiSize: number): number => 10.5 + uiSize * 0.6;
