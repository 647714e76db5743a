// An order: a tap gives an item the next place, another tap takes it back. Below, the order as it
// stands, with buttons to change it. The places go into the lists that the page works with alone.
const root = document.querySelector("[data-ranking]");
const texts = root.dataset;
const place = root.querySelector("[data-order]");
const list = place.querySelector("ol");

const items = [...root.querySelectorAll("[data-item]")].map((row) => {
  const label = row.querySelector("label");
  const select = row.querySelector("select");
  const button = document.createElement("button");
  const badge = document.createElement("b");
  badge.setAttribute("aria-hidden", "true");
  button.type = "button";
  button.classList.add("option", "rank-button");
  button.append(badge, label.textContent);
  button.addEventListener("click", () => toggle(item));
  const described = select.getAttribute("aria-describedby");
  if (described) button.setAttribute("aria-describedby", described);
  const item = { row, text: label.textContent, select, button, badge };
  select.parentElement.hidden = true;
  row.append(button);
  if (select.autofocus) button.focus();
  return item;
});

// As the server, the browser or the kept answers left it.
let order = items
  .filter(({ select }) => select.value)
  .sort((one, other) => Number(one.select.value) - Number(other.select.value));

function toggle(item) {
  order = order.includes(item) ? order.filter((other) => other !== item) : [...order, item];
  changed();
}

function move(item, by, focus) {
  const from = order.indexOf(item);
  const to = from + by;
  if (to < 0 || to >= order.length) return;
  order.splice(to, 0, ...order.splice(from, 1));
  changed();
  list.children[to].querySelector(`[data-tool=${focus}]`).focus();
}

function tool(symbol, name, item, act, off = false) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = symbol;
  button.dataset.tool = name;
  button.setAttribute("aria-label", texts[name].replace("{item}", item.text));
  // Not `disabled`: the button that was pressed last keeps the focus.
  if (off) button.setAttribute("aria-disabled", "true");
  button.addEventListener("click", act);
  return button;
}

function changed() {
  draw();
  for (const { row } of order) {
    row.classList.remove("is-missing");
    row.querySelector(".problem")?.remove();
  }
  root.dispatchEvent(new Event("input", { bubbles: true }));
}

function draw() {
  for (const item of items) {
    const n = order.indexOf(item) + 1;
    item.select.value = n ? String(n) : "";
    item.badge.textContent = n || "";
    item.button.classList.toggle("is-ranked", n > 0);
    item.button.setAttribute("aria-pressed", String(n > 0));
    const said = n ? texts.placed.replace("{n}", n) : texts.open;
    item.button.setAttribute("aria-label", said.replace("{item}", item.text));
  }
  list.replaceChildren(...order.map((item, index) => {
    const row = document.createElement("li");
    const text = document.createElement("span");
    text.textContent = item.text;
    row.append(text,
      tool("↑", "up", item, () => move(item, -1, "up"), index === 0),
      tool("↓", "down", item, () => move(item, 1, "down"), index === order.length - 1),
      tool("×", "off", item, () => { toggle(item); item.button.focus(); }));
    return row;
  }));
  place.hidden = order.length === 0;
}

root.parentElement.parentElement.querySelector("[data-tap]").hidden = false;
draw();
