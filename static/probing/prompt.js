// Shows what a model would read while a prompt is being written.

const text = document.querySelector("[data-prompt-text]");
const names = document.querySelector("[data-prompt-names]");
const shown = document.querySelectorAll("[data-prompt-shown]");

function readNames() {
  const found = new Map();
  for (const line of names ? names.value.split("\n") : []) {
    const colon = line.indexOf(":");
    if (colon > 0) found.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  return found;
}

function draw() {
  const called = readNames();
  for (const place of shown) {
    const { text: sample, source, target, labels } = place.dataset;
    const values = {
      text: sample,
      source: called.get(source) || source,
      target: called.get(target) || target,
      labels,
    };
    // One pass, so that a brace in a name or text is never read as a placeholder.
    place.textContent =
      text.value.replace(
        /\{\{|\}\}|\{(text|source|target|labels|reasoning|[aA]nswer)\}/g,
        (match, name) => (name ? (values[name] ?? "…") : match[0]),
      ) || "–";
  }
}

if (text && shown.length) {
  text.addEventListener("input", draw);
  names?.addEventListener("input", draw);
  // Somebody may have begun before this script came.
  draw();
}
