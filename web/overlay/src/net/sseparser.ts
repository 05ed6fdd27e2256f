// An incremental parser of server-sent events (pure).

/** StreamEvent is one event. */
export interface StreamEvent {
  type: string;
  data: string;
}

/** ParserState is the state between two chunks. Start with `initialParser`. */
export interface ParserState {
  /** A line that is not complete yet. */
  partialLine: string;
  /** The last chunk ended with a carriage return: a line feed at the start of the next one belongs to it. */
  afterReturn: boolean;
  type: string;
  data: readonly string[];
  /** The last event id; "" if there was none. */
  id: string;
}

/** initialParser is the state before the first chunk. */
export const initialParser: ParserState = { partialLine: "", afterReturn: false, type: "", data: [], id: "" };

/** parseChunk parses a chunk of text and returns the events that it completes. */
export function parseChunk(before: ParserState, chunk: string): { parser: ParserState; events: StreamEvent[] } {
  const text = before.afterReturn && chunk.startsWith("\n") ? chunk.slice(1) : chunk;
  const lines = (before.partialLine + text).split(/\r\n|\r|\n/);
  const partialLine = lines.pop() ?? "";
  const events: StreamEvent[] = [];
  let { type, data, id } = before;
  for (const line of lines) {
    if (line === "") {
      if (data.length > 0) events.push({ type: type || "message", data: data.join("\n") });
      type = "";
      data = [];
      continue;
    }
    const { name, value } = parseField(line);
    if (name === "event") type = value;
    else if (name === "data") data = [...data, value];
    else if (name === "id" && !value.includes("\0")) id = value;
  }
  const afterReturn = chunk === "" ? before.afterReturn : chunk.endsWith("\r");
  return { parser: { partialLine, afterReturn, type, data, id }, events };
}

/** parseField splits a line; a comment has no name. */
function parseField(line: string): { name: string; value: string } {
  const colon = line.indexOf(":");
  if (colon < 0) return { name: line, value: "" };
  return { name: line.slice(0, colon), value: line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1) };
}
