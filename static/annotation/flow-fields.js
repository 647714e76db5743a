// The controls of a step's content: texts by language, switches, answers, practice lines.
import { fill, iconButton, labeled, make, newId, slugify, uniqueName } from "./flow-dom.js";

const NAMES = typeof Intl.DisplayNames === "function"
  ? new Intl.DisplayNames(undefined, { type: "language" }) : null;

function languageName(code) {
  try {
    return NAMES?.of(code) ?? code;
  } catch {
    return code;
  }
}

/** Return the controls of `data`'s content; `changed` is called after each edit. */
export function buildFields(data, fields, config, changed) {
  return fields.map((field) => {
    switch (field.type) {
      case "text":
      case "paragraph":
        return textField(data, field, config, changed);
      case "flag":
        return flagField(data, field, changed);
      case "number":
        return numberField(data, field, changed);
      case "select":
        return selectField(data, field, changed);
      case "media":
        return new MediaField(data, field, config, changed).node;
      case "options":
        return new OptionsField(data, field, config, changed).node;
      default:
        return new LinesField(data, field, config, changed).node;
    }
  });
}

/** Return what a step says first, in the first language that has it; "" for none. */
export function summarize(data, languages) {
  const texts = data.question ?? data.title ?? {};
  for (const language of [...languages, ...Object.keys(texts)]) {
    if (texts[language]?.trim()) return texts[language].trim();
  }
  return "";
}

/** One control for each language, under one label. */
function textInputs(texts, { field, label, long, languages, changed, example }) {
  const several = languages.length > 1;
  return languages.map((language) => {
    const control = make(long ? "textarea" : "input", {
      class: "flow-input", lang: language, value: texts[language] ?? "", "data-field": field,
      "aria-label": several ? `${label}, ${languageName(language)}` : label,
      placeholder: example?.(language),
      ...(long ? { rows: 3 } : { type: "text" }),
      on: {
        input: () => {
          if (control.value) texts[language] = control.value;
          else delete texts[language];
          changed(language);
        },
      },
    });
    if (!several) return control;
    return make("div", { class: "flow-language" },
      make("span", { class: "flow-code", text: language, title: languageName(language) }), control);
  });
}

/** Return what an empty text of an own question could say, by language; `part` finds it in a sample. */
function exampleOf(data, { kinds, words }, part) {
  const sample = part(kinds?.[data.kind]?.example ?? {});
  return (language) => (sample?.[language] ? fill(words.example, { text: sample[language] }) : undefined);
}

function textField(data, field, config, changed) {
  const { languages } = config;
  const texts = data[field.name] ?? {};
  const edited = () => {
    if (Object.keys(texts).length || !field.optional) data[field.name] = texts;
    else delete data[field.name];
    changed();
  };
  const inputs = textInputs(texts, {
    field: field.name, label: field.label, long: field.type === "paragraph", languages,
    changed: edited, example: exampleOf(data, config, (sample) => sample[field.name]),
  });
  return make("div", { class: "flow-field", role: "group" },
    make("span", { class: "flow-label", text: field.label }), ...inputs,
    field.help ? make("p", { class: "flow-help", text: field.help }) : null);
}

function flagField(data, field, changed) {
  const control = make("input", {
    type: "checkbox", checked: data[field.name] ?? field.default, "data-field": field.name,
    on: { change: () => { data[field.name] = control.checked; changed(); } },
  });
  return make("label", { class: "flow-flag" }, control, make("span", { text: field.label }));
}

function numberField(data, field, changed) {
  const control = make("input", {
    type: "number", class: "flow-input flow-short", min: field.low, max: field.high,
    value: data[field.name] ?? field.default, "data-field": field.name,
    on: {
      input: () => {
        data[field.name] = control.value === "" ? null : Number(control.value);
        changed();
      },
    },
  });
  return labeled(field.label, control);
}

function selectField(data, field, changed) {
  const control = make("select", {
    class: "flow-input", "data-field": field.name,
    on: { change: () => { data[field.name] = control.value; changed(); } },
  }, ...field.options.map(([value, text]) => make("option", { value, text })));
  control.value = data[field.name] ?? field.default;
  return labeled(field.label, control);
}

/** A picture or sound of the study, chosen from its files or uploaded, with what it is in words. */
class MediaField {
  constructor(data, field, config, changed) {
    Object.assign(this, { data, field, config, changed });
    this.select = make("select", {
      class: "flow-input", "data-field": `${field.name} file`, "aria-label": field.label,
      on: { change: () => this.choose(this.select.value) },
    });
    this.file = make("input", {
      type: "file", accept: "image/*,audio/*", class: "visually-hidden", tabindex: -1,
      "aria-hidden": "true", on: { change: () => this.upload() },
    });
    this.button = make("button", {
      type: "button", class: "button", text: field.words.upload,
      on: { click: () => this.file.click() },
    });
    this.said = make("p", { class: "flow-help", role: "status" });
    this.alt = make("div", { class: "flow-alt" });
    this.node = make("div", { class: "flow-field", role: "group", "aria-label": field.label },
      make("span", { class: "flow-label", text: field.label }),
      this.select, this.button, this.file, this.said, this.alt);
    this.list([]);
    this.drawAlt();
    // Those who may not add files still see which one is chosen.
    fetch(MediaField.address).then((answer) => answer.json())
      .then(({ files }) => this.list(files)).catch(() => {});
  }

  static get address() {
    return new URL("../files.json", location.href);
  }

  get chosen() {
    return this.data[this.field.name]?.file ?? "";
  }

  list(files) {
    this.files = files;
    const unknown = this.chosen && !files.some(({ file }) => file === this.chosen);
    this.select.replaceChildren(make("option", { value: "", text: this.field.words.none }),
      ...files.map(({ file, name }) => make("option", { value: file, text: name })),
      ...(unknown ? [make("option", { value: this.chosen, text: this.chosen.slice(0, 12) })] : []));
    this.select.value = this.chosen;
  }

  choose(file) {
    const { name } = this.field;
    if (file) this.data[name] = { file, alt: this.data[name]?.alt ?? {} };
    else delete this.data[name];
    this.drawAlt();
    this.changed();
  }

  drawAlt() {
    const { field, config } = this;
    this.alt.replaceChildren(...(this.chosen ? [
      make("span", { class: "flow-label", text: field.words.alt }),
      ...textInputs(this.data[field.name].alt, {
        field: `${field.name} alt`, label: field.words.alt, languages: config.languages,
        changed: () => this.changed(),
      }),
      make("p", { class: "flow-help", text: field.words.help }),
    ] : []));
  }

  async upload() {
    const { words } = this.field;
    const [file] = this.file.files;
    if (!file) return;
    this.said.textContent = words.uploading;
    const body = new FormData();
    body.append("file", file);
    body.append("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    try {
      const answer = await fetch(MediaField.address, { method: "POST", body });
      const found = await answer.json();
      this.said.textContent = found.problem ?? "";
      if (found.problem) return;
      this.choose(found.file);
      this.list([...this.files.filter((one) => one.file !== found.file), found]);
    } catch {
      this.said.textContent = words.failed;
    } finally {
      this.file.value = "";
    }
  }
}

/** A list of rows that are added, removed and put in order. */
class Rows {
  constructor(data, field, config, changed) {
    Object.assign(this, { data, field, config, changed });
    this.data[field.name] ??= [];
    this.list = make("ol", { class: "flow-rows" });
    this.adder = make("button", {
      type: "button", class: "button", text: this.addLabel, on: { click: () => this.add() },
    });
    this.node = make("div", { class: "flow-field", role: "group", "aria-label": field.label },
      make("span", { class: "flow-label", text: field.label }), this.list, this.adder);
    this.draw();
  }

  get rows() {
    return this.data[this.field.name];
  }

  draw(focusAt = null, selector = "input") {
    this.list.replaceChildren(...this.rows.map((row, index) => this.drawRow(row, index)));
    this.adder.disabled = this.rows.length >= this.most;
    if (focusAt !== null) {
      const row = this.list.children[Math.min(focusAt, this.rows.length - 1)];
      (row?.querySelector(selector) ?? this.adder).focus();
    }
  }

  add() {
    this.rows.push(this.newRow());
    this.draw(this.rows.length - 1);
    this.changed();
  }

  remove(index) {
    this.rows.splice(index, 1);
    this.draw(index);
    this.changed();
  }

  move(index, by) {
    const to = index + by;
    if (to < 0 || to >= this.rows.length) return;
    this.rows.splice(to, 0, ...this.rows.splice(index, 1));
    this.draw(to, by < 0 ? "[data-up]" : "[data-down]");
    this.changed();
  }

  tools(index) {
    const { words } = this.config;
    const name = `${this.field.label} ${index + 1}`;
    const named = (text) => text.replace("{name}", name);
    return make("span", { class: "flow-tools" },
      iconButton("↑", named(words.up), () => this.move(index, -1),
        { "data-up": true, "aria-disabled": index === 0 ? "true" : undefined }),
      iconButton("↓", named(words.down), () => this.move(index, 1),
        { "data-down": true, "aria-disabled": index === this.rows.length - 1 ? "true" : undefined }),
      iconButton("×", named(words.remove), () => this.remove(index)));
  }
}

class OptionsField extends Rows {
  get most() {
    return this.field.most ?? this.config.mostOptions;
  }

  get addLabel() {
    return this.field.add ?? this.config.words.addAnswer;
  }

  newRow() {
    const value = uniqueName("answer", this.rows.map((row) => row.value));
    const row = { value, text: {} };
    this.automatic ??= this.findAutomatic();
    this.automatic.add(row);
    return row;
  }

  /** Return the rows whose names come from their texts, or from the sample, not from the researcher. */
  findAutomatic() {
    const { languages, keepsNames, kinds } = this.config;
    const textOf = (row) => row.text[languages[0]] ?? "";
    const sample = kinds[this.data.kind].content[this.field.name];
    const isMade = (row) => {
      const base = uniqueName(slugify(textOf(row)), []);
      return row.value.replace(/-\d+$/, "") === base.replace(/-\d+$/, "")
        || sample.some((one) => one.value === row.value && textOf(one) === textOf(row));
    };
    return new WeakSet(keepsNames ? [] : this.rows.filter(isMade));
  }

  drawRow(row, index) {
    const { words, languages } = this.config;
    this.automatic ??= this.findAutomatic();
    const place = `${this.field.name} ${index + 1}`;
    const name = make("input", {
      type: "text", class: "flow-input flow-name", value: row.value, spellcheck: "false",
      "aria-label": `${this.field.label} ${index + 1}, ${words.dataName}`, title: words.dataName,
      "data-field": `${place} value`,
      on: {
        input: () => {
          this.automatic.delete(row);
          this.rename(row, name.value);
          this.changed();
        },
      },
    });
    const inputs = textInputs(row.text, {
      field: `${place} text`, label: `${this.field.label} ${index + 1}`, languages,
      example: exampleOf(this.data, this.config, (sample) => sample[this.field.name]?.[index]?.text),
      changed: (language) => {
        if (this.automatic.has(row) && language === languages[0]) {
          const taken = this.rows.filter((other) => other !== row).map((other) => other.value);
          this.rename(row, uniqueName(slugify(row.text[language] ?? ""), taken));
          name.value = row.value;
        }
        this.changed();
      },
    });
    return make("li", { class: "flow-row" },
      make("div", { class: "flow-row-texts" }, ...inputs), name,
      this.field.mark ? this.drawMark(row) : null, this.tools(index));
  }

  /** The answers that pass are named by the answer's name: a new name goes there, too. */
  rename(row, value) {
    const mark = this.field.mark;
    if (mark?.several) {
      const marked = this.data[mark.name] ?? [];
      this.data[mark.name] = marked.map((name) => (name === row.value ? value : name));
    } else if (mark && this.data[mark.name] === row.value) {
      this.data[mark.name] = value;
    }
    this.config.renamed?.(row.value, value);
    row.value = value;
  }

  drawMark(row) {
    const mark = this.field.mark;
    this.group ??= newId();
    const chosen = () => (mark.several ? this.data[mark.name] ?? [] : [this.data[mark.name]]);
    const control = make("input", {
      type: mark.several ? "checkbox" : "radio", name: this.group,
      checked: chosen().includes(row.value), "data-field": mark.name,
      on: {
        change: () => {
          if (!mark.several) this.data[mark.name] = row.value;
          else {
            const others = chosen().filter((name) => name !== row.value);
            this.data[mark.name] = control.checked ? [...others, row.value] : others;
          }
          this.changed();
        },
      },
    });
    return make("label", { class: "flow-mark" }, control, make("span", { text: mark.label }));
  }
}

class LinesField extends Rows {
  get most() {
    return this.config.mostLines;
  }

  get addLabel() {
    return this.config.words.addLine;
  }

  newRow() {
    return { left: {}, right: {} };
  }

  drawRow(row, index) {
    const { words, languages } = this.config;
    const side = (name) => make("div", { class: "flow-row-texts" }, ...textInputs(row[name], {
      field: `lines ${index + 1} ${name}`, label: `${this.field.label} ${index + 1}, ${words[name]}`,
      languages, changed: this.changed,
    }));
    return make("li", { class: "flow-row" }, side("left"), side("right"), this.tools(index));
  }
}
