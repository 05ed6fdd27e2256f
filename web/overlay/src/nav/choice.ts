// The choice of the way.

import { routeOptionsOf } from "./drive.ts";
import type { NavDeps } from "./navigation.ts";
import { troubleOf } from "./trouble.ts";

/** Choice offers ways. */
export interface Choice {
  /** offer finds ways over nav.stops and lets the driver choose. */
  offer(): void;
}

/** mountChoice takes the best way. */
export function mountChoice({ host, nav, api, actions }: NavDeps): Choice {
  return {
    offer() {
      const stops = nav.stops.get();
      const stop = host.state.fix.watch((fix) => {
        if (fix === null || nav.stops.get() !== stops) return;
        setTimeout(() => {
          stop();
        });
        api.routes([fix, ...stops.map(({ place }) => place)], routeOptionsOf(host, nav)).then(
          ({ routes }) => {
            if (nav.stops.get() !== stops) return;
            nav.routes.set(routes);
            actions.start(0);
          },
          (error: unknown) => {
            nav.trouble.set(troubleOf(error));
          },
        );
      });
    },
  };
}
