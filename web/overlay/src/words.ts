// Every text that the page shows.

export const words = {
  menu: "Menu",
  about: "About Wayside",
  interface: "Interface",
  locating: "Looking for your position …",
  pick: "Your position is not known. Touch the map where you are.",
  cannotDraw: "This browser cannot draw a map.",
  cannotStart: "The service does not answer. The page tries again by itself.",
} as const;
