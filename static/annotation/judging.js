// The page on which one counterpart is judged: keys, answers kept until the server has them, one
// judgment sent once. Without this script the page is a plain form that works as well.

const PREFIX = "stereoscope:judging:";
const FIRST_RETRY_MS = 2000;
const LAST_RETRY_MS = 30_000;
const form = document.querySelector("[data-judging]");
const questions = [...form.querySelectorAll("[data-question]")];
const comment = form.elements.namedItem("comment");
const submit = form.querySelector("[data-submit]");
const banners = document.querySelector("[data-banners]");
const summaryPlace = form.querySelector("[data-summary-place]");

// Four questions with five radio buttons each, and the words that can be marked as errors.
const inputsOf = (question) => [...question.querySelectorAll("input")];
const radiosOf = (question) => inputsOf(question).filter((one) => one.type === "radio");
const keyOf = (input) => (input.type === "radio" ? input.value : `${input.name}=${input.value}`);
const chosenOf = (question) => question.querySelector("input:checked");

// --- Answers on this device -----------------------------------------------------------------------

const kept = {
  key: PREFIX + form.dataset.name,
  read() {
    try {
      return JSON.parse(localStorage.getItem(this.key));
    } catch {
      return null;
    }
  },
  write(content) {
    try {
      localStorage.setItem(this.key, JSON.stringify(content));
    } catch {
      // A full or forbidden storage: the answers are still on the page.
    }
  },
  forget() {
    try {
      localStorage.removeItem(this.key);
    } catch {
      // No storage, nothing to forget.
    }
  },
};

function collect() {
  const answers = questions.map((question) => [
    question.dataset.question, inputsOf(question).filter((one) => one.checked).map(keyOf),
  ]);
  return { answers: Object.fromEntries(answers), comment: comment.value };
}

// As the server sent the page; its reader may have been faster than this script.
const isChanged = (question) => inputsOf(question).some((one) => one.checked !== one.defaultChecked);
const stored = JSON.stringify({
  answers: Object.fromEntries(questions.map((question) => [
    question.dataset.question, inputsOf(question).filter((one) => one.defaultChecked).map(keyOf),
  ])),
  comment: comment.defaultValue,
});

function keep() {
  const content = collect();
  if (JSON.stringify(content) === stored) kept.forget();
  else kept.write(content);
}

function restore() {
  const content = kept.read();
  if (!content) {
    keep();
    return;
  }
  // Nobody else's keys, and nothing that this page cannot choose.
  for (const question of questions) {
    if (isChanged(question)) continue;
    const wanted = [content.answers?.[question.dataset.question] ?? []].flat();
    const found = inputsOf(question).filter((one) => wanted.includes(keyOf(one)));
    if (found.length) inputsOf(question).forEach((one) => { one.checked = found.includes(one); });
  }
  if (typeof content.comment === "string" && comment.value === comment.defaultValue) {
    comment.value = content.comment;
  }
  keep();
  if (kept.read()) raise("restored");
}

// --- Banners and problems -------------------------------------------------------------------------

function raise(name) {
  if (banners.querySelector(`[data-raised="${name}"]`)) return;
  const banner = document.querySelector(`template[data-banner="${name}"]`)
    .content.firstElementChild.cloneNode(true);
  banner.dataset.raised = name;
  banners.append(banner);
  banner.scrollIntoView({ block: "nearest" });
}

function lower(...names) {
  for (const name of names) banners.querySelector(`[data-raised="${name}"]`)?.remove();
}

function clear(question) {
  question.classList.remove("is-missing");
  question.removeAttribute("aria-invalid");
  question.removeAttribute("aria-describedby");
  question.querySelector("[data-problem]")?.remove();
  const line = summaryPlace.querySelector(`a[href="#${question.dataset.question}-1"]`)?.closest("li");
  line?.remove();
  count();
}

function count() {
  const summary = summaryPlace.querySelector("[data-summary]");
  if (!summary) return;
  const n = summary.querySelectorAll("li").length;
  if (!n) {
    summary.remove();
    return;
  }
  const texts = document.querySelector("template[data-summary-template]").content.firstElementChild.dataset;
  summary.querySelector("b").textContent = n === 1 ? texts.one : texts.many.replace("{n}", n);
}

function mark(question, message = null) {
  clear(question);
  const problem = document.querySelector("template[data-problem-template]")
    .content.firstElementChild.cloneNode(true);
  problem.textContent = message ?? question.dataset.problemText ?? problem.textContent;
  problem.id = `${question.dataset.question}-problem`;
  question.querySelector(".asked").append(problem);
  question.classList.add("is-missing");
  if (radiosOf(question).length) question.setAttribute("aria-invalid", "true");
  question.setAttribute("aria-describedby", problem.id);
}

function complain(missing) {
  missing.forEach((question) => mark(question));
  summaryPlace.replaceChildren(
    document.querySelector("template[data-summary-template]").content.cloneNode(true),
  );
  const list = summaryPlace.querySelector("ul");
  for (const question of missing) {
    const line = document.createElement("li");
    const link = document.createElement("a");
    link.href = `#${question.dataset.question}-1`;
    link.textContent = question.dataset.title;
    line.append(link);
    list.append(line);
  }
  count();
  inputsOf(missing[0])[0].focus();
}

summaryPlace.addEventListener("click", (event) => {
  const name = event.target.closest("a")?.hash?.slice(1);
  if (!name) return;
  event.preventDefault();
  document.getElementById(name).focus();
});

// --- Time with the page in front ------------------------------------------------------------------

let since = document.hidden ? null : performance.now();
let counted = 0;
document.addEventListener("visibilitychange", () => {
  const now = performance.now();
  if (document.hidden && since !== null) {
    counted += now - since;
    since = null;
  } else if (!document.hidden && since === null) {
    since = now;
  }
});
const seconds = () => (counted + (since === null ? 0 : performance.now() - since)) / 1000;

// --- Sending --------------------------------------------------------------------------------------

let isSending = false;
let waitsForConnection = false;
let retryMs = FIRST_RETRY_MS;
let retry = null;

async function send() {
  if (isSending) return;
  clearTimeout(retry);
  const missing = questions.filter((question) => !chosenOf(question));
  if (missing.length) {
    complain(missing);
    return;
  }
  isSending = true;
  submit.setAttribute("aria-disabled", "true");
  keep();
  form.elements.namedItem("seconds").value = seconds().toFixed(1);
  try {
    const answer = await fetch(location.href, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      redirect: "manual",
    });
    await follow(answer);
  } catch {
    waitsForConnection = true;
    raise("offline");
    // A device often believes that it is connected before it is, or while it is not.
    retry = setTimeout(() => { if (navigator.onLine !== false) send(); }, retryMs);
    retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
  } finally {
    isSending = false;
    submit.setAttribute("aria-disabled", "false");
  }
}

async function follow(answer) {
  lower("offline", "failed", "not-live", "logged-out");
  waitsForConnection = false;
  retryMs = FIRST_RETRY_MS;
  if (answer.type === "opaqueredirect" || answer.status === 403) {
    raise("logged-out");
  } else if (answer.status === 410) {
    kept.forget();
    location.reload();
  } else if (answer.status === 409) {
    raise("not-live");
  } else if (answer.status === 422) {
    show((await answer.json()).problems);
  } else if (answer.ok) {
    const { next } = await answer.json();
    kept.forget();
    location.assign(next);
  } else {
    raise("failed");
  }
}

function show(problems) {
  for (const question of questions) {
    if (problems[question.dataset.question]) mark(question, problems[question.dataset.question]);
  }
  const part = comment.closest(".comment");
  part.querySelector("[data-problem]")?.remove();
  part.classList.toggle("is-wrong", Boolean(problems.comment));
  if (problems.comment) {
    const problem = document.createElement("p");
    problem.className = "problem";
    problem.dataset.problem = "";
    problem.setAttribute("role", "alert");
    problem.textContent = problems.comment;
    comment.before(problem);
    comment.focus();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
window.addEventListener("online", () => {
  if (waitsForConnection) send();
});
// The browser's memory of the page is older than what the server has.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

// --- Keys -----------------------------------------------------------------------------------------

function nextAfter(question) {
  const place = questions.indexOf(question);
  const order = [...questions.slice(place + 1), ...questions.slice(0, place)];
  return order.find((one) => !chosenOf(one));
}

function focusOn(question) {
  (chosenOf(question) ?? inputsOf(question)[0]).focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey) return;
  if (event.altKey) {
    const address = { ArrowLeft: form.dataset.previous, ArrowRight: form.dataset.following }[event.key];
    if (address && event.target !== comment) {
      event.preventDefault();
      location.assign(address);
    }
    return;
  }
  if (event.target === comment || !submit) return;
  if (/^[1-5]$/.test(event.key)) {
    const question = [event.target.closest("[data-question]"), ...questions.filter((one) => !chosenOf(one))]
      .find((one) => one && radiosOf(one).length);
    if (!question) return;
    event.preventDefault();
    const radio = radiosOf(question)[Number(event.key) - 1];
    radio.checked = true;
    radio.dispatchEvent(new Event("input", { bubbles: true }));
    const next = nextAfter(question);
    if (next) focusOn(next);
    else submit.focus();
  } else if (event.key === "Enter" && event.target.type === "radio") {
    event.preventDefault();
    form.requestSubmit(submit);
  }
});

// --- Words that are errors ------------------------------------------------------------------------

const noErrors = form.elements.namedItem("no_errors");
const wordLists = [...form.querySelectorAll("[data-words]")];

// “No errors” and a marked word exclude each other; no mark is lost by a tick beside them.
function exclude() {
  if (!noErrors || !submit) return;
  const isMarked = wordLists.some((list) => list.querySelector("input:checked"));
  if (isMarked) noErrors.checked = false;
  noErrors.disabled = isMarked;
}

// One stop for the Tab key in every text; arrows go from word to word.
for (const list of wordLists) {
  const words = inputsOf(list);
  const stop = (word) => words.forEach((one) => { one.tabIndex = one === word ? 0 : -1; });
  stop(words.find((one) => one.checked) ?? words[0]);
  list.addEventListener("focusin", (event) => stop(event.target));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const word = words[words.indexOf(event.target) + step];
    if (!word) return;
    if (event.shiftKey) {
      for (const one of [event.target, word]) one.checked = true;
      word.dispatchEvent(new Event("input", { bubbles: true }));
    }
    word.focus();
  });
}

form.addEventListener("input", (event) => {
  exclude();
  const question = event.target.closest("[data-question]");
  if (question) clear(question);
  keep();
});

for (const part of document.querySelectorAll("[data-needs-script]")) part.hidden = !submit;
restore();
exclude();
const troubled = form.querySelector(".is-missing input");
const first = questions.find((one) => !chosenOf(one));
if (troubled) troubled.focus();
else if (submit && first && matchMedia("(pointer: fine)").matches) {
  radiosOf(first)[0].focus({ preventScroll: true });
}
