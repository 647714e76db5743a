// Keeps the numbers of a study up to date while people rate, and copies the participants' link.
const PAUSE = 5000;
const live = document.querySelector("[data-live]");

function isOn() {
  return live.querySelector("[data-live-on]")?.dataset.liveOn === "true";
}

// What somebody has opened or focused must survive the exchange; every such part has an id.
function exchange(html) {
  const opened = [...live.querySelectorAll("details[open][id]")].map((part) => part.id);
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  live.innerHTML = html;
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

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

async function follow() {
  while (isOn()) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (!document.hidden && !isMarked()) await refresh();
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

if (live) follow();
