// The messages of Wayside: its page sends "context" when this page has loaded, after each "ready", and when something changed.
// Opened without Wayside, an app gets the browser's theme and the defaults.
"use strict";

function onContext(show) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let hosted = false;
  const apply = (context) => {
    const root = document.documentElement;
    const size = context.size || { width: innerWidth, height: innerHeight };
    root.dataset.theme = context.theme === "night" ? "night" : "day";
    root.dataset.shape = size.width > size.height * 1.25 ? "wide" : "tall";
    root.dataset.small = String(size.width < 300 || size.height < 300);
    root.style.fontSize = 10.5 + Math.min(10, Math.max(0, Number(context.uiSize) || 0)) * 0.6 + "px";
    show({ units: context.units === "imperial" ? "imperial" : "metric", config: context.config || {}, hosted });
  };
  const alone = () => {
    if (!hosted) apply({ theme: dark.matches ? "night" : "day", uiSize: 5 });
  };
  addEventListener("message", (event) => {
    // Only the page that frames this one is heard. The values are the driver's settings: an app that sends them on says so.
    if (event.source !== parent || parent === window || !event.data || event.data.type !== "context") return;
    hosted = true;
    apply(event.data);
  });
  dark.addListener(alone);
  addEventListener("resize", alone);
  alone();
  // "ready" says nothing about the driver, and an app does not know the address of the page that frames it.
  if (parent !== window) parent.postMessage({ type: "ready" }, "*");
}
