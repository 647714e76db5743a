// The page on which one gold counterpart is chosen: what each annotator changed, and keys.
import { compareWords, splitWords } from "./words.js";

const form = document.querySelector("[data-case]");
const source = splitWords(document.querySelector("[data-source]").textContent);

const bodies = new Map(); // the texts as they were written, before the differences are marked
for (const option of form.querySelectorAll("[data-option]")) {
  bodies.set(option.closest("label").querySelector("[name=choice]").value, option.textContent);
  const parts = compareWords(source, splitWords(option.textContent));
  if (!parts) continue;
  option.replaceChildren(...parts.flatMap(({ kind, words }) => {
    if (kind === "same") return [words.join(" "), " "];
    const element = document.createElement(kind === "removed" ? "del" : "ins");
    const spoken = document.createElement("span");
    spoken.className = "visually-hidden";
    spoken.textContent = `${form.dataset[kind]} `;
    element.append(spoken, words.join(" "));
    return [element, " "];
  }));
}

const other = form.querySelector("[data-other]");
other?.addEventListener("input", () => {
  form.querySelector("[name=choice][value=other]").checked = true;
});

function choose(control) {
  if (!control || control.disabled) return;
  control.checked = true;
  control.focus();
}

// A copy of the chosen counterpart in the field, to be changed there.
function editChosen() {
  const chosen = form.querySelector("[name=choice]:checked")?.value;
  if (!other) return;
  if (bodies.has(chosen)) other.value = bodies.get(chosen);
  choose(form.querySelector("[value=other]"));
  other.focus();
  other.setSelectionRange(other.value.length, other.value.length);
}

const editButton = form.querySelector("[data-edit]");
if (editButton) {
  editButton.hidden = false;
  editButton.addEventListener("click", editChosen);
}

const KEYS = {
  e: editChosen,
  n: () => choose(form.querySelector("[value=not-interpretable]")),
  w: () => {
    choose(form.querySelector("[value=other]"));
    other?.focus();
  },
  u: () => document.querySelector("[data-undo] button")?.click(),
  j: () => document.querySelector("[data-after]")?.click(),
  k: () => document.querySelector("[data-before]")?.click(),
};

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    form.querySelector("[data-decide]")?.click();
    return;
  }
  if (event.key === "Escape" && event.target.matches("textarea")) event.target.blur();
  const isTyping = event.target.matches("textarea, select, input:not([type=radio])");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const number = Number(event.key);
  const act = number >= 1
    ? () => choose(form.querySelectorAll(".case-option [name=choice]:not([value=other], [value=not-interpretable])")[number - 1])
    : KEYS[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
});
