// The outline: the steps in their order, added, copied, moved and removed, with their problems.
import { fill, labeled, make, plain, uniqueName } from "./flow-dom.js";
import { summarize } from "./flow-fields.js";

/** Return a step as an object; one that is nothing but a kind is stored as a text. */
export const itemOf = (item) => (typeof item === "object" && item !== null ? item : { kind: String(item) });

export class Outline {
  /** `select(index)` opens a step; `panel(name)` opens what belongs to no step. */
  constructor(store, config, { list, adder, announce, count, select }) {
    Object.assign(this, { store, config, list, announce, count, select });
    this.words = config.words;
    this.chosen = 0;
    this.findings = config.findings;
    if (config.mayEdit) this.buildAdder(adder);
  }

  get flow() {
    return this.store.document.flow;
  }

  get languages() {
    return this.config.languages.map(({ code }) => code);
  }

  kindOf(index) {
    const { kind } = itemOf(this.flow[index]);
    return this.config.kinds[kind] ?? { label: String(kind), fields: [], texts: [], settings: [], parts: [], explanation: "" };
  }

  nameOf(index) {
    return this.kindOf(index).label;
  }

  /** Return what the step says first, for the line below its name. */
  summaryOf(index) {
    const item = itemOf(this.flow[index]);
    const { parts } = this.kindOf(index);
    const condition = item.show_if === undefined ? "" : `${this.words.onlyIf} …`;
    const sizes = parts.map((part) => `${this.store.document[part].length} ${this.words[part].toLowerCase()}`);
    return [summarize(item, this.languages), ...sizes, condition].filter(Boolean).join(" · ");
  }

  draw() {
    const total = this.flow.length;
    this.chosen = Math.min(this.chosen, total - 1);
    this.list.replaceChildren(...this.flow.map((_item, index) => this.drawStep(index)));
    this.count.textContent = fill(this.words.steps, { n: total });
  }

  drawStep(index) {
    const problems = this.findings.filter(({ step, blocks }) => step === index && blocks).length;
    const summary = this.summaryOf(index);
    const isChosen = index === this.chosen && !this.isAway;
    const title = make("button", {
      type: "button", class: "designer-step-title", "data-step": index,
      "aria-current": isChosen ? "step" : undefined,
      on: {
        click: () => this.select(index),
        keydown: (event) => this.press(event, index),
      },
    }, make("b", { text: this.nameOf(index) }), summary ? make("small", { text: summary }) : null);
    const node = make("li", { class: `designer-step${isChosen ? " is-chosen" : ""}`, id: `step-${index + 1}` },
      this.config.mayEdit ? make("span", {
        class: "designer-grip", title: this.words.drag, "aria-hidden": "true", text: "⠿",
        on: { pointerdown: (event) => this.drag(event, node) },
      }) : null,
      title,
      problems ? make("span", {
        class: "designer-errors", text: problems,
        title: fill(problems === 1 ? this.words.problemOne : this.words.problemMany, { n: problems }),
      }, make("span", { class: "visually-hidden", text: ` ${fill(problems === 1 ? this.words.problemOne : this.words.problemMany, { n: problems })}` })) : null);
    return node;
  }

  say(text, values) {
    this.announce.textContent = fill(text, values);
  }

  focus(index = this.chosen) {
    this.list.querySelector(`[data-step="${index}"]`)?.focus();
  }

  // Order

  press(event, index) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    if (event.altKey && this.config.mayEdit) this.move(index, index + by);
    else this.focus(Math.max(0, Math.min(this.flow.length - 1, index + by)));
  }

  move(from, to, { keepFocus = false } = {}) {
    const place = Math.max(0, Math.min(this.flow.length - 1, to));
    if (place !== from) {
      const name = this.nameOf(from);
      this.chosen = place;
      this.store.edit(({ flow }) => flow.splice(place, 0, ...flow.splice(from, 1)));
      this.say(this.words.moved, { name, n: place + 1, total: this.flow.length });
    }
    if (!keepFocus) this.focus(place);
  }

  /** Follow a pointer that holds a step's grip; Escape leaves it where it was. */
  drag(event, node) {
    if (event.button !== 0) return;
    event.preventDefault();
    const grip = event.currentTarget;
    const from = [...this.list.children].indexOf(node);
    const follow = ({ clientY }) => {
      const others = [...this.list.children].filter((other) => other !== node);
      const before = others.filter((other) => {
        const box = other.getBoundingClientRect();
        return clientY > box.top + box.height / 2;
      });
      // Moving the held step itself would end the capture of the pointer.
      others.forEach((other, place) => {
        const isBefore = Boolean(node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING);
        if (place < before.length && !isBefore) node.before(other);
      });
      [...others].reverse().forEach((other) => {
        const isBefore = Boolean(node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING);
        if (!before.includes(other) && isBefore) node.after(other);
      });
    };
    const stop = (isCancelled) => {
      grip.removeEventListener("pointermove", follow);
      grip.removeEventListener("pointerup", finish);
      grip.removeEventListener("pointercancel", cancel);
      removeEventListener("keydown", escape);
      const to = [...this.list.children].indexOf(node);
      node.classList.remove("is-held");
      if (isCancelled || to === from) this.draw();
      else this.move(from, to);
    };
    const finish = () => stop(false);
    const cancel = () => stop(true);
    const escape = (pressed) => { if (pressed.key === "Escape") stop(true); };
    node.classList.add("is-held");
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener("pointermove", follow);
    grip.addEventListener("pointerup", finish);
    grip.addEventListener("pointercancel", cancel);
    addEventListener("keydown", escape);
  }

  // Adding, copying and removing

  buildAdder(place) {
    this.adder = make("button", {
      type: "button", class: "button designer-add", "aria-haspopup": "dialog",
      on: { click: () => this.openMenu() },
    }, make("span", { "aria-hidden": "true", text: "+" }), make("span", { text: this.words.add }));
    place.replaceChildren(this.adder);
  }

  /** The kinds lie over the page, drawn as they open: nothing that is saved meanwhile takes the focus. */
  openMenu() {
    const { words } = this;
    const search = make("input", {
      type: "search", class: "flow-input", autocomplete: "off", on: { input: () => this.drawMenu(search.value) },
    });
    this.kinds = make("div", { class: "designer-kinds" });
    this.menu = this.questionLibrary.open(words.addStep, labeled(words.searchSteps, search), this.kinds);
    this.drawMenu("");
    search.focus();
  }

  drawMenu(wanted) {
    const { words, config } = this;
    const says = (...texts) => plain(wanted.trim()).split(/\s+/).every((word) => plain(texts.join(" ")).includes(word));
    const parts = config.menu.map(({ heading, kinds }) => {
      const found = kinds.filter((name) => says(heading, config.kinds[name].label, config.kinds[name].explanation));
      return found.length ? make("div", { class: "flow-menu-part", role: "group", "aria-label": heading },
        make("h3", { text: heading }), ...found.map((name) => this.drawChoice(name))) : null;
    }).filter(Boolean);
    const fromLibrary = says(words.fromLibrary, words.fromLibraryHelp) ? make("button", {
      type: "button", class: "flow-choice", on: { click: () => { this.menu.close(); this.questionLibrary.choose(); } },
    }, make("b", { text: words.fromLibrary }), make("span", { text: words.fromLibraryHelp })) : null;
    const none = parts.length || fromLibrary ? null : make("p", { class: "flow-help", role: "status", text: words.noStep });
    this.kinds.replaceChildren(...[fromLibrary, ...parts, none].filter(Boolean));
  }

  isTaken(name) {
    return this.config.kinds[name].once && this.flow.some((item) => itemOf(item).kind === name);
  }

  drawChoice(name) {
    const kind = this.config.kinds[name];
    const isTaken = this.isTaken(name);
    const button = make("button", {
      type: "button", class: "flow-choice", on: { click: () => this.add(name) },
    }, make("b", { text: kind.label }), make("span", { text: isTaken ? this.words.once : kind.explanation }));
    button.disabled = isTaken;
    return button;
  }

  listNames() {
    return this.flow.map((item) => itemOf(item).key).filter(Boolean);
  }

  /** Where a new step of a kind fits: behind what it follows, before what it precedes, else last. */
  placeOf(name) {
    const { after, before } = this.config.kinds[name];
    const kinds = this.flow.map((item) => itemOf(item).kind);
    const start = kinds.findLastIndex((kind) => after.includes(kind)) + 1;
    const end = kinds.findIndex((kind, index) => index >= start && before.includes(kind));
    return end < 0 ? kinds.length : end;
  }

  add(name) {
    // Redone, or added by somebody else, since the menu was opened.
    if (this.isTaken(name)) {
      this.drawMenu("");
      return;
    }
    const kind = this.config.kinds[name];
    let item = name;
    if (kind.content) {
      item = { kind: name, ...translateDefaults(structuredClone(kind.content), this.languages) };
      if (kind.needsName || kind.isCheck) item.key = uniqueName(name.replaceAll("_", "-"), this.listNames());
    }
    const place = this.placeOf(name);
    this.chosen = place;
    this.menu.close();
    this.store.edit(({ flow }) => flow.splice(place, 0, item));
    this.select(place, { intoEditor: true });
    this.say(this.words.added, { name: kind.label, n: place + 1 });
  }

  copy(index) {
    const item = structuredClone(this.flow[index]);
    if (item.key) item.key = uniqueName(item.key.replace(/-\d+$/, ""), this.listNames());
    this.chosen = index + 1;
    this.store.edit(({ flow }) => flow.splice(index + 1, 0, item));
    this.select(index + 1, { intoEditor: true });
    this.say(this.words.copied, { name: this.nameOf(index + 1), n: index + 2 });
  }

  remove(index) {
    const name = this.nameOf(index);
    this.chosen = Math.max(0, Math.min(index, this.flow.length - 2));
    this.store.edit(({ flow }) => flow.splice(index, 1));
    this.select(this.chosen);
    this.focus();
    this.say(this.words.removed, { name });
  }

  /** Return what stands before a step, for its condition to compare with. */
  listSources(index) {
    const { words, config, languages } = this;
    const before = this.flow.slice(0, index).map(itemOf);
    const sources = [];
    before.forEach((item, place) => {
      const kind = this.kindOf(place);
      if (!kind.isCheck && !kind.isNumber && !item.options) return;
      const text = summarize(item, languages);
      const outline = this;
      sources.push({
        source: "step",
        number: kind.isNumber,
        get name() { return item.key ?? itemOf(outline.flow[place]).key; },
        ensureName() {
          if (item.key) return;
          item.key = uniqueName(item.kind.replaceAll("_", "-"), outline.listNames());
          outline.flow[place] = item;
        },
        number: kind.isNumber,
        label: `${place + 1}. ${text ? `“${text.slice(0, 60)}”` : kind.label}`,
        values: kind.isCheck ? config.results : (item.options ?? []).map(
          (option) => ({ value: option.value, label: option.text[languages[0]] || option.value }),
        ),
      });
    });
    if (before.some(({ kind }) => config.kinds[kind]?.parts.includes("questions"))) {
      for (const question of this.store.document.questions) {
        sources.push({
          source: "question", name: question.slug, label: question.label,
          number: question.kind === "number",
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
        values: config.languages.map(({ code, name }) => ({ value: code, label: name })),
      });
    }
    return sources;
  }
}

/** New steps begin with English texts; an instrument in another language begins with its own. */
function translateDefaults(content, languages) {
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
