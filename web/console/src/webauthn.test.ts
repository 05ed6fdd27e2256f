import { expect, test } from "vitest";
import { bytesOf, creationOptions, requestOptions, textOf } from "./webauthn.ts";

test("base64url round-trips", () => {
  for (let length = 0; length < 70; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 151 + length) % 256);
    const text = textOf(bytes.buffer);
    expect(text).toMatch(/^[\w-]*$/);
    expect(bytesOf(text)).toEqual(bytes);
  }
  expect(textOf(Uint8Array.of(251, 255).buffer)).toBe("-_8");
});

test("what is asked of the browser has bytes where it wants them, and everything else as it came", () => {
  const asked = requestOptions({ publicKey: { challenge: "AQI", rpId: "x", allowCredentials: [{ type: "public-key", id: "Aw" }] } });
  expect(asked).toEqual({
    challenge: Uint8Array.of(1, 2),
    rpId: "x",
    allowCredentials: [{ type: "public-key", id: Uint8Array.of(3) }],
  });
  expect(requestOptions({ publicKey: { challenge: "AQI" } }).allowCredentials).toEqual([]);
  const made = creationOptions({
    publicKey: { challenge: "AQI", user: { id: "BA", name: "n", displayName: "d" }, excludeCredentials: [{ type: "public-key", id: "Aw" }] },
  });
  expect(made).toEqual({
    challenge: Uint8Array.of(1, 2),
    user: { id: Uint8Array.of(4), name: "n", displayName: "d" },
    excludeCredentials: [{ type: "public-key", id: Uint8Array.of(3) }],
  });
});
