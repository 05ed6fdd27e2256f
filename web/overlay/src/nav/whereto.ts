// Where to: the search for a destination.

import type { NavDeps } from "./navigation.ts";

export interface WhereTo {
  /** open asks where to. */
  open(): void;
}

/** mountWhereTo shows nothing yet. */
export function mountWhereTo({ nav }: NavDeps): WhereTo {
  return {
    open() {
      nav.trouble.set(null);
    },
  };
}
