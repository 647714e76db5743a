// The pages of a writing study: numbers that follow the work, the agreement, links to copy.
import { follow } from "../stereoscope/live.js";

const AGREEMENT_PAUSE_MS = 20_000;

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

async function showAgreement(place) {
  try {
    const answer = await fetch(place.dataset.liveSrc, { credentials: "same-origin" });
    if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
    place.innerHTML = await answer.text();
    place.dataset.shown = "true";
  } catch {
    // What was computed before is better than nothing.
    if (!place.dataset.shown) place.textContent = place.dataset.liveFailed;
  }
}

for (const place of document.querySelectorAll("[data-live-src]")) {
  showAgreement(place);
  setInterval(() => { if (!document.hidden) showAgreement(place); }, AGREEMENT_PAUSE_MS);
}

follow(5000);
