// How far a charge has come. The charge is pretended: it begins anew every three quarters of an hour. A real app would ask its
// operator with the driver's access key, which it gets in full with each context.
"use strict";

const cycle = 45 * 60; // seconds
const arrived = 18; // percent at the beginning
const fullRange = 420; // km
const kmPerMile = 1.609344;
const part = (id) => document.getElementById(id);

let settings = {};
let units = "metric";
let hosted = false;

const percentAt = (seconds) => Math.min(100, arrived + (100 - arrived) * (1 - Math.exp(-seconds / 1100)) * 1.08);

function show() {
  const known = typeof settings.access_key === "string" && settings.access_key !== "";
  for (const id of ["gauge", "state", "facts", "pretend"]) part(id).hidden = !known;
  part("ask").hidden = known;
  if (!known) {
    part("why").textContent = hosted ? "Open this app's settings in the menu, and enter the key of your charging contract. Any text will do." : "This page is an app beside Wayside's map. Opened alone, it has no settings.";
    return;
  }
  const limit = Math.min(100, Math.max(50, Number(settings.limit) || 80));
  const seconds = (Date.now() / 1000) % cycle;
  const now = Math.min(limit, percentAt(seconds));
  let wait = 0;
  while (wait < cycle && percentAt(seconds + wait) < limit) wait += 15;
  const done = now >= limit;
  const range = (fullRange * now) / 100;
  part("percent").textContent = String(Math.floor(now));
  part("connector").textContent = String(settings.connector || "CCS");
  part("level").setAttribute("stroke-dasharray", now + " 100");
  part("limit").setAttribute("stroke-dasharray", "1 100");
  part("limit").setAttribute("stroke-dashoffset", String(-limit + 0.5));
  part("state").textContent = done ? "Charged to your limit" : "Charging";
  part("power").textContent = (done ? 0 : Math.round(150 * Math.exp(-seconds / 1100))) + " kW";
  part("until").textContent = "to " + limit + " %";
  part("left").textContent = done ? "0 min" : Math.max(1, Math.round(wait / 60)) + " min";
  part("range").textContent = units === "imperial" ? Math.round(range / kmPerMile) + " mi" : Math.round(range) + " km";
}

setInterval(show, 5000);
onContext((context) => {
  settings = context.config;
  units = context.units;
  hosted = context.hosted;
  show();
});
