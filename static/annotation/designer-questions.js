// The questions about the participant, each with its kind, its answers and its limits.
import { fill, iconButton, labeled, make, slugify, uniqueName } from "./flow-dom.js";

const CHOICES = ["choice", "choices"];

export function questionsPart(editor) {
  const { store, config, words } = editor;
  const list = make("ol", { class: "designer-questions" });
  const adder = make("button", {
    type: "button", class: "button", text: words.addQuestion,
    on: {
      click: () => {
        const { questions } = store.document;
        const slug = uniqueName("question", questions.map((one) => one.slug));
        questions.push({ slug, kind: "choice", label: "", help_text: "", options: [], minimum: null, maximum: null });
        automatic.add(slug);
        editor.changed("questions");
        draw();
        const last = list.lastElementChild;
        last.querySelector("details").open = true;
        last.querySelector("input").focus();
      },
    },
  });
  const automatic = new Set();

  function draw() {
    const open = new Set([...list.querySelectorAll("details[open]")].map((one) => one.dataset.slug));
    list.replaceChildren(...store.document.questions.map((question, index) => drawQuestion(question, index, open)));
  }

  function drawQuestion(question, index, open) {
    const name = question.label || words.newQuestion;
    const field = (part) => `questions ${index + 1} ${part}`;
    const changed = (part) => editor.changed(field(part));
    const title = make("b", { text: name });
    const text = (part, label, most) => labeled(label, make("input", {
      type: "text", class: "flow-input", maxlength: most, value: question[part], "data-field": field(part),
      on: {
        input: ({ target }) => {
          question[part] = target.value;
          if (part === "label") {
            title.textContent = target.value || words.newQuestion;
            if (automatic.has(question.slug)) nameAnew(question);
          }
          changed(part);
        },
      },
    }));
    const number = (part, label) => labeled(label, make("input", {
      type: "number", class: "flow-input flow-short", value: question[part] ?? "", "data-field": field(part),
      on: {
        input: ({ target }) => {
          question[part] = target.value === "" ? null : Math.round(Number(target.value));
          changed(part);
        },
      },
    }));
    const kind = make("select", {
      class: "flow-input flow-short", "data-field": field("kind"),
      on: {
        change: () => {
          question.kind = kind.value;
          changed("kind");
          draw();
          list.children[index].querySelector("select").focus();
        },
      },
    }, ...config.questionKinds.map(([value, label]) => make("option", { value, text: label })));
    kind.value = question.kind;
    const options = make("textarea", {
      class: "flow-input", rows: Math.min(8, question.options.length + 1), value: question.options.join("\n"),
      "data-field": field("options"),
      on: {
        input: () => {
          question.options = options.value.split("\n").map((line) => line.trim()).filter(Boolean);
          changed("options");
        },
      },
    });
    const slug = make("input", {
      type: "text", class: "flow-input flow-name", maxlength: 40, value: question.slug, "data-field": field("slug"),
      on: {
        input: () => {
          automatic.delete(question.slug);
          question.slug = slugify(slug.value) || question.slug;
          changed("slug");
        },
      },
    });
    const move = (by) => {
      const { questions } = store.document;
      const to = index + by;
      if (to < 0 || to >= questions.length) return;
      questions.splice(to, 0, ...questions.splice(index, 1));
      editor.changed("order");
      draw();
      list.children[to].querySelectorAll(".flow-icon")[by < 0 ? 0 : 1].focus();
    };
    const isChoice = CHOICES.includes(question.kind);
    return make("li", { class: "designer-question" },
      make("details", { "data-slug": question.slug, open: open.has(question.slug) },
        make("summary", {}, title, make("span", { class: "flow-help", text: config.questionKinds.find(([value]) => value === question.kind)?.[1] })),
        make("div", { class: "designer-card" },
          text("label", words.question, config.questionLimits.label),
          text("help_text", words.helpText, config.questionLimits.help_text),
          labeled(words.kind, kind),
          isChoice ? labeled(words.options, options) : null,
          isChoice ? make("p", { class: "flow-help", text: words.optionsHelp }) : null,
          question.kind === "number" ? make("div", { class: "designer-row" }, number("minimum", words.minimum), number("maximum", words.maximum)) : null,
          make("div", { class: "flow-own-name" }, labeled(words.dataName, slug)),
          make("p", {}, editor.questionLibrary.keepButton(() => question.label, () => ({ question: question.slug }))))),
      config.mayEdit ? make("span", { class: "flow-tools" },
        iconButton("↑", fill(words.up, { name }), () => move(-1)),
        iconButton("↓", fill(words.down, { name }), () => move(1)),
        iconButton("×", fill(words.remove, { name }), () => {
          store.document.questions.splice(index, 1);
          editor.changed("questions");
          draw();
          adder.focus();
        })) : null);
  }

  /** A question is named in the data by its words, as long as nobody has named it. */
  function nameAnew(question) {
    const taken = store.document.questions.filter((one) => one !== question).map((one) => one.slug);
    automatic.delete(question.slug);
    question.slug = uniqueName(slugify(question.label) || "question", taken);
    automatic.add(question.slug);
  }

  draw();
  return [make("section", { class: "designer-part" },
    make("div", { class: "designer-part-head" }, make("h3", { text: words.questions })),
    list, config.mayEdit ? make("div", { class: "buttons" }, adder, make("button", {
      type: "button", class: "button", text: words.fromLibrary,
      on: { click: () => editor.questionLibrary.choose("participant") },
    })) : null)];
}
