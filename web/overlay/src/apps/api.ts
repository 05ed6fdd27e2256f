// Requests about apps, and the types of their answers (D16.12).

import { HTTPError, getJSON } from "../net/api.ts";
import type { ConfigValue } from "./host.ts";

/** Field is a field of an app's config. */
export interface Field {
  key: string;
  label: string;
  type: "text" | "number" | "boolean" | "select" | "url";
  required?: boolean;
  default?: ConfigValue;
  help?: string;
  secret?: boolean;
  options?: string[];
  min?: number;
  max?: number;
  step?: number;
  max_length?: number;
}

/** Config holds the values of an app's fields by their keys. */
export type Config = Readonly<Record<string, ConfigValue>>;

/** App is an app of the catalogue. */
export interface App {
  id: string;
  name: string;
  summary: string;
  description: string;
  kinds: string[];
  icon_url: string | null;
  domains: string[];
  config_schema: Field[];
  cost: { model: string; note?: string };
  /** Ids of the sources that it adds to the map. */
  sources: string[];
  developer: string;
  version: number;
  /** For longer than a week its page has been another one than was reviewed. */
  changed_since_review?: boolean;
}

/** Installed is an app that the account installed. Secrets are masked. */
export interface Installed {
  app: App;
  config: Config;
  hidden: boolean;
}

/** MountData is the data for mounting a frame; its config has secrets in full. */
export interface MountData {
  src: string;
  origin: string;
  config: Config;
}

/** FieldError is an error of the service about a field. */
export interface FieldError {
  field: string;
  code: string;
}

/** RefusedError is an answer of 422, with the errors of fields. */
export class RefusedError extends Error {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    super("the service refused the config");
    this.errors = errors;
  }
}

async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const content = body !== undefined && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { method, cache: "no-store", ...content });
  if (response.status === 422) throw new RefusedError(((await response.json()) as { errors?: FieldError[] }).errors ?? []);
  if (!response.ok) throw new HTTPError(response);
  return response;
}

const installedPath = (id: string): string => `/v2/account/apps/${encodeURIComponent(id)}`;

/** getInstalled reads the apps that the account installed. */
export const getInstalled = async (): Promise<Installed[]> => (await getJSON<{ apps: Installed[] }>("/v2/account/apps", { cache: "no-store" })).apps;

/** getCatalogue bypasses the browser's cache, which may keep the catalogue for a minute. */
export const getCatalogue = async (): Promise<App[]> => (await getJSON<{ apps: App[] }>("/v2/apps", { cache: "no-cache" })).apps;

/** putInstalled installs an app, configures it, or shows or hides it. */
export async function putInstalled(id: string, change: { config?: Config; hidden?: boolean }): Promise<void> {
  await send("PUT", installedPath(id), change);
}

/** deleteInstalled uninstalls an app. */
export async function deleteInstalled(id: string): Promise<void> {
  await send("DELETE", installedPath(id));
}

/** postFrame reads the data for mounting a frame. */
export const postFrame = async (id: string): Promise<MountData> => (await (await send("POST", `${installedPath(id)}/frame`)).json()) as MountData;
