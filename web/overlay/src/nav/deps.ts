// The dependencies of the parts of navigation: types alone, so that no part imports the module that mounts it.

import type { Map as MapLibre } from "maplibre-gl";
import type { AlertSounds } from "../alerts/alertsounds.ts";
import type { Preferences } from "../state/account.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Observable } from "../browser/observable.ts";
import type { RequestBudget } from "../net/requestbudget.ts";
import type { Actions, State } from "../state/state.ts";
import type { NavigationAPI } from "./api.ts";
import type { PlaceKeeper } from "./placekeeper.ts";
import type { NavState } from "./state.ts";
import type { Stop } from "./types.ts";

/** Places for panels of navigation among the page's. */
export interface Slots {
  /** Above the banner of alerts. */
  head: HTMLElement;
  /** Above the page's notices, at the bottom. */
  foot: HTMLElement;
  /** In place of the list. */
  side: HTMLElement;
  /** Beside the speed. */
  all: HTMLElement;
}

/** NavigationHost gives navigation access to the page that it is loaded into. */
export interface NavigationHost {
  state: State;
  actions: Actions;
  locale: Observable<Locale>;
  preferences: Preferences;
  sounds: AlertSounds;
  /** Of reads: routes have their own. */
  budget: RequestBudget;
  /** Set when the map is open; null where there is none. */
  map: Observable<MapLibre | null>;
  slots: Slots;
  /** Whether the list of nearby entities is shown beside the map. */
  listOpen: Observable<boolean>;
  /** The clock by which the car moves, in milliseconds: the demo's drive may run faster than real time. */
  clock: () => number;
}

/** NavActions are the commands of navigation. */
export interface NavActions {
  /** openSearch asks where to. */
  openSearch(): void;
  /** choose offers the ways over these stops; the last one is the destination. */
  choose(stops: readonly Stop[]): void;
  /** lead leads over these stops without asking for the way. */
  lead(stops: readonly Stop[]): void;
  /** start leads along one of nav.routes. */
  start(route: number): void;
  /** changeStops leads over other stops from where the car is, without asking for the way. */
  changeStops(stops: readonly Stop[]): void;
  /** decline keeps the present route instead of the one that is offered. */
  decline(): void;
  /** accept takes the better way that is offered. */
  accept(): void;
  /** resume goes on with the drive that is kept in the browser, or asks whether to. */
  resume(): void;
  /** answer continues the drive of nav.asking, or forgets it. */
  answer(goesOn: boolean): void;
  /** end ends the drive, or the choice, and shows the page as it was before. */
  end(): void;
}

/** NavDeps are the dependencies of each part of navigation. */
export interface NavDeps {
  host: NavigationHost;
  nav: NavState;
  api: NavigationAPI;
  actions: NavActions;
}

/** Navigation is the interface of navigation for the page. */
export type Navigation = NavActions & {
  nav: NavState;
};

/** ChoiceDeps are the dependencies of the choice of a route. */
export interface ChoiceDeps extends NavDeps {
  keeper: PlaceKeeper;
  /** addStop asks for a place on the way. */
  addStop: () => void;
}
