// An observable value, from which the page's state is built.

/** Observable holds a value. A watcher is called immediately with the current value and after each change. */
export class Observable<T> {
  readonly #watchers = new Set<(value: T) => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  get(): T {
    return this.#value;
  }

  /** set notifies the watchers if the value has changed. */
  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher(value);
  }

  /** watch returns a function that removes the watcher. */
  watch(watcher: (value: T) => void): () => void {
    this.#watchers.add(watcher);
    watcher(this.#value);
    return () => this.#watchers.delete(watcher);
  }
}

interface Watchable {
  watch(watcher: () => void): () => void;
}

/** watchAll calls watcher once, and after each change of one of them. */
export function watchAll(observables: readonly Watchable[], watcher: () => void): void {
  let isReady = false;
  for (const observable of observables) {
    observable.watch(() => {
      if (isReady) watcher();
    });
  }
  isReady = true;
  watcher();
}
