// The pages of a study of annotators: numbers that follow the work, the agreement, links to copy.
import { fill, follow } from "../stereoscope/live.js";

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

fill(AGREEMENT_PAUSE_MS);
follow(5000);
