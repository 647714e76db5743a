// Buttons that copy a text of the page, shown where the browser can:
// <button data-copy="id of the text" data-copied="what it says then" hidden>.

const SAID_MS = 2000;

export function offerCopies() {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    const label = button.textContent;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = button.dataset.copied;
      setTimeout(() => { button.textContent = label; }, SAID_MS);
    });
  }
}
