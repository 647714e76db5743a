// The designer of a survey: outline, editor and preview of one document, which is saved by itself.
import { StepEditor } from "./designer-editor.js";
import { QuestionLibrary } from "./designer-library.js";
import { LanguagesPanel } from "./designer-languages.js";
import { Outline } from "./designer-outline.js";
import { Preview } from "./designer-preview.js";
import { Saving } from "./designer-saving.js";
import { Store } from "./designer-store.js";
import { fill, make } from "./flow-dom.js";

const find = (name) => document.querySelector(`[data-${name}]`);
const config = JSON.parse(document.getElementById("designer-config").textContent);
const csrf = document.querySelector("[name=csrfmiddlewaretoken]").value;
const { words } = config;

/** The groups and trait pairs to choose from; new ones join them. */
async function loadLibrary() {
  const response = await fetch(config.addresses.library);
  const library = await response.json();
  library.add = async (values) => {
    try {
      const answer = await fetch(config.addresses.library, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": csrf },
        body: JSON.stringify(values),
      });
      return await answer.json();
    } catch {
      return { text: words.connection };
    }
  };
  return library;
}

const store = new Store(config.document);
const undo = find("undo");
const redo = find("redo");
const saving = config.mayEdit ? new Saving(store, config, {
  status: find("saved"), conflict: find("conflict"), csrf,
}) : null;
let panel = "";

function select(index, { intoEditor = false, focus = true } = {}) {
  panel = "";
  outline.isAway = false;
  outline.chosen = index;
  outline.draw();
  drawPanels();
  editor.draw({ focus: intoEditor });
  if (focus && !intoEditor) outline.focus(index);
  preview.show(index);
  history.replaceState(null, "", `#step-${index + 1}`);
}

function openPanel(name) {
  panel = name;
  outline.isAway = true;
  outline.draw();
  drawPanels();
  languages.draw();
  history.replaceState(null, "", `#${name}`);
}

/** What belongs to no step: the languages, and problems that are mended elsewhere. */
function drawPanels() {
  const focused = document.activeElement;
  const isPanelFocused = find("panels").contains(focused);
  const problems = config.findings.filter(({ panel: own, blocks }) => own === "languages" && blocks).length;
  find("panels").replaceChildren(make("li", { class: `designer-step${panel ? " is-chosen" : ""}` },
    make("button", {
      type: "button", class: "designer-step-title", "aria-current": panel ? "step" : undefined,
      on: { click: () => openPanel("languages") },
    }, make("b", { text: words.languages }), make("small", { text: config.languages.map(({ name }) => name).join(", ") })),
    problems ? make("span", { class: "designer-errors", text: problems }) : null));
  find("general").replaceChildren(...config.findings
    .filter(({ step, panel: own }) => step === null && !own)
    .map(({ text, blocks, address }) => make("li", { class: blocks ? "" : "is-thought" },
      make("span", { text }), address ? make("a", { href: address, text: words.mendThere }) : null)));
  if (isPanelFocused) find("panels").querySelector("button").focus();
  else if (focused?.href && !focused.isConnected) find("general").querySelector(`a[href="${CSS.escape(focused.getAttribute("href"))}"]`)?.focus();
}

/** Where a launch is kept back, say why its button is not there, and lead to the first reason. */
function drawUnready() {
  const button = find("unready");
  if (!button) return;
  const blocking = config.findings.filter(({ blocks }) => blocks);
  button.hidden = blocking.length === 0;
  button.textContent = fill(blocking.length === 1 ? words.unreadyOne : words.unreadyMany, { n: blocking.length });
}

function goToFirstProblem() {
  const blocking = config.findings.filter(({ blocks }) => blocks);
  const first = blocking.find(({ step }) => step !== null) ?? blocking.find(({ panel: own }) => own) ?? blocking[0];
  if (!first) return;
  if (first.step !== null) select(first.step, { intoEditor: true });
  else if (first.panel) openPanel(first.panel);
  else if (first.address) location.assign(first.address);
  else find("general").scrollIntoView({ block: "nearest" });
}

function showFindings(findings) {
  config.findings = findings;
  outline.findings = findings;
  const isReady = !findings.some(({ blocks }) => blocks);
  for (const form of document.querySelectorAll("[data-launch]")) form.hidden = !isReady;
  drawUnready();
  const focused = document.activeElement?.dataset?.step;
  outline.draw();
  if (focused !== undefined) outline.focus(Number(focused));
  drawPanels();
  if (panel) languages.refresh();
  else editor.markProblems();
}

const outline = new Outline(store, config, {
  list: find("steps"), adder: find("add"), announce: find("announce"), count: find("count"), select,
});
const questionLibrary = new QuestionLibrary(store, config, outline, { csrf, saving, select });
outline.questionLibrary = questionLibrary;
const editor = new StepEditor(store, config, outline, {
  node: find("editor"), library: await loadLibrary(), questionLibrary,
});
const languages = new LanguagesPanel(store, config, saving, { node: find("editor"), csrf });
const preview = new Preview(find("preview"), config, {
  clicked: (text) => {
    if (panel) select(outline.chosen);
    editor.findText(text);
  },
  went: (by) => {
    if (outline.chosen + by < outline.flow.length) select(outline.chosen + by);
  },
});

function drawButtons() {
  if (!undo) return;
  undo.disabled = store.past.length === 0;
  redo.disabled = store.future.length === 0;
}

function step(back) {
  const before = outline.flow.map((item) => JSON.stringify(item));
  if (!(back ? store.undo() : store.redo())) return;
  // The step that changed is the one to look at.
  const changed = outline.flow.findIndex((item, index) => JSON.stringify(item) !== before[index]);
  if (changed >= 0 && changed !== outline.chosen) select(changed);
  outline.say(back ? words.undone : words.redone);
}

store.addEventListener("change", () => {
  drawButtons();
  outline.draw();
});
store.addEventListener("replace", () => {
  const focused = document.activeElement;
  const { field, step: focusedStep } = focused?.dataset ?? {};
  const label = focused?.closest("[data-editor]") ? focused.getAttribute("aria-label") : null;
  outline.draw();
  if (panel) languages.draw({ focus: false });
  else editor.draw();
  // What had the focus has it again, drawn anew.
  if (focusedStep !== undefined) outline.focus(Math.min(Number(focusedStep), outline.flow.length - 1));
  const again = field ? `[data-field="${CSS.escape(field)}"]` : label && `[aria-label="${CSS.escape(label)}"]`;
  if (again) find("editor").querySelector(again)?.focus();
  if (preview.step !== outline.chosen) preview.step = outline.chosen;
});

if (saving) {
  undo.addEventListener("click", () => step(true));
  redo.addEventListener("click", () => step(false));
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    step(!event.shiftKey);
  });
  saving.addEventListener("saved", ({ detail }) => {
    config.languages = detail.languages;
    preview.describeLanguages(detail.languages);
    showFindings(detail.findings);
    preview.load();
  });
  saving.addEventListener("refused", ({ detail }) => editor.markRefused(detail));
  // What goes by what is stored waits for it.
  for (const form of document.querySelectorAll("[data-after-saving]")) {
    form.addEventListener("submit", async (event) => {
      if (!saving.isPending) return;
      event.preventDefault();
      if (await saving.flush()) form.requestSubmit();
    });
  }
}

/** An address with #step-3 leads to the third step, #languages to the panel, #groups or #text-question
 * to the first step where these are edited. */
function openNamed() {
  const number = Number(/^#step-(\d+)$/.exec(location.hash)?.[1]);
  const [, part, key] = /^#(groups|scales|questions|text-(.+))$/.exec(location.hash) ?? [];
  if (location.hash === "#languages") {
    select(outline.chosen);
    openPanel("languages");
  } else if (number >= 1 && number <= outline.flow.length) select(number - 1);
  else if (part) select(Math.max(0, outline.flow.findIndex((_item, index) => (
    key ? outline.kindOf(index).texts.some((text) => text.key === key) : outline.kindOf(index).parts.includes(part)
  ))));
  else select(outline.chosen, { focus: false });
}

drawUnready();
find("unready")?.addEventListener("click", goToFirstProblem);
openNamed();
addEventListener("hashchange", openNamed);
saving?.restore();
document.documentElement.dataset.ready = "true";
