// Proposes a group's forms from its singular, and shows how they read while one types.

const box = document.querySelector("[data-form-check]");
const fields = [...document.querySelectorAll("[data-group-form]")];
const QUIET = 250; // milliseconds without a key

let timer;
let latest = 0;
// What a person typed is never overwritten; a field that is emptied takes proposals again.
const own = new Set(
  fields.filter((field) => field.value || !("proposes" in box.dataset)).map((field) => field.name),
);

async function ask() {
  const number = ++latest;
  const query = new URLSearchParams(fields.map((field) => [field.dataset.groupForm, field.value]));
  let answer;
  try {
    const response = await fetch(`${box.dataset.address}?${query}`, {
      headers: { Accept: "application/json" },
    });
    if (!response.ok) return;
    answer = await response.json();
  } catch {
    return; // without a connection the form still works; the server checks it when it is saved
  }
  if (number !== latest) return;
  let changed = false;
  for (const field of fields) {
    const proposed = answer.proposed[field.dataset.groupForm] ?? "";
    if (!own.has(field.name) && field.value !== proposed) {
      field.value = proposed;
      changed = true;
    }
  }
  if (changed) await ask();
  else box.innerHTML = answer.reads;
}

if (box && fields.length) {
  for (const field of fields) {
    field.addEventListener("input", () => {
      if (field.value) own.add(field.name);
      else own.delete(field.name);
      clearTimeout(timer);
      timer = setTimeout(ask, QUIET);
    });
  }
  if (fields.some((field) => field.value)) ask();
}
