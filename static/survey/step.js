// Pages without rating lines: texts, ticks and choices survive a reload or a lost connection.
import { prepareStep } from "./step-form.js";

const OURS = new Set(["step", "client", "kept"]);
const step = prepareStep({ storage: "sessionStorage" });

function readFields() {
  return [...new FormData(step.form)].filter(([name]) => !OURS.has(name));
}

/** Whether somebody has been at a control already: a script may come later than they do. */
function isChanged(control) {
  if (control.type === "radio" || control.type === "checkbox") {
    return control.checked !== control.defaultChecked;
  }
  if (control.type !== "select-one") return control.value !== control.defaultValue;
  const first = [...control.options].findIndex((option) => option.defaultSelected);
  return control.selectedIndex !== Math.max(0, first);
}

function findControls() {
  // What the server wrote on the page is its own, and no answer.
  return [...step.form.elements].filter((control) => control.name && !OURS.has(control.name)
    && control.type !== "submit" && control.type !== "hidden");
}

/** "Prefer not to say" stands alone: ticking it takes the other ticks of its question back, and the
 * other way round. */
function untickOthers(ticked) {
  for (const other of ticked.closest("fieldset")?.querySelectorAll("[type=checkbox]") ?? []) {
    const isAlone = "alone" in ticked.dataset || "alone" in other.dataset;
    if (other !== ticked && isAlone) other.checked = false;
  }
}

function restore(fields, changed) {
  for (const control of findControls()) {
    if (changed.has(control.name)) continue;
    const values = fields.filter(([name]) => name === control.name).map(([, value]) => value);
    if (control.type === "radio" || control.type === "checkbox") {
      control.checked = values.includes(control.value);
    } else if (values.length) {
      control.value = values[0];
    }
  }
}

const changed = new Set(findControls().filter(isChanged).map((control) => control.name));
const kept = step.draft.read();
if (Array.isArray(kept)) {
  restore(kept, changed);
  step.restored = true;
}
// Where the browser itself has brought answers back, nothing is new.
if (changed.size && JSON.stringify(readFields()) !== JSON.stringify(kept)) {
  step.draft.write(readFields());
}
step.form.addEventListener("input", ({ target }) => {
  if (target.type === "checkbox" && target.checked) untickOthers(target);
  step.draft.write(readFields());
});
