// The page on which one counterpart is written: live word diff, drafts, keys. Without this script
// the page is a plain form that works as well.
import { Drafts } from "./drafts.js";
import { compareWords, splitWords } from "./words.js";

const RESEND_AFTER_MS = 15_000;
const form = document.querySelector("[data-writing]");
const field = form.querySelector("[data-body]");
const tick = form.querySelector("[data-not-interpretable]");
const reasons = form.querySelector("[data-reasons]");
const detail = form.elements.namedItem("detail");
const source = splitWords(document.querySelector("[data-source]").textContent);
const isMac = /mac|iphone|ipad/i.test(navigator.platform);

// --- The diff -----------------------------------------------------------------------------------

const shown = form.querySelector("[data-diff]");

function mark(kind, words) {
  if (kind === "same") return document.createTextNode(words.join(" "));
  const element = document.createElement(kind === "removed" ? "del" : "ins");
  const spoken = document.createElement("span");
  spoken.className = "visually-hidden";
  spoken.textContent = `${form.dataset[kind]} `;
  element.append(spoken, words.join(" "));
  return element;
}

function showDiff() {
  const words = splitWords(field.value);
  const parts = compareWords(source, words);
  const count = (kind) => (parts ?? []).filter((part) => part.kind === kind)
    .reduce((sum, part) => sum + part.words.length, 0);
  const isSame = parts?.every((part) => part.kind === "same");
  let quiet = "";
  if (!words.length) quiet = shown.dataset.empty;
  else if (!parts) quiet = shown.dataset.long;
  else if (isSame) quiet = shown.dataset.same;
  shown.classList.toggle("is-quiet", Boolean(quiet));
  if (quiet) shown.replaceChildren(quiet);
  else shown.replaceChildren(...parts.flatMap((part) => [mark(part.kind, part.words), " "]));
  const template = words.length === 1 ? form.dataset.wordsOne : form.dataset.wordsMany;
  form.querySelector("[data-words]").textContent = template
    .replace("{n}", words.length).replace("{source}", source.length);
  form.querySelector("[data-changed-words]").textContent = words.length && parts
    ? form.dataset.changed.replace("{removed}", count("removed"))
      .replace("{added}", count("added")).replace("{source}", source.length) : "";
}

// --- Time with the page in front ------------------------------------------------------------------

let since = document.hidden ? null : performance.now();
let counted = 0;

function takeSeconds() {
  const now = performance.now();
  const total = counted + (since === null ? 0 : now - since);
  counted = 0;
  if (since !== null) since = now;
  return total / 1000;
}

document.addEventListener("visibilitychange", () => {
  const now = performance.now();
  if (document.hidden && since !== null) {
    counted += now - since;
    since = null;
  } else if (!document.hidden && since === null) {
    since = now;
  }
});

// --- Drafts ---------------------------------------------------------------------------------------

const state = document.querySelector("[data-draft-state]");
const banners = document.querySelector("[data-banners]");

function raise(name, fill = () => {}) {
  const there = banners.querySelector(`[data-raised="${name}"]`);
  if (there) return;
  const banner = document.querySelector(`template[data-banner="${name}"]`)
    .content.firstElementChild.cloneNode(true);
  banner.dataset.raised = name;
  fill(banner);
  banners.append(banner);
}

function lower(...names) {
  for (const name of names) banners.querySelector(`[data-raised="${name}"]`)?.remove();
}

async function send(draft, number, signal) {
  const seconds = takeSeconds();
  const content = new URLSearchParams();
  content.set("csrfmiddlewaretoken", form.elements.namedItem("csrfmiddlewaretoken").value);
  content.set("body", draft.body);
  if (draft.not_interpretable) content.set("not_interpretable", "yes");
  content.set("reason", draft.reason);
  content.set("detail", draft.detail);
  content.set("draft_number", number);
  content.set("seconds", seconds.toFixed(1));
  try {
    const answer = await fetch(form.dataset.draftAddress, {
      method: "POST", body: content, credentials: "same-origin", redirect: "error", signal,
    });
    if (answer.status === 404) return { result: "gone" };
    if (answer.status === 403) return { result: "logged-out" }; // the session changed: so did its token
    if (answer.status >= 500) throw new Error("The server failed.");
    return await answer.json();
  } catch (error) {
    counted += seconds * 1000;
    throw error;
  }
}

function tell(event, answer) {
  state.classList.toggle("is-saved", event === "saved");
  if (event === "unsaved" || event === "saving") {
    state.textContent = form.dataset[event];
    return;
  }
  if (event === "saved") {
    const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    state.textContent = form.dataset.saved.replace("{time}", time);
    lower("offline", "refused", "restored");
    if (answer.study !== "live") raise("not-live");
    return;
  }
  state.textContent = form.dataset.unsaved;
  if (event === "offline") raise("offline");
  if (event === "logged-out") raise("logged-out");
  if (event === "gone" || event === "taken") raise("gone");
  if (event === "refused") {
    lower("refused");
    raise("refused", (banner) => { banner.querySelector("[data-message]").textContent = answer.problem; });
  }
  if (event === "stale") offerChoice(answer.number, answer.content, { hereIsField: true });
}

const drafts = new Drafts({
  name: form.dataset.name,
  number: Number(form.dataset.number),
  collect: () => ({
    body: field.value,
    not_interpretable: tick.checked,
    reason: form.elements.namedItem("reason").value,
    detail: detail.value,
  }),
  send,
  tell,
});

// Another text exists, on the server or on this device: only its writer knows which one goes on.
function offerChoice(number, other, { hereIsField }) {
  raise("other", (banner) => {
    banner.querySelector('[data-keep="here"]').addEventListener("click", () => {
      lower("other");
      drafts.resume(number);
      if (hereIsField) drafts.note();
      else drafts.kept.forget();
    });
    banner.querySelector('[data-keep="there"]').addEventListener("click", () => {
      lower("other");
      drafts.resume(number);
      tickReason(other);
      replaceText(other.body);
      drafts.note();
    });
  });
}

function tickReason(content) {
  tick.checked = Boolean(content.not_interpretable);
  for (const radio of form.querySelectorAll("[name=reason]")) {
    radio.checked = radio.value === content.reason;
  }
  detail.value = content.detail ?? "";
  showReasons();
}

// Whether somebody has been at the page before this script was.
function isChanged() {
  return [tick, ...form.querySelectorAll("[name=reason]")]
    .some((control) => control.checked !== control.defaultChecked)
    || [field, detail].some((control) => control.value !== control.defaultValue);
}

function restore() {
  const here = isChanged();
  const kept = drafts.findKept();
  if (!kept) {
    if (here) drafts.note();
    return;
  }
  if (here || !kept.isNewer) {
    offerChoice(drafts.number, kept.content, { hereIsField: here });
    return;
  }
  tickReason(kept.content);
  field.value = kept.content.body;
  raise("restored");
  drafts.note();
  drafts.flush();
}

// --- The field ------------------------------------------------------------------------------------

// As if it were typed, so that the browser's own undo takes it back.
function replaceText(text) {
  field.focus();
  field.select();
  const done = text ? document.execCommand("insertText", false, text) : document.execCommand("delete");
  if (!done && field.value !== text) {
    field.value = text;
    changed();
  }
}

function showReasons() {
  reasons.hidden = !tick.checked;
  field.readOnly = tick.checked;
  for (const button of form.querySelectorAll("[data-from-source], [data-back-to-submitted]")) {
    button.hidden = tick.checked;
  }
}

let frame = null;
function changed() {
  drafts.note();
  if (frame === null) {
    frame = requestAnimationFrame(() => {
      frame = null;
      showDiff();
    });
  }
}

field.addEventListener("input", changed);
for (const control of [tick, detail, ...form.querySelectorAll("[name=reason]")]) {
  control.addEventListener("input", () => {
    showReasons();
    drafts.note();
  });
}
form.querySelector("[data-from-source]").addEventListener("click", () => {
  replaceText(document.querySelector("[data-source]").textContent);
});
form.querySelector("[data-back-to-submitted]")?.addEventListener("click", () => {
  replaceText(field.dataset.submitted);
});

// --- Sending and leaving --------------------------------------------------------------------------

let sentAt = null;
let isLeaving = false;
form.addEventListener("submit", (event) => {
  if (sentAt !== null && performance.now() - sentAt < RESEND_AFTER_MS) {
    event.preventDefault();
    return;
  }
  if (navigator.onLine === false) {
    event.preventDefault();
    drafts.keep();
    raise("offline");
    return;
  }
  clearTimeout(drafts.timer);
  drafts.keep({ isSent: true });
  form.elements.namedItem("draft_number").value = drafts.number + 1;
  form.elements.namedItem("seconds").value = takeSeconds().toFixed(1);
  sentAt = performance.now();
  isLeaving = true;
  form.querySelector("[data-submit]").setAttribute("aria-disabled", "true");
});

async function leaveTo(address) {
  if (!address) return;
  await drafts.flush();
  location.assign(address);
}

window.addEventListener("beforeunload", (event) => {
  if (drafts.isDirty && !isLeaving) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden && drafts.isDirty) drafts.flush();
});
// The browser's memory of the page is older than what the server has.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

// --- Keys -----------------------------------------------------------------------------------------

const help = document.querySelector("[data-help]");
const helpButton = document.querySelector("[data-help-open]");
helpButton.addEventListener("click", () => help.showModal());

function toggleNotInterpretable() {
  tick.checked = !tick.checked;
  showReasons();
  drafts.note();
  (tick.checked ? form.querySelector("[name=reason]") : field).focus();
}

// By the key's place: with Alt held, some keyboards write another letter.
const WITH_ALT = {
  ArrowRight: () => leaveTo(form.dataset.following),
  ArrowLeft: () => leaveTo(form.dataset.previous),
  KeyS: () => leaveTo(form.querySelector("[data-skip]")?.href),
  KeyN: toggleNotInterpretable,
};

document.addEventListener("keydown", (event) => {
  if (help.open) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    form.requestSubmit(form.querySelector("[data-submit]"));
    return;
  }
  if (event.altKey && !event.ctrlKey && !event.metaKey && WITH_ALT[event.code]) {
    // There, Alt and an arrow move by words.
    if (isMac && event.code.startsWith("Arrow") && event.target === field) return;
    event.preventDefault();
    WITH_ALT[event.code]();
    return;
  }
  const isTyping = event.target.matches("textarea, input:not([type=radio], [type=checkbox])");
  if (event.key === "Escape" && isTyping) event.target.blur();
  if (event.key === "?" && !isTyping) help.showModal();
});

for (const part of document.querySelectorAll("[data-needs-script]")) part.hidden = false;
helpButton.hidden = false;
// On a narrow screen they would stand between the source and the field.
if (matchMedia("(max-width: 899px)").matches) {
  for (const part of document.querySelectorAll("[data-guidelines]")) part.open = false;
}
restore();
showReasons();
showDiff();
const question = form.querySelector("[data-question]");
if (question) question.focus();
else if (!form.querySelector("[role=alert]")) field.focus({ preventScroll: true });
