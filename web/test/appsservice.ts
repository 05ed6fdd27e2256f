// A service with apps, a server of apps, and those who submit and approve them.

import type { Config } from "../overlay/src/apps/api.ts";
import { startAppServer, type AppServer } from "./appserver.ts";
import { keepOpen, type Car, type CarOptions } from "./harness.ts";
import { openTestConsole } from "./testconsole.ts";

export interface AppsService {
  address: string;
  server: AppServer;
  developer: Car;
  curator: Car;
  /** propose submits another version of an app, which waits. */
  propose(name: string, more: Record<string, unknown>, path: string): Promise<number>;
  idOf(name: string): string;
  /** submit submits an app at the path of its name, and approves it. */
  submit(name: string, more?: Record<string, unknown>): Promise<void>;
  /** resubmit has a new version at another path approved. */
  resubmit(name: string, more: Record<string, unknown>, path: string): Promise<void>;
  suspend(name: string): Promise<void>;
  install(car: Car, name: string, config: Config): Promise<void>;
  signIn(email: string, options?: CarOptions): Promise<Car>;
  visit: (path: string, options?: CarOptions) => Promise<Car>;
  end(): Promise<void>;
}

/** ask sends a request as the account that is signed in in a car's browser, and returns the answer. */
async function ask<T>({ context, service }: Car, method: string, path: string, data?: unknown): Promise<T> {
  const answer = await context.request.fetch(service + path, { method, ...(data !== undefined && { data }) });
  const text = await answer.text();
  if (!answer.ok()) throw new Error(`${method} ${path}: ${String(answer.status())} ${text}`);
  return (text === "" ? null : JSON.parse(text)) as T;
}

/** installed reads what a car's account installed. */
export const installed = async (car: Car): Promise<{ app: { name: string }; config: Config }[]> => (await ask<{ apps: { app: { name: string }; config: Config }[] }>(car, "GET", "/v2/account/apps")).apps;

export async function openAppsService(): Promise<AppsService> {
  const server = await startAppServer();
  const service = await openTestConsole({ more: `[apps]\nenabled = true\ndev_origins = ${JSON.stringify([server.origin, server.other])}` });
  const ids = new Map<string, string>();
  const idOf = (name: string): string => ids.get(name) ?? "";
  const signIn: AppsService["signIn"] = async (email, options) => keepOpen(await service.signInAs(email, options));
  const [developer, curator] = [await signIn("developer@example.org"), keepOpen(await service.signInAs("curator@example.org", { role: "curator" }))];
  const fields = (name: string, path: string, more: Record<string, unknown>): Record<string, unknown> => ({
    name,
    summary: `Shows ${name}`,
    description: `What ${name} does.`,
    kinds: ["widget"],
    widget_url: server.origin + path,
    website_url: "https://example.org/",
    domains: ["api.example.org"],
    cost: { model: "free" },
    ...more,
  });
  const propose: AppsService["propose"] = async (name, more, path) => {
    const { version } = await ask<{ version: { number: number } }>(developer, "POST", `/v2/apps/${idOf(name)}/versions`, fields(name, path, more));
    return version.number;
  };
  return {
    address: service.address,
    server,
    developer,
    curator,
    idOf,
    propose,
    async submit(name, more = {}) {
      const { app } = await ask<{ app: { id: string } }>(developer, "POST", "/v2/apps", fields(name, `/${name.toLowerCase()}`, more));
      await ask(curator, "POST", `/v2/apps/${app.id}/versions/1/approve`);
      ids.set(name, app.id);
    },
    async resubmit(name, more, path) {
      const number = await propose(name, more, path);
      await ask(curator, "POST", `/v2/apps/${idOf(name)}/versions/${String(number)}/approve`);
    },
    suspend: (name) => ask(curator, "POST", `/v2/apps/${idOf(name)}/suspend`, { note: "It broke." }),
    install: (car, name, config) => ask(car, "PUT", `/v2/account/apps/${idOf(name)}`, { config }),
    signIn,
    visit: (path, options) => service.visit(path, options),
    async end() {
      await Promise.all([developer, curator].map(({ context }) => context.close()));
      await service.end();
      server.close();
    },
  };
}
