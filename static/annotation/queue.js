// The review queue: choose all, count what is chosen, and keys for those who want them.

const form = document.querySelector("[data-queue]");
const KEPT = "stereoscope:queue-keys";

if (form) {
  const rows = [...form.querySelectorAll("[data-row]")];
  const ticks = rows.map((row) => row.querySelector("[name=chosen]")).filter(Boolean);
  chooseAll(ticks);
  useKeys(rows, ticks);
}

function chooseAll(ticks) {
  const label = form.querySelector("[data-all]");
  if (!label) return;
  const all = label.querySelector("input");
  const told = form.querySelector("[data-chosen]");
  const show = () => {
    const n = ticks.filter((tick) => tick.checked).length;
    all.checked = n === ticks.length;
    all.indeterminate = n > 0 && n < ticks.length;
    told.textContent = n === 0 ? "" : n === 1 ? told.dataset.one : told.dataset.many.replace("{n}", n);
  };
  label.hidden = false;
  all.addEventListener("change", () => {
    for (const tick of ticks) tick.checked = all.checked;
    show();
  });
  form.addEventListener("change", show);
  // Browsers keep ticks when one comes back to the page.
  window.addEventListener("pageshow", show);
}

function useKeys(rows, ticks) {
  const help = document.querySelector("[data-help]");
  const toggle = help.querySelector("[data-keys]");
  toggle.checked = recall() !== "off";
  toggle.addEventListener("change", () => remember(toggle.checked ? "on" : "off"));

  const links = rows.map((row) => row.querySelector(".name a"));
  const here = () => rows.findIndex((row) => row.contains(document.activeElement));
  const go = (step) => {
    const at = here();
    const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
    links[Math.min(rows.length - 1, Math.max(0, next))].focus();
  };
  const decide = (key) => {
    const button = form.querySelector(`[data-key="${key}"]`);
    if (!button) return;
    const at = here();
    if (!ticks.some((tick) => tick.checked)) {
      if (at < 0) return;
      ticks[at].checked = true;
    }
    form.requestSubmit(button);
  };
  const keys = {
    j: () => go(1),
    k: () => go(-1),
    x: () => { const at = here(); if (at >= 0) ticks[at]?.click(); },
    a: () => decide("a"),
    e: () => decide("e"),
    "?": () => { help.open = !help.open; if (help.open) help.querySelector("summary").focus(); },
  };
  document.addEventListener("keydown", (event) => {
    if (!toggle.checked || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (isField(event.target) || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}

function isField(element) {
  return element.isContentEditable
    || element.matches("select, textarea, input:not([type=checkbox], [type=radio])");
}

function recall() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function remember(value) {
  try {
    localStorage.setItem(KEPT, value);
  } catch {
    // Kept for this page all the same.
  }
}
