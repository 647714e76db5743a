// Keeps a part of a page up to date without a reload: <div data-live="address"> follows the
// fragment at that address as long as something inside it says data-live-on="true".
//
// Of a fragment in parts, <section data-part="name">, only those that changed are exchanged. Beside
// the live part may stand a line for a lost connection, [data-live-lost], which names the time in
// its [data-live-since], and a status line, [data-live-status], that says what [data-live-news]
// of the fragment holds whenever that changes.

const LONGEST_PAUSE_MS = 120_000;
const SOON_MS = 4_000;

const live = document.querySelector("[data-live]");
const lost = document.querySelector("[data-live-lost]");
const status = document.querySelector("[data-live-status]");

let tag = null;
let lastHtml = "";
let lastNews = findNews();
let lastParts = live ? readParts(live) : new Map();
let heardAt = new Date();
const shown = new WeakMap();

function isOn() {
  return live.querySelector("[data-live-on]")?.dataset.liveOn === "true";
}

function findNews() {
  return live?.querySelector("[data-live-news]")?.dataset.liveNews ?? "";
}

// What somebody has opened, focused or scrolled must survive the exchange; such parts have ids.
function replace(place, html) {
  const opened = [...place.querySelectorAll("details[open][id]")].map((part) => part.id);
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  const frames = [...place.querySelectorAll(".table-frame")].map((frame) => frame.scrollLeft);
  place.innerHTML = html;
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  for (const [index, frame] of [...place.querySelectorAll(".table-frame")].entries()) {
    if (frames[index]) frame.scrollLeft = frames[index];
  }
}

function readParts(root) {
  const parts = [...root.querySelectorAll("[data-part]")];
  return new Map(parts.map((part) => [part.dataset.part, part.innerHTML]));
}

// Compared with what the server sent before, not with the page, where somebody may have opened
// something since.
function exchange(html) {
  if (html === lastHtml) return;
  const sent = document.createElement("template");
  sent.innerHTML = html;
  const parts = readParts(sent.content);
  const places = [...live.querySelectorAll("[data-part]")];
  const names = places.map((place) => place.dataset.part).join(" ");
  if (parts.size && names === [...parts.keys()].join(" ")) {
    for (const place of places) {
      const name = place.dataset.part;
      if (parts.get(name) !== lastParts.get(name)) replace(place, parts.get(name));
    }
    const [head, sentHead] = [live, sent.content].map((root) => root.querySelector("[data-live-on]"));
    Object.assign(head.dataset, sentHead.dataset);
  } else {
    replace(live, html);
  }
  lastHtml = html;
  lastParts = parts;
}

function tellNews() {
  const news = findNews();
  if (status && news !== lastNews) status.textContent = news;
  lastNews = news;
}

function tellLost(isLost) {
  if (!lost || lost.hidden !== isLost) return;
  const since = lost.querySelector("[data-live-since]");
  if (since) since.textContent = heardAt.toLocaleTimeString([], { timeStyle: "medium" });
  lost.hidden = !isLost;
}

// Text that is being marked must not vanish under the pointer.
function isMarked() {
  const selection = window.getSelection();
  return Boolean(selection && !selection.isCollapsed && live.contains(selection.anchorNode));
}

// Returns whether the server answered. A log-in page after the session's end is no fragment: the
// page stays as it is.
async function refresh() {
  try {
    const headers = tag ? { "If-None-Match": tag } : {};
    const answer = await fetch(live.dataset.live, {
      credentials: "same-origin", redirect: "manual", headers,
    });
    if (answer.status !== 304) {
      if (!answer.ok) return false;
      exchange(await answer.text());
      tag = answer.headers.get("ETag");
      tellNews();
    }
    heardAt = new Date();
    return true;
  } catch {
    return false;
  }
}

// Resolves after some time, or at once when the page comes into view again.
function wait(pause) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, pause);
    function done() {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
      resolve();
    }
    function look() { if (!document.hidden) done(); }
    document.addEventListener("visibilitychange", look);
  });
}

// Looks every `pause` milliseconds, less often while the server does not answer; does nothing on a
// page without a live part.
export async function follow(pause) {
  let next = pause;
  while (live && isOn()) {
    await wait(next);
    if (document.hidden || isMarked()) continue;
    const answered = await refresh();
    tellLost(!answered);
    next = answered ? pause : Math.min(2 * next, LONGEST_PAUSE_MS);
  }
}

async function fillPlace(place) {
  try {
    const answer = await fetch(place.dataset.liveSrc, { credentials: "same-origin" });
    if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
    const html = await answer.text();
    if (html !== shown.get(place)) replace(place, html);
    shown.set(place, html);
    // What a worker is still at is asked for again soon.
    if (place.querySelector("[data-fill-again]")) setTimeout(() => fillPlace(place), SOON_MS);
  } catch {
    // What was computed before is better than nothing.
    if (!shown.has(place)) place.textContent = place.dataset.liveFailed;
  }
}

// Fills every [data-live-src] with the fragment at its address, which takes the server longer than
// a page may wait for, and again every `pause` milliseconds.
export function fill(pause) {
  for (const place of document.querySelectorAll("[data-live-src]")) {
    fillPlace(place);
    setInterval(() => { if (!document.hidden) fillPlace(place); }, pause);
  }
}
