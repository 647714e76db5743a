// Puts a picker in the place of the checkboxes of a form, which stay in it and are sent.
import { make } from "./flow-dom.js";
import { Picker } from "./picker.js";

for (const first of document.querySelectorAll("input[data-picker]")) {
  const boxes = new Map([...first.form.querySelectorAll(`input[type=checkbox][name="${first.name}"]`)]
    .map((box) => [box.value, box]));
  const list = document.getElementById(first.id.replace(/_0$/, "")) ?? first.closest("div");
  const categories = new Map();
  const entries = [...boxes].map(([value, box]) => {
    const names = box.dataset.categories.split("|").filter(Boolean);
    for (const name of names) categories.set(name, [...(categories.get(name) ?? []), value]);
    return { value, label: box.closest("label").textContent.trim(), note: names.join(", ") };
  });
  const place = make("div", { class: "picker" });
  list.hidden = true;
  list.before(place);
  new Picker(place, {
    label: first.dataset.picker,
    words: JSON.parse(first.dataset.words),
    entries,
    categories: [...categories].map(([label, values]) => ({ label, values })),
    chosen: [...boxes].filter(([, box]) => box.checked).map(([value]) => value),
    isDisabled: first.disabled,
    changed: (values) => boxes.forEach((box, value) => { box.checked = values.includes(value); }),
  });
}
