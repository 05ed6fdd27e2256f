// Icons of navigation's buttons, 24 by 24, as those of widgets.ts.

const namespace = "http://www.w3.org/2000/svg";

const paths = {
  handle: "M4 8h16M4 16h16",
  search: "M10.5 4a6.5 6.5 0 1 0 .01 0M15.5 15.5l5 5",
  home: "M4 11l8-7 8 7M6 10v10h12V10",
  work: "M3 8h18v12H3zM9 8V4h6v4",
  recent: "M12 3a9 9 0 1 0 .01 0M12 7v5l4 2",
  pin: "M12 21c-4-6-6-8-6-11a6 6 0 0 1 12 0c0 3-2 5-6 11zM12 8a2 2 0 1 0 .01 0",
  charger: "M13 2L5 14h6l-1 8 8-12h-6z",
  fuel: "M4 21V4h10v17M4 11h10M14 8h3l3 3v7a1.5 1.5 0 0 1-3 0v-4h-3",
  parking: "M8 20V4h5a5 5 0 0 1 0 10H8",
  food: "M7 3v7a2 2 0 0 0 4 0V3M9 12v9M17 3c-3 2-3 8 0 9v9",
  add: "M12 4v16M4 12h16",
  microphone: "M12 3a3 3 0 0 0-3 3v6a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM5 11a7 7 0 0 0 14 0M12 18v4",
  arrow: "M12 3v18M5 10l7-7 7 7",
} as const;

/** NavIcon names an icon of navigation. */
export type NavIcon = keyof typeof paths;

/** makeNavIcon draws an icon, which screen readers skip. */
export function makeNavIcon(name: NavIcon): SVGElement {
  const icon = document.createElementNS(namespace, "svg");
  for (const [attribute, value] of [["viewBox", "0 0 24 24"], ["class", `sign sign-${name}`], ["aria-hidden", "true"]] as const) icon.setAttribute(attribute, value);
  const path = document.createElementNS(namespace, "path");
  path.setAttribute("d", paths[name]);
  icon.append(path);
  return icon;
}
