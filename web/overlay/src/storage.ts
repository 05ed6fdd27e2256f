// What the browser keeps for the page. Some browsers throw where storage is forbidden; then nothing was kept, and what is
// chosen holds until the page is closed.

/** readStored reads a text; null: nothing was kept. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** store keeps a text; null takes it away. */
export function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    return;
  }
}
