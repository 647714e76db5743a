// The library of questions: a dialog to put one into the study, and one to keep one for others.
import { fill, labeled, make, newId, plain, uniqueName } from "./flow-dom.js";

const ABOUT_PARTICIPANT = "participant";

export class QuestionLibrary {
  /** `select(index)` opens a step; `saving` is null where nothing can be edited. */
  constructor(store, config, outline, { csrf, saving, select }) {
    Object.assign(this, { store, config, outline, csrf, saving, select, words: config.words });
  }

  async ask(address, body) {
    try {
      const response = await fetch(address, body === undefined ? {} : {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": this.csrf },
        body: JSON.stringify(body),
      });
      if (response.redirected || response.status === 403) return { text: this.words.signedOut };
      return { ...await response.json(), isOk: response.ok };
    } catch {
      return { text: this.words.connection };
    }
  }

  /** Open a dialog; what had the focus has it again when it closes. */
  open(title, ...parts) {
    const head = make("h2", { id: newId(), text: title });
    const close = make("button", { type: "button", class: "button", text: this.words.close, on: { click: () => dialog.close() } });
    const dialog = make("dialog", { class: "designer-dialog page", "aria-labelledby": head.id },
      make("div", { class: "designer-dialog-head" }, head, close), ...parts);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
  }

  // Out of the library

  /** Let a question be chosen; `kind` limits them to that kind. */
  async choose(kind = "") {
    const { words } = this;
    const search = make("input", { type: "search", class: "flow-input", autocomplete: "off", on: { input: () => draw() } });
    const list = make("ul", { class: "designer-offers" });
    const status = make("p", { class: "flow-help", role: "status" });
    const dialog = this.open(words.fromLibrary, labeled(words.searchQuestions, search), status, list);
    // One may type before the questions are there.
    let all = null;
    const draw = () => {
      if (all === null) return;
      const wanted = plain(search.value.trim()).split(/\s+/);
      const found = all.filter((one) => {
        const said = plain(`${one.name} ${one.asks} ${one.label} ${one.of} ${one.source}`);
        return wanted.every((word) => said.includes(word));
      });
      list.replaceChildren(...found.map((one) => make("li", {}, make("button", {
        type: "button", class: "designer-offer", on: { click: () => this.put(one, dialog, status) },
      },
        make("b", { text: one.name }),
        make("span", { class: "designer-offer-kind", text: `${one.label} · ${one.of} · ${one.languages.join(", ")}` }),
        make("span", { text: one.asks }),
        one.source ? make("small", { text: one.source }) : null))));
      status.textContent = found.length ? fill(words.questionsFound, { n: found.length })
        : search.value.trim() ? fill(words.noneFound, { name: search.value.trim() }) : words.noQuestions;
    };
    search.focus();
    const answer = await this.ask(this.config.addresses.questions);
    if (!answer.isOk) {
      status.textContent = answer.text;
      return;
    }
    all = answer.questions.filter((one) => !kind || one.kind === kind);
    draw();
  }

  async put({ pk, kind }, dialog, status) {
    const { store, words, outline } = this;
    const taken = store.document.questions.map(({ slug }) => slug);
    const filled = await this.ask(this.config.addresses.questions, { pk, taken });
    if (!filled.isOk) {
      status.textContent = filled.text;
      return;
    }
    dialog.close();
    const place = kind === ABOUT_PARTICIPANT ? this.putQuestion(filled) : this.putStep(filled.step);
    this.select(place, { intoEditor: true });
    outline.say(filled.is_foreign ? words.putForeign : words.put, { name: filled.name, n: place + 1 });
  }

  putStep(step) {
    const { outline, store } = this;
    const item = structuredClone(step);
    if (item.key) item.key = uniqueName(item.key, outline.listNames());
    const place = outline.placeOf(item.kind);
    store.edit(({ flow }) => flow.splice(place, 0, item));
    return place;
  }

  /** A question about the participant is asked on the page of such questions, which is added. */
  putQuestion({ question, texts }) {
    const { outline, store } = this;
    const isPart = (_item, index) => outline.kindOf(index).parts.includes("questions");
    let place = outline.flow.findIndex(isPart);
    store.edit((document) => {
      if (place < 0) {
        place = outline.placeOf("demographics");
        document.flow.splice(place, 0, "demographics");
      }
      document.questions.push(question);
      for (const [code, written] of Object.entries(texts)) {
        document.texts[code] = { ...document.texts[code], ...written };
      }
    });
    return place;
  }

  // Into the library

  /** Return a button, with room for what is said then, that keeps what `describe()` names: `{ step }` or `{ question }`. */
  keepButton(name, describe) {
    const said = make("span", { class: "flow-help", role: "status" });
    const button = make("button", {
      type: "button", class: "button", text: this.words.keepQuestion,
      on: { click: () => this.keep(name(), describe, said) },
    });
    return make("span", { class: "designer-kept" }, button, said);
  }

  async keep(proposed, describe, said) {
    const { words } = this;
    const name = make("input", { type: "text", class: "flow-input", maxlength: 120, value: proposed.slice(0, 120), required: true });
    const shared = make("input", { type: "checkbox" });
    const problem = make("p", { class: "designer-problem", role: "alert", hidden: true });
    const form = make("form", {
      class: "designer-dialog-form",
      on: {
        submit: async (event) => {
          event.preventDefault();
          const isStored = !this.saving || await this.saving.flush();
          const answer = isStored ? await this.ask(this.config.addresses.keepQuestion, {
            ...describe(), name: name.value, shared: shared.checked,
          }) : { text: words.failed };
          problem.hidden = Boolean(answer.isOk);
          problem.textContent = answer.isOk ? "" : answer.text;
          if (!answer.isOk) return;
          dialog.close();
          said.textContent = answer.text;
        },
      },
    },
      labeled(words.libraryName, name),
      make("label", { class: "flow-flag" }, shared, make("span", { text: words.shareQuestion })),
      make("p", { class: "flow-help", text: words.keepHelp }), problem,
      make("div", { class: "buttons" }, make("button", { class: "button main", text: words.keepNow })));
    const dialog = this.open(words.keepQuestion, form);
    name.focus();
    name.select();
  }
}
