// The editor of the chosen step: its own texts, answers, groups, settings, and when it is shown.
import { ConditionControl } from "./flow-conditions.js";
import { fill, make, newId } from "./flow-dom.js";
import { buildFields, summarize } from "./flow-fields.js";
import { groupsPart } from "./designer-groups.js";
import { itemOf } from "./designer-outline.js";
import { questionsPart } from "./designer-questions.js";
import { scalesPart } from "./designer-scales.js";

const PARTS = { groups: groupsPart, scales: scalesPart, questions: questionsPart };

export class StepEditor {
  constructor(store, config, outline, { node, library, questionLibrary }) {
    Object.assign(this, { store, config, outline, node, library, questionLibrary, words: config.words });
  }

  get index() {
    return this.outline.chosen;
  }

  get fieldConfig() {
    return { ...this.config, languages: this.outline.languages, renamed: (from, to) => this.renameAnswer(from, to) };
  }

  /** The conditions of other steps name this step's answers: a new name goes there, too. */
  renameAnswer(from, to) {
    const { key } = this.data;
    const walk = (part) => {
      if (part === null || typeof part !== "object") return;
      if (key && part.step === key) {
        if (part.is === from) part.is = to;
        if (Array.isArray(part.any_of)) part.any_of = part.any_of.map((one) => (one === from ? to : one));
      }
      Object.values(part).forEach(walk);
    };
    this.outline.flow.forEach((item) => walk(item.show_if));
  }

  /** Take note of an edit; what belongs together is undone together. */
  changed(mark) {
    this.store.touch(`${this.index} ${mark}`);
  }

  draw({ focus = false } = {}) {
    const { index, outline, words, config } = this;
    const kind = outline.kindOf(index);
    this.data = itemOf(outline.flow[index]);
    const changed = () => {
      const { flow } = this.store.document;
      flow[index] = Object.keys(this.data).length === 1 ? this.data.kind : this.data;
      this.changed(document.activeElement?.dataset?.field ?? "field");
    };
    const name = kind.label;
    const parts = [
      make("div", { class: "designer-step-head" },
        make("h2", { tabindex: "-1", text: name }),
        config.mayEdit ? make("div", { class: "buttons" },
          this.button("↑", fill(words.up, { name }), () => outline.move(index, index - 1, { keepFocus: true }), index === 0),
          this.button("↓", fill(words.down, { name }), () => outline.move(index, index + 1, { keepFocus: true }), index === outline.flow.length - 1),
          kind.once ? null : make("button", { type: "button", class: "button", text: words.duplicate, on: { click: () => outline.copy(index) } }),
          make("button", { type: "button", class: "button bad", text: words.delete, "aria-label": fill(words.remove, { name }), on: { click: () => outline.remove(index) } })) : null),
      make("p", { class: "flow-help", text: kind.explanation }),
      this.problems = make("ul", { class: "designer-problems", hidden: true }),
      ...this.buildTexts(kind),
      ...buildFields(this.data, kind.fields, this.fieldConfig, changed),
      ...kind.parts.flatMap((part) => PARTS[part](this)),
      ...this.buildSettings(kind),
    ];
    if (kind.conditional) {
      this.condition = new ConditionControl(this.data, this.fieldConfig, {
        listSources: () => outline.listSources(index), changed,
      });
      parts.push(this.condition.node);
    }
    if (kind.needsName || kind.isCheck || this.data.key) parts.push(this.buildName(changed));
    const keep = kind.content ? this.questionLibrary.keepButton(
      () => summarize(this.data, outline.languages) || name, () => ({ step: this.index })) : null;
    const body = make("fieldset", { class: "designer-body", disabled: !config.mayEdit }, ...parts);
    // A version that nobody can change can still be learned from.
    this.node.replaceChildren(body, ...(keep ? [make("p", { class: "designer-keep" }, keep)] : []));
    this.markProblems();
    if (focus) {
      const first = body.querySelector("textarea:not(:disabled), input[type=text]:not(:disabled)");
      (first ?? body.querySelector("h2")).focus();
    }
  }

  button(symbol, label, listener, isOff = false) {
    return make("button", {
      type: "button", class: "flow-icon", "aria-label": label, title: label, text: symbol,
      "aria-disabled": isOff ? "true" : undefined, on: { click: listener },
    });
  }

  /** Texts of the instrument that are read at this kind of step, in every language. */
  buildTexts(kind) {
    if (!kind.texts.length) return [];
    const { texts, language: own } = this.store.document;
    const { languages } = this.outline;
    const data = Object.fromEntries(kind.texts.map(({ key }) => [key, Object.fromEntries(
      languages.map((code) => [code, texts[code]?.[key] ?? ""]),
    )]));
    const fields = kind.texts.map(({ key, label, type }) => ({ name: key, label, type }));
    return buildFields(data, fields, this.fieldConfig, () => {
      for (const { key } of kind.texts) {
        for (const code of languages) {
          const text = data[key]?.[code] ?? "";
          texts[code] ??= {};
          if (text || code === own) texts[code][key] = text;
          else delete texts[code][key];
        }
      }
      this.changed(document.activeElement?.dataset?.field ?? "text");
    });
  }

  /** Settings of the instrument that belong to this kind of step. */
  buildSettings(kind) {
    if (!kind.settings.length) return [];
    const { settings } = this.store.document;
    const controls = buildFields(settings, kind.settings, this.fieldConfig,
      () => this.changed(document.activeElement?.dataset?.field ?? "setting"));
    controls.forEach((node, place) => {
      const { help, name, step } = kind.settings[place];
      const control = node.querySelector("[data-field]");
      control.dataset.field = `settings ${name}`;
      if (step) control.step = step;
      if (!help) return;
      const described = make("p", { class: "flow-help", id: newId(), text: help });
      control.setAttribute("aria-describedby", described.id);
      node.after(described);
      controls[place] = make("div", { class: "flow-field" }, node, described);
    });
    return [make("fieldset", { class: "designer-settings" },
      make("legend", { class: "flow-label", text: kind.parts.length ? this.words.shared : this.words.checks }), ...controls)];
  }

  buildName(changed) {
    const id = newId();
    const input = make("input", {
      type: "text", class: "flow-input flow-name", id, value: this.data.key ?? "", spellcheck: "false",
      "data-field": "key",
      on: {
        input: () => {
          if (input.value) this.data.key = input.value;
          else delete this.data.key;
          changed();
        },
      },
    });
    const box = make("input", {
      type: "checkbox",
      on: { change: () => this.node.classList.toggle("shows-names", box.checked) },
    });
    box.checked = this.node.classList.contains("shows-names");
    return make("div", { class: "flow-field" },
      make("label", { class: "flow-flag" }, box, make("span", { text: this.words.showNames })),
      make("div", { class: "flow-field flow-own-name" }, make("label", { for: id, class: "flow-label", text: this.words.dataName }), input));
  }

  // What is wrong

  markProblems() {
    const found = this.outline.findings.filter(({ step }) => step === this.index);
    const body = this.node;
    // Others belong to the parts of the page that are asked by hand, such as a new scale.
    for (const old of body.querySelectorAll(".designer-problem.is-of-field")) old.remove();
    for (const control of body.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
    const general = [];
    for (const { text, short, field, blocks } of found) {
      const controls = [...body.querySelectorAll("[data-field]")].filter((one) => one.dataset.field === field);
      const control = controls.find((one) => !one.value) ?? controls[0];
      if (!control || !blocks) {
        general.push(make("li", { class: blocks ? "" : "is-thought", text }));
        continue;
      }
      if (control.classList.contains("flow-name")) body.classList.add("shows-names");
      const problem = make("p", { class: "designer-problem is-of-field", id: newId(), text: short });
      control.setAttribute("aria-invalid", "true");
      control.setAttribute("aria-describedby", problem.id);
      (control.closest(".flow-row, .flow-language, .picker-box, .flow-flag, .flow-comparison") ?? control).after(problem);
    }
    this.problems?.replaceChildren(...general);
    if (this.problems) this.problems.hidden = general.length === 0;
  }

  /** Show what the server could not store beside the fields, by path. */
  markRefused(problems) {
    for (const [path, text] of Object.entries(problems)) {
      const control = [...this.node.querySelectorAll("[data-field]")].find((one) => path.startsWith(one.dataset.field));
      if (!control) continue;
      const problem = make("p", { class: "designer-problem is-of-field", id: newId(), text });
      control.setAttribute("aria-invalid", "true");
      control.setAttribute("aria-describedby", problem.id);
      (control.closest(".picker-box") ?? control).after(problem);
    }
  }

  /** Open the control whose text was clicked in the preview. */
  findText(clicked) {
    const words = squeeze(clicked);
    const controls = [...this.node.querySelectorAll("textarea, input[type=text], .picker-name, [data-says]")];
    const says = (node) => squeeze(node.dataset.says ?? node.value ?? node.textContent);
    const exact = controls.find((node) => says(node) === words);
    const within = controls.find((node) => matches(says(node), words));
    const target = exact ?? within ?? controls[0];
    if (!target) return;
    target.closest("details")?.setAttribute("open", "");
    (target.matches("[data-says]") ? target.querySelector("button, input") ?? target : target).focus();
    target.scrollIntoView({ block: "center" });
  }
}

/** Return a text without its marks of Markdown and without white space that does not show. */
function squeeze(text) {
  return text.replace(/[*_#>[\]`]/g, "").replace(/\s+/g, " ").trim().toLowerCase();
}

/** Whether what was clicked is, or is part of, a text in which {group} and the like are filled in. */
function matches(text, clicked) {
  if (!text || !clicked) return false;
  if (text.includes(clicked)) return true;
  const pattern = text.split(/\{[a-z_]+\}/).map((part) => part.replace(/[.*+?^${}()|\\/]/g, "\\$&")).join(".*");
  return pattern !== text && new RegExp(`^${pattern}$`).test(clicked);
}
