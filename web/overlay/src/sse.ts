// Reads what a stream of server-sent events sends, piece by piece (pure).

/** StreamEvent is one event. */
export interface StreamEvent {
  type: string;
  data: string;
}

/** Reading is what is left over between two pieces. Begin with `nothingRead`. */
export interface Reading {
  /** A line that has not ended yet. */
  rest: string;
  /** The piece before ended with a carriage return: a line feed that comes next belongs to it. */
  afterReturn: boolean;
  type: string;
  data: readonly string[];
  /** The last id that came with an event or by itself; "": none. */
  id: string;
}

export const nothingRead: Reading = { rest: "", afterReturn: false, type: "", data: [], id: "" };

/** feed takes a piece of text and gives the events that it completes. */
export function feed(before: Reading, piece: string): { reading: Reading; events: StreamEvent[] } {
  const text = before.afterReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
  const lines = (before.rest + text).split(/\r\n|\r|\n/);
  const rest = lines.pop() ?? "";
  const events: StreamEvent[] = [];
  let { type, data, id } = before;
  for (const line of lines) {
    if (line === "") {
      if (data.length > 0) events.push({ type: type || "message", data: data.join("\n") });
      type = "";
      data = [];
      continue;
    }
    const { name, value } = field(line);
    if (name === "event") type = value;
    else if (name === "data") data = [...data, value];
    else if (name === "id" && !value.includes("\0")) id = value;
  }
  const afterReturn = piece === "" ? before.afterReturn : piece.endsWith("\r");
  return { reading: { rest, afterReturn, type, data, id }, events };
}

/** field takes a line apart; a comment has no name. */
function field(line: string): { name: string; value: string } {
  const colon = line.indexOf(":");
  if (colon < 0) return { name: line, value: "" };
  return { name: line.slice(0, colon), value: line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1) };
}
