// Passkeys in elements with data-passkey: a button "sign-in", "add" or "confirm", or a form "confirm" that is submitted after a
// passkey was used (internal/http/console/pages/parts/passkeys.html). Without this script the buttons stay hidden.

import { answerOf, creationOptions, requestOptions, type Json } from "./webauthn.ts";

/** HTTPError is a response with an error status. */
class HTTPError extends Error {
  constructor(readonly status: number) {
    super(`the service answered ${String(status)}`);
  }
}

async function post(address: string, body?: Json): Promise<Json> {
  const init: RequestInit = { method: "POST" };
  if (body) Object.assign(init, { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const answer = await fetch(address, init);
  if (!answer.ok) throw new HTTPError(answer.status);
  return answer.status === 204 ? {} : ((await answer.json()) as Json);
}

async function use(begin: string, finish: string): Promise<void> {
  const credential = await navigator.credentials.get({ publicKey: requestOptions(await post(begin)) });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("no passkey");
  await post(finish, { credential: answerOf(credential) });
}

async function signIn(button: HTMLElement): Promise<void> {
  await use("/v2/auth/passkey/begin", "/v2/auth/passkey/finish");
  location.assign(button.dataset["passkeyNext"] ?? "/");
}

function confirm(): Promise<void> {
  return use("/v2/auth/passkey/confirm/begin", "/v2/auth/passkey/confirm/finish");
}

async function add(button: HTMLElement): Promise<void> {
  const credential = await navigator.credentials.create({ publicKey: creationOptions(await post("/v2/account/passkeys/begin")) });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("no passkey");
  const made = await post("/v2/account/passkeys", { name: button.dataset["passkeyName"] ?? "", credential: answerOf(credential) });
  const { id } = made["passkey"] as { id: string };
  location.assign(`/account/passkeys/${encodeURIComponent(id)}?done=passkey-added`);
}

/** reason returns which of the page's texts explains an error. */
export function reason(error: unknown, doing: string): string {
  if (error instanceof HTTPError) {
    if (error.status === 429) return "many";
    if (error.status === 401 && doing === "add") return "late";
    if (error.status === 401 || error.status === 403) return "refused";
    return "failed";
  }
  return error instanceof DOMException && error.name === "InvalidStateError" ? "known" : "failed";
}

/** say shows one of the page's texts. */
function say(which: string): void {
  const place = document.querySelector<HTMLElement>("[data-passkey-says]");
  if (!place) return;
  place.hidden = false;
  place.textContent = place.getAttribute(`data-passkey-${which}`);
}

/** attempt disables the button while an action runs, and shows its error. */
async function attempt(doing: string, button: HTMLButtonElement | null, what: () => Promise<void>): Promise<void> {
  if (button) button.disabled = true;
  try {
    await what();
  } catch (error) {
    console.warn(error);
    say(reason(error, doing));
  } finally {
    if (button) button.disabled = false;
  }
}

const commands: Record<string, (button: HTMLElement) => Promise<void>> = {
  "sign-in": signIn,
  add,
  confirm: async () => {
    await confirm();
    location.reload();
  },
};

function watchForm(form: HTMLFormElement): void {
  let confirmed = false;
  form.addEventListener("submit", (event) => {
    if (confirmed) return;
    event.preventDefault();
    const button = event.submitter instanceof HTMLButtonElement ? event.submitter : null;
    void attempt("confirm", button, async () => {
      await confirm();
      confirmed = true;
      if (button) button.disabled = false; // a disabled button submits nothing
      form.requestSubmit(button);
    });
  });
}

function start(): void {
  const places = document.querySelectorAll<HTMLElement>("[data-passkey]");
  if (places.length > 0 && !("PublicKeyCredential" in window)) {
    say("unable");
    return;
  }
  for (const place of places) {
    if (place instanceof HTMLFormElement) {
      watchForm(place);
      continue;
    }
    const doing = place.dataset["passkey"] ?? "";
    const deed = commands[doing];
    if (!deed || !(place instanceof HTMLButtonElement)) continue;
    place.hidden = false;
    place.addEventListener("click", () => {
      void attempt(doing, place, () => deed(place));
    });
  }
}

start();
