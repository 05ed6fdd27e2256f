import { connect, fontSize } from "./client.js";

/** Config is as config_schema in submission.json: fields that may be blank are optional. */
interface Config {
  name?: string;
  unit: "kilometres" | "miles";
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

connect<Config>(({ theme, uiSize, size, config }) => {
  const root = document.documentElement;
  root.dataset["theme"] = theme;
  root.style.fontSize = `${String(fontSize(uiSize))}px`;
  root.classList.toggle("narrow", size.width < 300);
  element("greeting").textContent = `Hello, ${config.name ?? "driver"}`;
  element("facts").textContent = `${theme}, ${config.unit}, ${String(size.width)} × ${String(size.height)}`;
});
