// Watches several observables.

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
