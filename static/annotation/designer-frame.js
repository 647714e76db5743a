// Runs in the page that the designer shows in its frame: nothing is sent, texts can be clicked.
const TEXTS = "h1, h2, h3, p, li, legend, label, span, blockquote, td, th";
const say = (message) => parent.postMessage(message, location.origin);

document.addEventListener("submit", (event) => {
  event.preventDefault();
  event.stopImmediatePropagation();
  say({ went: 1 });
}, true);

document.addEventListener("click", (event) => {
  if (event.target.closest("a")) event.preventDefault();
  if (event.target.closest("button")) {
    if (event.target.closest("[type=submit]")) {
      event.preventDefault();
      event.stopImmediatePropagation();
      say({ went: 1 });
    }
    return;
  }
  const text = event.target.closest(TEXTS);
  if (text && text.textContent.trim()) say({ clicked: text.textContent });
}, true);

addEventListener("scroll", () => say({ scroll: scrollY }), { passive: true });

/** Let the rules for dark or for light screens hold, whatever the screen is. */
function color(wanted) {
  const change = (rules) => {
    for (const rule of rules) {
      if (!(rule instanceof CSSMediaRule)) continue;
      rule.asked ??= rule.media.mediaText;
      if (!rule.asked.includes("prefers-color-scheme")) continue;
      const isMet = rule.asked.includes("prefers-color-scheme: dark") === (wanted === "dark");
      const others = rule.asked.replace(/\s*(and\s*)?\(prefers-color-scheme:\s*\w+\)(\s*and)?/, "").trim();
      rule.media.mediaText = isMet ? others || "all" : "not all";
    }
  };
  for (const sheet of document.styleSheets) change(sheet.cssRules);
}

let isPlaced = false;
addEventListener("message", ({ origin, data }) => {
  if (origin !== location.origin || !data.colors) return;
  color(data.colors);
  if (!isPlaced) scrollTo(0, data.scroll);
  isPlaced = true;
});

addEventListener("load", () => say({ loaded: true }));
