// The panel of languages: what is there, what is missing, and a field for every translation.
import { fill, make } from "./flow-dom.js";

export class LanguagesPanel {
  constructor(store, config, saving, { node, csrf }) {
    Object.assign(this, { store, config, saving, node, csrf, words: config.words });
  }

  get others() {
    return this.config.languages.slice(1);
  }

  async draw({ focus = true } = {}) {
    const { words, config } = this;
    const parts = [
      make("div", { class: "designer-step-head" }, make("h2", { tabindex: "-1", text: words.languages })),
      make("p", { class: "flow-help", text: words.languagesHelp }),
      make("div", { class: "buttons" },
        ...(config.mayEdit ? config.knownLanguages.filter(({ code }) => !config.languages.some((one) => one.code === code)).map(({ code, name }) => make("button", {
          type: "button", class: "button", text: fill(words.addLanguage, { name }), on: { click: () => this.add(code) },
        })) : []),
        make("a", { class: "button quiet", href: config.addresses.languages, text: words.file })),
    ];
    this.problems = make("ul", { class: "designer-problems" });
    parts.push(this.problems);
    // What comes later stands in this panel, whatever stands in the editor by then.
    const body = make("fieldset", { class: "designer-body", disabled: !config.mayEdit }, ...parts);
    this.node.replaceChildren(body);
    this.refresh();
    if (focus) this.node.querySelector("h2").focus();
    for (const language of this.others) await this.drawLanguage(language, body);
  }

  /** Say what is missing now; the fields stay as they are. */
  refresh() {
    const found = (this.config.findings ?? []).filter(({ panel }) => panel === "languages");
    this.problems.replaceChildren(...found.map(({ text, blocks }) => make("li", { class: blocks ? "" : "is-thought", text })));
    this.problems.hidden = !found.length;
    for (const section of this.node.querySelectorAll("[data-translations]")) {
      const fields = [...section.querySelectorAll("[data-text]")];
      const n = fields.filter(({ value }) => !value.trim()).length;
      section.querySelector("[data-missing]").textContent = fill(this.words.missing, { n, total: fields.length });
    }
  }

  /** The texts of a language, those without a translation first. */
  async drawLanguage({ code, name, direction }, body) {
    const response = await fetch(`${this.config.addresses.texts}?language=${encodeURIComponent(code)}`);
    if (!response.ok) return;
    const { texts } = await response.json();
    const missing = texts.filter(({ translation }) => !translation.trim());
    const stale = texts.filter((text) => text.stale);
    const done = texts.filter((text) => text.translation.trim() && !text.stale);
    const row = (text) => this.drawText(text, { code, name, direction });
    body.append(make("section", { class: "designer-part", "data-translations": code },
      make("div", { class: "designer-part-head" }, make("h3", { text: name, lang: code }),
        make("span", { class: "flow-help", "data-missing": true, text: fill(this.words.missing, { n: missing.length, total: texts.length }) })),
      ...[...missing, ...stale].map(row),
      make("details", {}, make("summary", { text: fill(this.words.translated, { n: done.length }) }), ...done.map(row))));
  }

  drawText(text, { code, name, direction }) {
    const isLong = text.source.length > 80 || text.source.includes("\n");
    const control = make(isLong ? "textarea" : "input", {
      class: "flow-input", lang: code, dir: direction, value: text.translation,
      "aria-label": `${name}: ${text.source.slice(0, 80)}`, "data-text": text.key,
      ...(isLong ? { rows: 3 } : { type: "text" }),
      on: { input: () => this.write(text, code, control.value) },
    });
    return make("div", { class: "designer-translation" },
      make("p", { class: "designer-source", text: text.source }), control,
      text.stale ? make("p", { class: "flow-help", text: this.words.stale }) : null);
  }

  /** Put a translation where it belongs: into its step, or among the texts. */
  write({ key, path }, code, value) {
    const { flow, texts } = this.store.document;
    if (path) {
      const place = path.reduce((part, name) => part[name], flow);
      if (value) place[code] = value;
      else delete place[code];
    } else {
      texts[code] ??= {};
      if (value) texts[code][key] = value;
      else delete texts[code][key];
    }
    this.store.touch(`translation ${key}`);
  }

  /** The server adds a language with what the platform brings along; the page begins anew. */
  async add(code) {
    if (!await this.saving.flush()) return;
    await fetch(this.config.addresses.addLanguage, {
      method: "POST",
      headers: { "X-CSRFToken": this.csrf, "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ language: code }),
    });
    location.hash = "languages";
    location.reload();
  }
}
