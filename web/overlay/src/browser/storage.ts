// Access to the browser's local storage. Some browsers throw where storage is forbidden; then nothing is stored, and choices last
// until the page is closed.

/** readStored returns a stored text; null if there is none. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** store stores a text; null removes it. */
export function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    return;
  }
}
