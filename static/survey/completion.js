// The end of a visit: copy buttons, and nothing of the answers left on this device.
import { forgetDrafts } from "./step-form.js";

const SHOWN_MS = 2000;

async function copy(source) {
  const text = source.dataset.copyText ?? source.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure connection browsers only copy what is selected.
    const range = document.createRange();
    range.selectNodeContents(source);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.querySelector(`[data-copy-source="${button.dataset.copy}"]`);
  const label = button.textContent;
  button.hidden = false;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    await copy(source);
    button.textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = label; }, SHOWN_MS);
  });
}

const finished = document.querySelector("[data-finished]");
if (finished) forgetDrafts(finished.dataset.finished);
