// Keeps the run monitor up to date: fetches its changing part while the run is open.
const PAUSE = 2000;
const live = document.querySelector("[data-live]");

function isOpen() {
  return live.querySelector("[data-run-open]")?.dataset.runOpen === "true";
}

// What the person has opened or focused must survive the exchange of the fragment.
function exchange(html) {
  const opened = [...live.querySelectorAll("details[open][id]")].map((part) => part.id);
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  const frame = live.querySelector(".table-frame");
  const scrolled = frame ? frame.scrollLeft : 0;
  live.innerHTML = html;
  for (const id of opened) {
    document.getElementById(id)?.setAttribute("open", "");
  }
  if (focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
  if (scrolled) {
    const next = live.querySelector(".table-frame");
    if (next) next.scrollLeft = scrolled;
  }
}

async function refresh() {
  try {
    const answer = await fetch(live.dataset.live, { credentials: "same-origin" });
    // A log-in page after the session's end is no fragment: the page stays as it is.
    if (answer.ok && !answer.redirected) exchange(await answer.text());
  } catch {
    // The server is away for a moment: the next look follows.
  }
}

async function follow() {
  while (isOpen()) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (!document.hidden) await refresh();
  }
}

if (live) follow();
