// The checks of apps' pages as a script of its own, for the bench's page and for `wayside app check`.

export { check } from "./bench/checks.ts";
