// When a step is shown: comparisons with earlier steps, demographic questions and the language.
import { iconButton, make } from "./flow-dom.js";

const SOURCES = ["step", "question", "visit"];

/** Return the comparison that `part` writes, null for anything more. */
function readComparison(part) {
  const negated = part !== null && typeof part === "object" && "not" in part;
  const inner = negated ? part.not : part;
  const source = SOURCES.find((name) => inner && name in inner);
  if (!source || Object.keys(part).length > 2 || Object.keys(inner).length !== 2) return null;
  const compared = { source, name: inner[source] };
  if ("is" in inner) return { ...compared, how: negated ? "isNot" : "is", values: [inner.is] };
  if (negated) return null;
  if ("any_of" in inner) return { ...compared, how: "anyOf", values: [...inner.any_of] };
  if ("at_least" in inner) return { ...compared, how: "atLeast", values: [inner.at_least] };
  if ("at_most" in inner) return { ...compared, how: "atMost", values: [inner.at_most] };
  return null;
}

/** Return `{ mode, rows }`, null for a condition that has more levels than these controls. */
function readCondition(condition) {
  if (condition === undefined) return { mode: "all", rows: [] };
  const mode = ["all", "any"].find((name) => condition && name in condition);
  const parts = mode ? condition[mode] : [condition];
  const rows = Array.isArray(parts) ? parts.map(readComparison) : [null];
  return rows.includes(null) ? null : { mode: mode ?? "all", rows };
}

function writeComparison({ source, name, how, values }) {
  const of = { [source]: name };
  switch (how) {
    case "anyOf": return { ...of, any_of: values };
    case "atLeast": return { ...of, at_least: values[0] };
    case "atMost": return { ...of, at_most: values[0] };
    case "isNot": return { not: { ...of, is: values[0] } };
    default: return { ...of, is: values[0] };
  }
}

export class ConditionControl {
  /** `listSources()` returns what stands before the step: `{ source, name, label, values, number,
   * ensureName }`. */
  constructor(data, config, { listSources, changed }) {
    Object.assign(this, { data, config, listSources, changed });
    this.node = make("fieldset", { class: "flow-condition" });
    this.draw();
  }

  get words() {
    return this.config.words;
  }

  draw(focus = null) {
    this.read = readCondition(this.data.show_if);
    const legend = make("legend", { class: "flow-label", text: this.words.condition });
    this.node.replaceChildren(legend, ...(this.read ? this.drawRows() : this.drawJson()));
    if (focus) this.node.querySelector(focus)?.focus();
  }

  store() {
    const { mode, rows } = this.read;
    if (!rows.length) delete this.data.show_if;
    else if (rows.length === 1) this.data.show_if = writeComparison(rows[0]);
    else this.data.show_if = { [mode]: rows.map(writeComparison) };
    this.changed();
  }

  drawJson() {
    const area = make("textarea", {
      class: "flow-input mono", rows: 5, "data-field": "show_if",
      "aria-label": this.words.condition,
      value: JSON.stringify(this.data.show_if, null, 1),
      on: {
        input: () => {
          try {
            this.data.show_if = JSON.parse(area.value);
            area.removeAttribute("aria-invalid");
          } catch {
            area.setAttribute("aria-invalid", "true");
            return;
          }
          this.changed();
        },
      },
    });
    return [make("p", { class: "flow-help", text: this.words.conditionByHand }), area];
  }

  drawRows() {
    const { mode, rows } = this.read;
    const sources = this.listSources();
    const adder = make("button", {
      type: "button", class: "button", text: this.words.addCondition, "data-add-condition": true,
      on: { click: () => this.add(sources) },
    });
    adder.disabled = sources.length === 0;
    const parts = rows.map((row, index) => this.drawRow(row, index, sources));
    if (rows.length > 1) {
      const choice = make("select", {
        class: "flow-input flow-short", "aria-label": this.words.showIf,
        on: { change: () => { this.read.mode = choice.value; this.store(); } },
      }, ...["all", "any"].map((name) => make("option", { value: name, text: this.words[name] })));
      choice.value = mode;
      parts.unshift(make("p", { class: "flow-mode" },
        make("span", { text: this.words.showIf }), choice));
    } else if (!rows.length) {
      parts.push(make("p", {
        class: "flow-help",
        text: sources.length ? this.words.always : `${this.words.always}. ${this.words.neverMissing}`,
      }));
    }
    return [...parts, adder];
  }

  add(sources) {
    const row = {};
    this.setSource(row, sources[0]);
    this.read.rows.push(row);
    this.store();
    this.draw(".flow-comparison:last-of-type select");
  }

  setSource(row, source) {
    source.ensureName?.();
    row.source = source.source;
    row.name = source.name;
    row.how = source.number ? "atLeast" : "is";
    row.values = [source.number ? 0 : source.values[0]?.value ?? ""];
  }

  drawRow(row, index, sources) {
    const found = sources.find((item) => item.source === row.source && item.name === row.name);
    const options = sources.map((item, n) => make("option", { value: n, text: item.label }));
    if (!found) options.unshift(make("option", { value: -1, text: row.name }));
    const which = make("select", {
      class: "flow-input", "data-field": "show_if", "aria-label": this.words.showIf,
      on: {
        change: () => {
          if (which.value === "-1") return;
          this.setSource(row, sources[Number(which.value)]);
          this.store();
          this.draw(`.flow-comparison:nth-of-type(${index + 1}) select`);
        },
      },
    }, ...options);
    which.value = found ? sources.indexOf(found) : -1;

    const ways = found?.number ? ["atLeast", "atMost", "is", "isNot"]
      : found?.values.length ? ["is", "isNot", "anyOf"] : ["is", "isNot"];
    if (!ways.includes(row.how)) ways.push(row.how);
    const how = make("select", {
      class: "flow-input flow-short", "aria-label": this.words.condition,
      on: {
        change: () => {
          const toNumber = ["atLeast", "atMost"].includes(how.value);
          row.how = how.value;
          row.values = row.how === "anyOf" ? row.values.map(String)
            : [toNumber ? Number(row.values[0]) || 0 : String(row.values[0] ?? "")];
          this.store();
          this.draw();
        },
      },
    }, ...ways.map((name) => make("option", { value: name, text: this.words[name] })));
    how.value = row.how;

    const remove = iconButton("×", this.words.remove.replace("{name}", this.words.condition), () => {
      this.read.rows.splice(index, 1);
      this.store();
      this.draw("[data-add-condition]");
    });
    return make("div", { class: "flow-comparison" }, which, how, this.drawValue(row, found), remove);
  }

  drawValue(row, found) {
    const store = (values) => { row.values = values; this.store(); };
    if (row.how === "anyOf") {
      const offered = found?.values ?? row.values.map((value) => ({ value, label: value }));
      return make("span", { class: "flow-any" }, ...offered.map(({ value, label }) => {
        const box = make("input", {
          type: "checkbox", checked: row.values.includes(value),
          on: {
            change: () => store(offered.map((item) => item.value)
              .filter((item) => (item === value ? box.checked : row.values.includes(item)))),
          },
        });
        return make("label", { class: "flow-mark" }, box, make("span", { text: label }));
      }));
    }
    if (found?.values.length) {
      const choice = make("select", {
        class: "flow-input", "aria-label": this.words.value,
        on: { change: () => store([choice.value]) },
      }, ...found.values.map(({ value, label }) => make("option", { value, text: label })));
      if (!found.values.some(({ value }) => value === row.values[0])) {
        choice.prepend(make("option", { value: row.values[0], text: row.values[0] }));
      }
      choice.value = row.values[0];
      return choice;
    }
    const isNumber = ["atLeast", "atMost"].includes(row.how);
    const input = make("input", {
      type: isNumber ? "number" : "text", class: "flow-input flow-short", value: row.values[0],
      "aria-label": this.words.value,
      on: { input: () => store([isNumber ? Number(input.value) : input.value]) },
    });
    return input;
  }
}
