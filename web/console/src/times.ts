// Times in the visitor's own zone. A time that is focused or touched shows UTC, for its whole table, as pages without scripts do.

/** localTime formats a time in a zone; undefined: the browser's. */
export function localTime(at: number, language: string, timeZone?: string): string {
  const format: Intl.DateTimeFormatOptions = { day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" };
  return new Intl.DateTimeFormat(language, timeZone === undefined ? format : { ...format, timeZone }).format(at);
}

/** localizeTimes converts the times of a part of the page. Days without a time of day stay as they are. */
export function localizeTimes(part: ParentNode, language = document.documentElement.lang): void {
  const withTabStop = new Set<Element>(); // tables that can be reached by keyboard: by their first time
  for (const time of part.querySelectorAll("time")) {
    const at = Date.parse(time.dateTime);
    if (!time.dateTime.includes("T") || Number.isNaN(at) || time.dataset["utc"] !== undefined) continue;
    const table = time.closest("table");
    time.dataset["utc"] = time.textContent;
    time.dataset["local"] = localTime(at, language);
    time.title = time.textContent;
    time.textContent = time.dataset["local"];
    time.tabIndex = table !== null && withTabStop.has(table) ? -1 : 0;
    if (table !== null) withTabStop.add(table);
  }
}

/** watchTimes shows UTC while a time is focused, which a touch does too. */
export function watchTimes(): void {
  const show = (which: "utc" | "local") => (event: FocusEvent) => {
    const time = event.target;
    if (!(time instanceof HTMLTimeElement)) return;
    const group = time.closest("table")?.querySelectorAll("time") ?? [time];
    for (const one of group) one.textContent = one.dataset[which] ?? one.textContent;
  };
  document.addEventListener("focusin", show("utc"));
  document.addEventListener("focusout", show("local"));
}
