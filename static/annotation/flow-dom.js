// Small helpers of the flow's editor: elements, and names for the data.

/** Return a new element. `options` are attributes; `on` holds listeners, `text` its text. */
export function make(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "text") {
      node.textContent = value;
    } else if (name === "value" || name === "checked") {
      node[name] = value;
    } else {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Fill in {name} and the like. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** Return a text as searches compare it: without accents, in small letters. */
export const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Return a name for the data made of a text: small letters, digits and hyphens. */
export function slugify(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
}

/** Return `wanted`, with a number behind it if it is taken. */
export function uniqueName(wanted, taken) {
  const base = (wanted || "answer").slice(0, 36).replace(/-+$/, "");
  let name = base;
  for (let n = 2; taken.includes(name); n += 1) name = `${base}-${n}`;
  return name;
}

let count = 0;
/** Return an id that is new on this page. */
export function newId() {
  count += 1;
  return `flow-${count}`;
}

/** A labeled control: the label's text stands above it. */
export function labeled(text, control, options = {}) {
  control.id ||= newId();
  const label = make("label", { for: control.id, class: "flow-label", text });
  return make("div", { class: `flow-field ${options.class ?? ""}` }, label, control);
}

export function iconButton(symbol, label, listener, options = {}) {
  return make("button", {
    type: "button", class: "flow-icon", "aria-label": label, title: label, text: symbol,
    on: { click: listener }, ...options,
  });
}
