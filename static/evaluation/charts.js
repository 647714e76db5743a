// Charts that answer: a pointer on a mark shows its value, interval and n, and highlights its group
// in every chart and table of the page. The drawing of the server stands until Vega has drawn the
// same specification; where it cannot, or data are to be saved, the drawing stays.

const script = document.querySelector("script[data-vega]");
const colors = JSON.parse(script.dataset.colors);
const all = script.dataset.all;
const charts = [];
const rows = [...document.querySelectorAll("tbody th[scope=row]")];
let chosen = "";
let shown = "";
let library;

// The colors of a specification are those of a light page; here they follow the page's own.
function paint(value) {
  if (typeof value === "string") return colors[value.toUpperCase()] ?? value;
  if (Array.isArray(value)) return value.map(paint);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, paint(part)]));
  }
  return value;
}

function findKeys(spec) {
  return new Set(spec.layer.flatMap((layer) => layer.data.values.map((row) => row.key)).filter(Boolean));
}

const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);

function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const room = document.documentElement.clientWidth - width - 8;
  tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, room))}px`;
  // Under a finger nothing is read: the text stands above.
  tip.style.top = `${event.clientY > height + 24 ? event.clientY - height - 14 : event.clientY + 20}px`;
}

function hideTip() {
  tip.hidden = true;
}

function highlight(key) {
  if (key === shown) return;
  shown = key;
  for (const { view, keys } of charts) {
    // A chart that does not know the group stays as it is.
    if (keys.size) view.signal("highlight", keys.has(key) ? key : "").runAsync();
  }
  for (const head of rows) head.parentElement.classList.toggle("lit", !!key && head.textContent === key);
}

function choose(key) {
  chosen = key;
  for (const list of document.querySelectorAll("select[data-highlight]")) {
    list.value = [...list.options].some((option) => option.value === key) ? key : "";
  }
  highlight(key);
}

// By keyboard, and for good: a list of what can be highlighted, in the figure's caption.
function offerKeys(figure, keys) {
  if (keys.size < 2 || figure.querySelector("select[data-highlight]")) return;
  const label = document.createElement("label");
  const list = document.createElement("select");
  label.className = "highlight";
  label.append(script.dataset.label, " ", list);
  list.dataset.highlight = "";
  list.append(new Option(all, ""), ...[...keys].map((key) => new Option(key, key)));
  list.value = keys.has(chosen) ? chosen : "";
  list.addEventListener("change", () => choose(list.value));
  figure.querySelector("figcaption .links").prepend(label);
}

async function bringAlive(place) {
  library ??= import(script.dataset.vega);
  const [{ View, Warn, compile, expressionInterpreter, parse }, response] = await Promise.all([
    library,
    fetch(place.dataset.spec),
  ]);
  if (!response.ok) return;
  const spec = await response.json();
  const drawn = place.querySelector("svg");
  const frame = document.createElement("div");
  // The interpreter reads expressions as data: the page's policy allows no code made from text.
  const view = new View(parse(compile(paint(spec)).spec, undefined, { ast: true }), {
    expr: expressionInterpreter,
    logLevel: Warn,
    renderer: "svg",
  });
  view.tooltip((handler, event, item, text) => (text ? showTip(event, text) : hideTip()));
  await view.initialize(frame).runAsync();
  const svg = frame.querySelector("svg");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${spec.usermeta.title}. ${spec.description}`);
  svg.setAttribute("width", "100%");
  svg.removeAttribute("height");
  // The picture is told as a whole; its values are read in the table beside it.
  for (const part of svg.children) part.setAttribute("aria-hidden", "true");
  const keys = findKeys(spec);
  view.addEventListener("pointermove", (event, item) => highlight(item?.datum?.key ?? chosen));
  view.addEventListener("click", (event, item) => {
    const key = item?.datum?.key;
    if (key) choose(key === chosen ? "" : key);
  });
  frame.addEventListener("pointerleave", () => {
    hideTip();
    highlight(chosen);
  });
  drawn.replaceWith(frame);
  charts.push({ view, keys });
  if (chosen) view.signal("highlight", keys.has(chosen) ? chosen : "").runAsync();
  offerKeys(place.closest("figure"), keys);
  place.dataset.alive = "";
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
for (const head of rows) {
  const row = head.parentElement;
  row.addEventListener("pointerenter", () => highlight(head.textContent));
  row.addEventListener("pointerleave", () => highlight(chosen));
}

if (!navigator.connection?.saveData) {
  const near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        bringAlive(target).catch((error) => console.warn("The chart stays as it was drawn.", error));
      }
    },
    { rootMargin: "400px" },
  );
  for (const place of document.querySelectorAll(".chart[data-spec]")) near.observe(place);
}
