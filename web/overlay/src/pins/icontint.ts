// Colours of icons at night and while the connection is lost (pure).

/** Look is the colour scheme of pins. */
export type Look = "day" | "night" | "lost";

/** tint changes RGBA pixels in place. */
export function tint(pixels: Uint8ClampedArray, look: Look): void {
  if (look === "day") return;
  for (let i = 0; i < pixels.length; i += 4) {
    const [red, green, blue] = [pixels[i] ?? 0, pixels[i + 1] ?? 0, pixels[i + 2] ?? 0];
    const light = 0.299 * red + 0.587 * green + 0.114 * blue;
    if (look === "lost") {
      pixels[i] = pixels[i + 1] = pixels[i + 2] = light;
      continue;
    }
    // White areas are darkened most, since they would dazzle; saturated colours stay recognisable.
    const share = 1 - 0.22 * (light / 255);
    pixels[i] = red * share;
    pixels[i + 1] = green * share;
    pixels[i + 2] = blue * share;
  }
}
