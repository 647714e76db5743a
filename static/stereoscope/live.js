// Keeps a part of a page up to date without a reload: <div data-live="address"> is exchanged for
// the fragment at that address as long as something inside it says data-live-on="true".

const live = document.querySelector("[data-live]");

function isOn() {
  return live.querySelector("[data-live-on]")?.dataset.liveOn === "true";
}

// What somebody has opened, focused or scrolled must survive the exchange; such parts have ids.
function exchange(html) {
  const opened = [...live.querySelectorAll("details[open][id]")].map((part) => part.id);
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolled = live.querySelector(".table-frame")?.scrollLeft ?? 0;
  live.innerHTML = html;
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  const frame = live.querySelector(".table-frame");
  if (scrolled && frame) frame.scrollLeft = scrolled;
}

// Text that is being marked must not vanish under the pointer.
function isMarked() {
  const selection = window.getSelection();
  return Boolean(selection && !selection.isCollapsed && live.contains(selection.anchorNode));
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

// Looks every `pause` milliseconds; does nothing on a page without a live part.
export async function follow(pause) {
  while (live && isOn()) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!document.hidden && !isMarked()) await refresh();
  }
}
