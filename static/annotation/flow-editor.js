// The steps of a survey as cards: add, edit, put in order, remove. The form sends their JSON.
import { Card } from "./flow-card.js";
import { config } from "./flow-config.js";
import { fill, make, uniqueName } from "./flow-dom.js";
import { summarise } from "./flow-fields.js";

const CHECK_AFTER_MS = 350;
const { words, kinds, languages } = config;

class Editor {
  constructor(area) {
    this.area = area;
    this.form = area.form;
    this.found = [];
    this.list = make("ol", { class: "flow-list" });
    this.status = make("p", { class: "visually-hidden", role: "status" });
    this.verdict = make("p", { class: "flow-verdict" });
    this.undoPlace = make("div", { class: "flow-undo", hidden: true });
    this.adder = make("button", {
      type: "button", class: "button", text: words.add, "aria-expanded": "false",
      on: { click: () => this.toggleMenu() },
    });
    this.menu = make("div", { class: "flow-menu", hidden: true });
    this.node = make("div", { class: "flow-editor" }, this.list, this.undoPlace,
      make("div", { class: "flow-add" }, this.adder, this.verdict), this.menu, this.status);
    this.cards = JSON.parse(area.value).map((item) => new Card(this, item));
    area.hidden = true;
    area.after(this.node);
    this.draw();
    this.check();
    this.openNamed();
    addEventListener("hashchange", () => this.openNamed());
  }

  /** An address with #step-3 leads to the third step. */
  openNamed() {
    const card = this.cards[Number(/^#step-(\d+)$/.exec(location.hash)?.[1]) - 1];
    if (!card) return;
    card.toggle(true);
    card.title.focus();
    card.node.scrollIntoView({ block: "center" });
  }

  draw() {
    this.list.replaceChildren(...this.cards.map((card) => card.node));
    this.changed();
    for (const card of this.cards) card.condition?.draw();
  }

  changed() {
    this.cards.forEach((card, index) => card.refresh(index, this.cards.length));
    this.area.value = JSON.stringify(this.cards.map((card) => card.item));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), CHECK_AFTER_MS);
  }

  say(text, values = {}) {
    this.status.textContent = fill(text, values);
  }

  // Order

  move(card, to, focus = null) {
    const from = this.cards.indexOf(card);
    const place = Math.max(0, Math.min(this.cards.length - 1, Number.isInteger(to) ? to : from));
    if (place !== from) {
      this.cards.splice(place, 0, ...this.cards.splice(from, 1));
      this.draw();
      const values = { name: card.name, n: place + 1, total: this.cards.length };
      this.say(words.moved, values);
    } else {
      card.refresh(from, this.cards.length);
    }
    focus?.focus();
    card.node.scrollIntoView({ block: "nearest" });
  }

  /** Follow a pointer that holds a card's grip; Escape leaves it where it was. */
  drag(card, event) {
    if (event.button !== 0) return;
    event.preventDefault();
    const start = this.cards.indexOf(card);
    const place = (y) => {
      const others = this.cards.filter((other) => other !== card);
      const before = others.filter((other) => {
        const box = other.node.getBoundingClientRect();
        return y > box.top + box.height / 2;
      });
      return before.length;
    };
    const follow = (moved) => {
      const to = place(moved.clientY);
      if (to === this.cards.indexOf(card)) return;
      this.cards.splice(to, 0, ...this.cards.splice(this.cards.indexOf(card), 1));
      // Moving the held card itself would end the capture of the pointer.
      const others = this.cards.filter((other) => other !== card).map((other) => other.node);
      others.forEach((node, index) => {
        if (index < to) card.node.before(node);
      });
      others.slice(to).reverse().forEach((node) => card.node.after(node));
    };
    const stop = (cancelled) => {
      card.grip.removeEventListener("pointermove", follow);
      card.grip.removeEventListener("pointerup", finish);
      card.grip.removeEventListener("pointercancel", cancel);
      removeEventListener("keydown", escape);
      card.node.classList.remove("is-held");
      const to = cancelled ? start : this.cards.indexOf(card);
      this.cards.splice(to, 0, ...this.cards.splice(this.cards.indexOf(card), 1));
      this.draw();
      if (to !== start) {
        this.say(words.moved, { name: card.name, n: to + 1, total: this.cards.length });
      }
    };
    const finish = () => stop(false);
    const cancel = () => stop(true);
    const escape = (pressed) => { if (pressed.key === "Escape") stop(true); };
    card.node.classList.add("is-held");
    card.grip.setPointerCapture(event.pointerId);
    card.grip.addEventListener("pointermove", follow);
    card.grip.addEventListener("pointerup", finish);
    card.grip.addEventListener("pointercancel", cancel);
    addEventListener("keydown", escape);
  }

  // Adding and removing

  toggleMenu(open = this.menu.hidden) {
    this.adder.setAttribute("aria-expanded", String(open));
    this.menu.hidden = !open;
    if (!open) return;
    this.menu.replaceChildren(...config.menu.map(({ heading, kinds: names }) => make("div", {
      class: "flow-menu-part", role: "group", "aria-label": heading,
    }, make("h3", { text: heading }), ...names.map((name) => this.drawChoice(name)))));
    this.menu.querySelector("button:not(:disabled)")?.focus();
  }

  drawChoice(name) {
    const kind = kinds[name];
    const taken = kind.once && this.cards.some((card) => card.data.kind === name);
    const button = make("button", {
      type: "button", class: "flow-choice", on: { click: () => this.add(name) },
    }, make("b", { text: kind.label }), make("span", { text: taken ? words.once : kind.explanation }));
    button.disabled = taken;
    return button;
  }

  add(name) {
    const kind = kinds[name];
    const data = { kind: name };
    if (kind.content) {
      data.key = uniqueName(name.replaceAll("_", "-"), this.listNames());
      Object.assign(data, translateDefaults(structuredClone(kind.content)));
      if (name === "practice") delete data.key;
    }
    const card = new Card(this, data);
    const place = this.placeOf(name);
    this.cards.splice(place, 0, card);
    this.draw();
    this.toggleMenu(false);
    card.toggle(kind.fields.length > 0);
    card.title.focus();
    card.node.scrollIntoView({ block: "nearest" });
    this.say(words.added, { name: card.name, n: place + 1 });
  }

  /** Where a new step of a kind fits best: where the flow allows it, else before what comes last. */
  placeOf(name) {
    const indexOf = (kind) => this.cards.findIndex((card) => card.data.kind === kind);
    const lastOf = (kind) => this.cards.findLastIndex((card) => card.data.kind === kind);
    const before = (kind, fallback) => (indexOf(kind) < 0 ? fallback : indexOf(kind));
    const end = before("debrief", this.cards.length);
    switch (name) {
      case "consent": return 0;
      case "debrief": return this.cards.length;
      case "instructions": return indexOf("consent") + 1;
      case "practice":
      case "comprehension":
        return before(name === "practice" ? "rating" : "practice", before("rating", end));
      case "rating": return before("repeat", lastOf("rating") < 0 ? before("demographics", end) : lastOf("rating") + 1);
      case "group_name":
      case "marked_traits":
      case "typed_traits": return lastOf("rating") + 1;
      case "demographics": return end;
      default: return before("demographics", end);
    }
  }

  remove(card) {
    const index = this.cards.indexOf(card);
    this.cards.splice(index, 1);
    this.draw();
    const undo = make("button", {
      type: "button", class: "button", text: words.undo,
      on: {
        click: () => {
          this.undoPlace.hidden = true;
          const place = Math.min(index, this.cards.length);
          this.cards.splice(place, 0, card);
          this.draw();
          card.title.focus();
          this.say(words.undone, { name: card.name, n: place + 1 });
        },
      },
    });
    this.undoPlace.replaceChildren(
      make("span", { text: fill(words.removed, { name: card.name }) }), undo,
    );
    this.undoPlace.hidden = false;
    undo.focus();
    this.say(words.removed, { name: card.name });
  }

  // What conditions can compare with

  listNames() {
    return this.cards.map((card) => card.data.key).filter(Boolean);
  }

  listSources(card) {
    const index = this.cards.indexOf(card);
    const before = this.cards.slice(0, index < 0 ? this.cards.length : index);
    const steps = before.filter(({ data, kind }) => kind.isCheck || kind.isNumber || data.kind === "choice");
    const sources = steps.map((earlier) => {
      const { kind } = earlier;
      const n = this.cards.indexOf(earlier) + 1;
      const text = summarise(earlier.data, languages);
      return {
        source: "step",
        get name() { return earlier.data.key; },
        ensureName: () => earlier.ensureName(),
        number: kind.isNumber,
        label: `${n}. ${text ? `“${text.slice(0, 60)}”` : earlier.name}`,
        values: earlier.kind.isCheck ? config.results : (earlier.data.options ?? []).map(
          (option) => ({ value: option.value, label: option.text[languages[0]] || option.value }),
        ),
      };
    });
    if (before.some(({ data }) => data.kind === "demographics")) {
      for (const question of config.questions) {
        sources.push({
          source: "question", name: question.slug, label: question.label, number: question.number,
          values: question.options.map((text) => ({ value: text, label: text })),
        });
      }
    }
    if (before.length && config.arms.length) {
      sources.push({ source: "visit", name: "arm", label: words.arm, values: config.arms });
    }
    if (before.length && languages.length > 1) {
      sources.push({
        source: "visit", name: "language", label: words.language,
        values: languages.map((code) => ({ value: code, label: code })),
      });
    }
    return sources;
  }

  // Checking

  async check() {
    const sent = this.area.value;
    try {
      const response = await fetch(config.check, {
        method: "POST",
        body: sent,
        headers: {
          "Content-Type": "application/json",
          "X-CSRFToken": this.form.elements.namedItem("csrfmiddlewaretoken").value,
        },
      });
      if (!response.ok) throw new Error(response.status);
      const { problems } = await response.json();
      if (sent !== this.area.value) return; // edited meanwhile: the next check is under way
      this.found = problems;
      this.markProblems();
      const n = problems.length;
      this.verdict.textContent = n === 0 ? words.fine
        : fill(n === 1 ? words.problemsOne : words.problemsMany, { n });
      this.verdict.classList.toggle("is-wrong", n > 0);
    } catch {
      this.verdict.textContent = words.unchecked;
      this.verdict.classList.add("is-wrong");
    }
  }

  markProblems() {
    this.cards.forEach((card, index) => {
      card.showProblems(this.found.filter(({ step }) => step === index));
    });
    const general = this.found.filter(({ step }) => step === null);
    this.list.dataset.wrong = general.length ? "true" : "false";
    this.general ??= make("ul", { class: "flow-problems" });
    this.general.replaceChildren(...general.map(({ text }) => make("li", { text })));
    this.general.hidden = general.length === 0;
    this.list.after(this.general);
  }
}

/** New steps begin with English texts; an instrument in another language begins with its own. */
function translateDefaults(content) {
  if (languages.includes("en")) return content;
  const visit = (value) => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (value && typeof value === "object") {
      if (typeof value.en === "string") {
        value[languages[0]] = value.en;
        delete value.en;
      } else Object.values(value).forEach(visit);
    }
  };
  visit(content);
  return content;
}

const area = document.querySelector("textarea[name=flow]");
if (area) {
  try {
    new Editor(area);
  } catch {
    area.hidden = false;
    area.before(make("p", { class: "flow-verdict is-wrong", text: words.unreadable }));
  }
}
