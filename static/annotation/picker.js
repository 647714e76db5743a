// Chooses many out of a long list: chips for what is chosen, a search, and whole sets at once.
// In a form it stands for its checkboxes, which remain what is sent and what is there without script.
import { fill, make, newId } from "./flow-dom.js";

const MOST_SHOWN = 60;
const SMALLEST_SET_CHIP = 5;

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

export class Picker {
  /**
   * entries : `{ value, label, note }` in their order; sets and categories : `{ label, values }`
   * chosen : values in their order; changed(values) is called after each change
   * create(name) : makes a new entry of what was typed; edit(value) : opens an entry
   */
  constructor(host, options) {
    Object.assign(this, { sets: [], categories: [], isDisabled: false }, options, { host });
    this.chosen = [...this.chosen];
    this.open = new Set();
    this.active = -1;
    const listId = newId();
    this.chips = make("ul", { class: "picker-chips", "aria-label": this.label });
    this.input = make("input", {
      type: "text", class: "picker-input", id: newId(), role: "combobox", autocomplete: "off",
      spellcheck: "false", "aria-autocomplete": "list", "aria-expanded": "false",
      "aria-controls": listId, "aria-label": `${this.label}: ${this.words.search}`,
      placeholder: this.words.search, "data-field": this.field,
      on: {
        input: () => this.search(),
        focus: () => this.search(),
        keydown: (event) => this.press(event),
        blur: () => this.close(),
      },
    });
    this.list = make("ul", { class: "picker-list", id: listId, role: "listbox", hidden: true, "aria-label": this.label });
    this.all = make("div", { class: "picker-all" });
    this.status = make("p", { class: "visually-hidden", role: "status" });
    this.box = make("div", { class: "picker-box" }, this.chips, this.input);
    host.replaceChildren(this.box, this.list, this.all, this.status);
    this.input.disabled = this.isDisabled;
    this.draw();
  }

  get byValue() {
    return new Map(this.entries.map((entry) => [entry.value, entry]));
  }

  labelOf(value) {
    return this.byValue.get(value)?.label ?? value;
  }

  /** Return the sets that are chosen as a whole and shown as one chip each, the largest first. */
  get wholeSets() {
    const chosen = new Set(this.chosen);
    const covered = new Set();
    return [...this.sets].sort((one, other) => other.values.length - one.values.length).filter((set) => {
      const isWhole = set.values.length >= SMALLEST_SET_CHIP && !this.open.has(set.label)
        && set.values.every((value) => chosen.has(value) && !covered.has(value));
      if (isWhole) set.values.forEach((value) => covered.add(value));
      return isWhole;
    });
  }

  // What is chosen

  set(values, said = "") {
    this.chosen = values;
    this.draw();
    this.changed([...values]);
    this.status.textContent = `${said} ${fill(this.words.chosen, { n: values.length })}`.trim();
  }

  add(values, said = "") {
    this.set([...new Set([...this.chosen, ...values])], said);
  }

  drop(values, said = "") {
    this.set(this.chosen.filter((value) => !values.includes(value)), said);
  }

  draw() {
    const whole = this.wholeSets;
    const covered = new Set(whole.flatMap(({ values }) => values));
    const chips = [
      ...whole.map((set) => this.drawChip(`${set.label}, ${set.values.length}`, set.values, () => {
        this.open.add(set.label);
        this.draw();
      }, "is-set")),
      ...this.chosen.filter((value) => !covered.has(value)).map((value) => this.drawChip(
        this.labelOf(value), [value], this.edit ? () => this.edit(value) : null)),
    ];
    this.chips.replaceChildren(...chips);
    this.all.replaceChildren(...(this.isDisabled || !this.categories.length ? [] : [
      make("span", { text: this.words.selectAllOf }),
      ...this.categories.filter(({ values }) => values.length).map((category) => this.drawCategory(category)),
    ]));
  }

  drawChip(label, values, opened, look = "") {
    return make("li", { class: `picker-chip ${look}` },
      opened ? make("button", { type: "button", class: "picker-name", text: label, on: { click: opened } })
        : make("span", { class: "picker-name", text: label }),
      this.isDisabled ? null : make("button", {
        type: "button", class: "picker-off", "aria-label": fill(this.words.remove, { name: label }), text: "×",
        on: {
          click: () => {
            this.drop(values, fill(this.words.removed, { name: label }));
            this.input.focus();
            this.close();
          },
        },
      }));
  }

  drawCategory({ label, values }) {
    const isWhole = values.every((value) => this.chosen.includes(value));
    return make("button", {
      type: "button", class: "picker-category", "aria-pressed": String(isWhole), text: label,
      on: {
        click: () => {
          if (isWhole) this.drop(values);
          else this.add(values);
          [...this.all.querySelectorAll("button")].find((one) => one.textContent === label)?.focus();
        },
      },
    });
  }

  // The list that opens below the search

  search() {
    const wanted = plain(this.input.value.trim());
    const matches = ({ label }) => plain(label).includes(wanted);
    const found = this.entries.filter(matches).sort((one, other) => (
      Number(plain(other.label).startsWith(wanted)) - Number(plain(one.label).startsWith(wanted))
    ));
    const whole = [...this.sets, ...this.categories].filter(matches);
    this.offers = [
      ...whole.map((set) => ({
        label: fill(this.words.allOf, { name: set.label, n: set.values.length }),
        note: "", take: () => this.add(set.values, set.label),
      })),
      ...found.slice(0, MOST_SHOWN).map((entry) => {
        const isChosen = this.chosen.includes(entry.value);
        return {
          label: entry.label, isChosen, note: isChosen ? this.words.alreadyChosen : entry.note ?? "",
          take: () => (isChosen ? this.drop([entry.value], fill(this.words.removed, { name: entry.label }))
            : this.add([entry.value], entry.label)),
        };
      }),
    ];
    const typed = this.input.value.trim();
    if (this.create && typed && !found.some(({ label }) => plain(label) === wanted)) {
      this.offers.push({
        label: fill(this.words.addGroup, { name: typed }), note: "", take: () => this.create(typed),
      });
    }
    this.active = wanted && this.offers.length ? 0 : -1;
    this.drawOffers();
  }

  drawOffers() {
    const typed = this.input.value.trim();
    const nodes = this.offers.map((offer, index) => make("li", {
      role: "option", id: `${this.list.id}-${index}`, class: "picker-offer",
      "aria-selected": String(index === this.active),
      on: {
        // The search keeps the focus.
        pointerdown: (event) => event.preventDefault(),
        click: () => this.take(index),
      },
    }, make("span", { text: `${offer.isChosen ? "✓ " : ""}${offer.label}` }),
      offer.note ? make("small", { text: offer.note }) : null));
    if (!nodes.length && typed) {
      nodes.push(make("li", {
        class: "picker-none", role: "option", "aria-disabled": "true", "aria-selected": "false",
        text: fill(this.words.noneFound, { name: typed }),
      }));
    }
    this.list.replaceChildren(...nodes);
    const isOpen = nodes.length > 0 && document.activeElement === this.input;
    this.list.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", String(isOpen));
    if (this.active >= 0) this.input.setAttribute("aria-activedescendant", `${this.list.id}-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
    this.list.children[this.active]?.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  take(index) {
    const offer = this.offers[index];
    this.input.value = "";
    offer.take();
    if (!this.list.hidden) this.search();
  }

  press(event) {
    const last = (this.offers?.length ?? 0) - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (this.list.hidden) this.search();
      const by = event.key === "ArrowDown" ? 1 : -1;
      this.active = Math.max(0, Math.min(this.offers.length - 1, this.active + by));
      this.drawOffers();
    } else if (event.key === "Enter") {
      event.preventDefault(); // it does not send the form
      if (!this.list.hidden && this.active >= 0 && this.active <= last) this.take(this.active);
    } else if (event.key === "Escape" && !this.list.hidden) {
      event.stopPropagation();
      this.close();
    } else if (event.key === "Backspace" && !this.input.value && this.chosen.length) {
      const value = this.chosen.at(-1);
      this.drop([value], fill(this.words.removed, { name: this.labelOf(value) }));
      this.close();
    }
  }
}
