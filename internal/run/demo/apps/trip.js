// A clock, and a log of what the driver taps. It needs no settings, and learns nothing of where the car is. The log stays in this
// browser, under this page's own name.
"use strict";

const longest = 40; // entries of the log
const stored = "trip";
const part = (id) => document.getElementById(id);

let trip = read();

function read() {
  try {
    const found = JSON.parse(localStorage.getItem(stored));
    if (found && Array.isArray(found.log)) return found;
  } catch (error) {
    // Storage is refused or holds something else: the log lasts as long as the page.
  }
  return { began: 0, ended: 0, log: [] };
}

function keep() {
  try {
    localStorage.setItem(stored, JSON.stringify(trip));
  } catch (error) {
    // As above.
  }
}

const two = (n) => String(n).padStart(2, "0");
const time = (at) => new Date(at).toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });

function add(what) {
  trip.log.unshift({ at: Date.now(), what });
  trip.log.length = Math.min(trip.log.length, longest);
  keep();
  showLog();
  tick();
}

function showLog() {
  const running = trip.began > 0 && trip.ended === 0;
  part("start").hidden = running;
  part("finish").hidden = !running;
  for (const button of document.querySelectorAll("[data-mark]")) button.hidden = !running;
  part("log").hidden = trip.log.length === 0;
  part("log").replaceWith(list());
}

function list() {
  const log = part("log").cloneNode(false);
  for (const entry of trip.log) {
    const line = document.createElement("li");
    const at = document.createElement("span");
    at.className = "at";
    at.textContent = time(entry.at);
    line.append(at, String(entry.what));
    log.append(line);
  }
  return log;
}

// Timers of a hidden frame may be slow: each look computes everything from the clock.
function tick() {
  const now = new Date();
  part("clock").textContent = time(now);
  part("date").textContent = now.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
  if (!trip.began) {
    part("elapsed").textContent = "";
    part("since").textContent = "No trip yet. The log stays in this browser.";
    return;
  }
  const seconds = Math.max(0, Math.floor(((trip.ended || now.getTime()) - trip.began) / 1000));
  part("elapsed").textContent = Math.floor(seconds / 3600) + ":" + two(Math.floor(seconds / 60) % 60) + ":" + two(seconds % 60);
  part("since").textContent = trip.ended ? "From " + time(trip.began) + " to " + time(trip.ended) : "Since " + time(trip.began);
}

part("start").addEventListener("click", () => {
  trip = { began: Date.now(), ended: 0, log: [] };
  add("Started");
});
part("finish").addEventListener("click", () => {
  trip.ended = Date.now();
  add("Finished");
});
for (const button of document.querySelectorAll("[data-mark]")) button.addEventListener("click", () => add(button.dataset.mark));
setInterval(tick, 1000);
showLog();
onContext(tick);
