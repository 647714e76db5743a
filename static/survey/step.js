// Pages without rating lines: texts, ticks and choices survive a reload or a lost connection.
import { prepareStep } from "./step-form.js";

const OURS = new Set(["step", "client", "kept"]);
const step = prepareStep({ storage: "sessionStorage" });

function readFields() {
  return [...new FormData(step.form)].filter(([name]) => !OURS.has(name));
}

function restore(fields) {
  for (const control of step.form.elements) {
    if (!control.name || OURS.has(control.name)) continue;
    // What the server wrote on the page is its own, and no answer.
    if (control.type === "submit" || control.type === "hidden") continue;
    const values = fields.filter(([name]) => name === control.name).map(([, value]) => value);
    if (control.type === "radio" || control.type === "checkbox") {
      control.checked = values.includes(control.value);
    } else if (values.length) {
      control.value = values[0];
    }
  }
}

const kept = step.draft.read();
if (Array.isArray(kept)) {
  restore(kept);
  step.restored = true;
}
step.form.addEventListener("input", () => step.draft.write(readFields()));
