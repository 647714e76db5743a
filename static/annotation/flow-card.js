// One step as a card: its place, what it says, its controls, and what is wrong with it.
import { ConditionControl } from "./flow-conditions.js";
import { config } from "./flow-config.js";
import { fill, iconButton, labelled, make, newId, uniqueName } from "./flow-dom.js";
import { buildFields, summarise } from "./flow-fields.js";

const { words, kinds, languages } = config;

/** One step. `data` is its object; a step that is nothing but a kind is sent as a text. */
export class Card {
  constructor(editor, item) {
    this.editor = editor;
    this.data = typeof item === "object" && item !== null ? item : { kind: String(item) };
    this.kind = kinds[this.data.kind]
      ?? { label: this.data.kind, explanation: "", fields: [], conditional: true };
    this.build();
  }

  get item() {
    return Object.keys(this.data).length === 1 ? this.data.kind : this.data;
  }

  get name() {
    return this.kind.label;
  }

  build() {
    const bodyId = newId();
    this.summary = make("span", { class: "flow-summary" });
    this.grip = make("span", { class: "flow-grip", title: words.drag, "aria-hidden": "true", text: "⠿" });
    this.number = make("input", {
      type: "number", class: "flow-number", min: 1, "aria-label": fill(words.place, { name: this.name }),
      on: {
        change: () => this.editor.move(this, Number(this.number.value) - 1, this.number),
        // Enter moves the step; it does not send the form.
        keydown: (event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          this.editor.move(this, Number(this.number.value) - 1, this.number);
        },
      },
    });
    this.title = make("button", {
      type: "button", class: "flow-title", "aria-expanded": "false", "aria-controls": bodyId,
      on: { click: () => this.toggle() },
    }, make("b", { text: this.name }), this.summary);
    this.up = iconButton("↑", fill(words.up, { name: this.name }),
      () => this.editor.move(this, this.editor.cards.indexOf(this) - 1, this.up));
    this.down = iconButton("↓", fill(words.down, { name: this.name }),
      () => this.editor.move(this, this.editor.cards.indexOf(this) + 1, this.down));
    this.off = iconButton("×", fill(words.remove, { name: this.name }), () => this.editor.remove(this));
    this.body = make("div", { class: "flow-body", id: bodyId, hidden: true });
    this.problems = make("ul", { class: "flow-problems", hidden: true, id: newId() });
    this.node = make("li", { class: "flow-card" },
      make("div", { class: "flow-head" }, this.grip, this.number, this.title,
        make("span", { class: "flow-tools" }, this.up, this.down, this.off)),
      this.problems, this.body);
    this.grip.addEventListener("pointerdown", (event) => this.editor.drag(this, event));
  }

  get isOpen() {
    return !this.body.hidden;
  }

  toggle(open = !this.isOpen) {
    this.body.hidden = !open;
    this.title.setAttribute("aria-expanded", String(open));
    this.node.classList.toggle("is-open", open);
    if (open) this.fillBody();
    this.editor.markProblems();
  }

  fillBody() {
    const changed = () => { this.refreshSummary(); this.editor.changed(); };
    this.key = make("input", {
      type: "text", class: "flow-input flow-name", value: this.data.key ?? "", spellcheck: "false",
      "data-field": "key",
      on: {
        input: () => {
          if (this.key.value) this.data.key = this.key.value;
          else delete this.data.key;
          changed();
        },
      },
    });
    this.condition = this.kind.conditional ? new ConditionControl(this.data, config, {
      listSources: () => this.editor.listSources(this), changed,
    }) : null;
    this.body.replaceChildren(
      make("p", { class: "flow-help", text: this.kind.explanation }),
      ...buildFields(this.data, this.kind.fields, config, changed),
      labelled(words.dataName, this.key),
      ...(this.condition ? [this.condition.node] : []),
    );
  }

  ensureName() {
    if (this.data.key) return;
    this.data.key = uniqueName(this.data.kind.replaceAll("_", "-"), this.editor.listNames());
    if (this.isOpen) this.key.value = this.data.key;
  }

  refreshSummary() {
    const text = summarise(this.data, languages);
    const missing = this.kind.fields.length && !text ? words.noText : text;
    const condition = this.data.show_if === undefined ? "" : ` · ${words.onlyIf} …`;
    this.summary.textContent = `${missing}${condition}`;
  }

  refresh(index, total) {
    this.number.value = index + 1;
    this.number.max = total;
    // Not `disabled`: the button that was pressed last keeps the focus.
    this.up.setAttribute("aria-disabled", String(index === 0));
    this.down.setAttribute("aria-disabled", String(index === total - 1));
    this.refreshSummary();
  }

  showProblems(texts) {
    this.problems.replaceChildren(...texts.map(({ text }) => make("li", { text })));
    this.problems.hidden = texts.length === 0;
    this.node.classList.toggle("is-wrong", texts.length > 0);
    for (const control of this.body.querySelectorAll("[data-field]")) {
      const wrong = texts.some(({ field }) => field === control.dataset.field);
      if (wrong) {
        control.setAttribute("aria-invalid", "true");
        control.setAttribute("aria-describedby", this.problems.id);
      } else {
        control.removeAttribute("aria-invalid");
        control.removeAttribute("aria-describedby");
      }
    }
  }
}
