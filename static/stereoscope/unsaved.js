// Asks before a form of the admin is left with edits that were not saved, and lets nothing begin that
// would go by what is stored. Comes after the scripts that build parts of the form.
const form = document.querySelector("#content form[id$='_form']");
const note = document.querySelector("[data-unsaved]");

function describe() {
  const texts = [...new FormData(form)].filter(([, value]) => typeof value === "string");
  return new URLSearchParams(texts).toString();
}

if (form && note) {
  // What comes back with problems was never stored.
  const stored = note.dataset.unsaved === "refused" ? null : describe();
  let saving = false;
  const isUnsaved = () => !saving && describe() !== stored;
  form.addEventListener("submit", () => { saving = true; });
  // The browser may bring a page back as it was left.
  addEventListener("pageshow", () => { saving = false; });
  addEventListener("beforeunload", (event) => {
    if (isUnsaved()) event.preventDefault();
  });
  form.addEventListener("input", () => { note.hidden = true; });
  for (const other of document.querySelectorAll("form[data-from-stored]")) {
    other.addEventListener("submit", (event) => {
      if (!isUnsaved()) return;
      event.preventDefault();
      note.hidden = false;
      note.scrollIntoView({ block: "nearest" });
    });
  }
}
