// A value that others are told of when it changes: all the machinery that the page's state needs.

/** Observable holds a value. Whoever watches is called at once with what there is, and again after each change. */
export class Observable<T> {
  readonly #watchers = new Set<(value: T) => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  get(): T {
    return this.#value;
  }

  /** set tells everybody, unless nothing has changed. */
  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher(value);
  }

  /** watch returns what ends it. */
  watch(watcher: (value: T) => void): () => void {
    this.#watchers.add(watcher);
    watcher(this.#value);
    return () => this.#watchers.delete(watcher);
  }
}
