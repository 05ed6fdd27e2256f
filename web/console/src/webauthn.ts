// Conversion between WebAuthn's JSON and the browser's objects, which have bytes in place of base64url. Browsers before 2024 have no
// conversion of their own.

/** Json is a JSON object. */
export type Json = Record<string, unknown>;

/** bytesOf decodes base64url without padding. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const raw = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(raw, (letter) => letter.charCodeAt(0));
}

/** textOf encodes base64url without padding. */
export function textOf(bytes: ArrayBuffer): string {
  let raw = "";
  for (const byte of new Uint8Array(bytes)) raw += String.fromCharCode(byte);
  return btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

type Descriptor = Omit<PublicKeyCredentialDescriptor, "id"> & { id: string };

function descriptors(all: unknown): PublicKeyCredentialDescriptor[] {
  return ((all ?? []) as Descriptor[]).map((one) => ({ ...one, id: bytesOf(one.id) }));
}

/** requestOptions converts the argument of navigator.credentials.get. */
export function requestOptions(answer: Json): PublicKeyCredentialRequestOptions {
  const options = answer["publicKey"] as Json & { challenge: string };
  return { ...options, challenge: bytesOf(options.challenge), allowCredentials: descriptors(options["allowCredentials"]) };
}

/** creationOptions converts the argument of navigator.credentials.create. */
export function creationOptions(answer: Json): PublicKeyCredentialCreationOptions {
  const options = answer["publicKey"] as Omit<PublicKeyCredentialCreationOptions, "challenge" | "user" | "excludeCredentials"> & {
    challenge: string;
    user: Omit<PublicKeyCredentialUserEntity, "id"> & { id: string };
    excludeCredentials?: unknown;
  };
  return {
    ...options,
    challenge: bytesOf(options.challenge),
    user: { ...options.user, id: bytesOf(options.user.id) },
    excludeCredentials: descriptors(options.excludeCredentials),
  };
}

/** answerOf converts a credential. */
export function answerOf(credential: PublicKeyCredential): Json {
  return {
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
    clientExtensionResults: {},
    response: responseOf(credential.response),
  };
}

function responseOf(response: AuthenticatorResponse): Json {
  const clientDataJSON = textOf(response.clientDataJSON);
  if (response instanceof AuthenticatorAttestationResponse) {
    return { clientDataJSON, attestationObject: textOf(response.attestationObject), transports: response.getTransports() };
  }
  const { authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse;
  return {
    clientDataJSON,
    authenticatorData: textOf(authenticatorData),
    signature: textOf(signature),
    userHandle: userHandle ? textOf(userHandle) : undefined,
  };
}
