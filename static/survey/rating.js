// The rating page: numbers become lines without a start value. A line is answered by the first
// press, tap or key; it counts as missing until then, whatever value the browser would send.
// Only a press that was meant writes: a finger that scrolls, zooms, or stops a rolling page changes
// nothing, nor do other buttons than the first, or a press on a line that has just moved there.
import { prepareStep } from "./step-form.js";

const HANDLE_RADIUS = 14;
// A finger that stays this near to where it came down rests, however it trembles …
const RESTS_PX = 12;
// … and one that went this far has shown where it is going …
const SHOWN_AT_PX = 56;
// … which is along the line, or it does not mean it: at most 25 degrees up or down.
const STEEPEST_DRAG = (25 * Math.PI) / 180;
// What comes in from the edge of the window is for the system: another page, a menu.
const EDGE_PX = 12;
// A line is pressed where it is seen once it has been there this long.
const STILL_MS = 150;

const list = document.querySelector("[data-lines]");
// Where the page runs from right to left, lines begin on the right.
const fromRight = getComputedStyle(list).direction === "rtl";
const towardsRight = fromRight ? -1 : 1;
const MOVES = {
  ArrowRight: towardsRight, ArrowUp: 1, ArrowLeft: -towardsRight, ArrowDown: -1,
  PageUp: 1, PageDown: -1, Home: -Infinity, End: Infinity,
};

const texts = list.dataset;

// Nothing may move under a finger: what changes the height of the page waits until it is lifted.
const pressed = new Set();
const waiting = [];
function onceReleased(change) {
  if (pressed.size) waiting.push(change);
  else change();
}
function release(event) {
  pressed.delete(event.pointerId);
  // After the click that follows, so that it still meets what it was aimed at.
  setTimeout(() => {
    if (!pressed.size) waiting.splice(0).forEach((change) => change());
  });
}

// When the lines last moved in the window: by a finger, by momentum, by a script, by zoom or a
// keyboard that opens, or because something above them grew.
const view = window.visualViewport;
let moved = -Infinity;
let placed = [];
function see(now) {
  const { top, height } = list.getBoundingClientRect();
  const place = [top - view.offsetTop, height, view.offsetLeft, view.scale];
  if (place.some((length, i) => Math.abs(length - placed[i]) > 1)) moved = now;
  placed = place;
}
for (const seen of [document, view]) seen.addEventListener("scroll", (event) => see(event.timeStamp));
view.addEventListener("resize", (event) => see(event.timeStamp));

/** The way of a finger: how far it went, and how steeply, by the line that fits all of it best. */
class Way {
  constructor({ clientX, clientY }) {
    [this.x, this.y] = [clientX, clientY];
    this.isFromEdge = Math.min(clientX, window.innerWidth - clientX) < EDGE_PX;
    [this.n, this.sums] = [1, [0, 0, 0, 0, 0]];
    this.far = 0;
  }

  go({ clientX, clientY }) {
    const [x, y] = [clientX - this.x, clientY - this.y];
    this.n += 1;
    [x, y, x * x, y * y, x * y].forEach((term, i) => { this.sums[i] += term; });
    this.far = Math.max(this.far, Math.hypot(x, y));
  }

  get rests() {
    return this.far < RESTS_PX;
  }

  get goesAlong() {
    if (this.isFromEdge) return false;
    const [x, y, xx, yy, xy] = this.sums.map((sum) => sum / this.n);
    return Math.abs(Math.atan2(2 * (xy - x * y), xx - x * x - (yy - y * y)) / 2) <= STEEPEST_DRAG;
  }
}

// The press that may answer a line, and whether the last one came before the page was still.
let press = null;
let cameTooSoon = false;
document.addEventListener("pointerdown", (event) => {
  // A menu may open and keep the end of such a press to itself.
  if (event.button !== 0) return;
  pressed.add(event.pointerId);
  // Two fingers zoom.
  if (pressed.size > 1) press?.refuse();
  see(event.timeStamp);
  cameTooSoon = event.timeStamp - moved < STILL_MS;
}, true);
document.addEventListener("pointerup", release, true);
document.addEventListener("pointercancel", release, true);

// What was done on this page, last thing last; Ctrl+Z takes it back.
const undoable = [];
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key.toLowerCase() !== "z") return;
  const undo = undoable.pop();
  if (!undo) return;
  event.preventDefault();
  undo();
});

class Line {
  constructor(row, changed) {
    this.row = row;
    this.key = row.dataset.line;
    this.input = row.querySelector(".line-input");
    this.flag = row.querySelector("[data-touched]");
    this.help = row.querySelector(".line-help");
    this.told = row.querySelector("[data-value]");
    // Where each line can be left out.
    this.skip = row.querySelector("[data-skip]");
    [this.min, this.max, this.by] = ["min", "max", "step"].map((name) => Number(this.input[name]));
    row.append(document.querySelector("[data-clear-template]").content.cloneNode(true));
    const again = document.querySelector("[data-said-template]");
    if (again) row.append(again.content.cloneNode(true));
    const clear = row.querySelector("[data-clear]");
    clear.setAttribute("aria-label", `${clear.title}: ${row.dataset.left} – ${row.dataset.right}`);
    this.changed = changed;
    this.touched = this.input.value !== "";
    // As a number, before this script came.
    this.typed = this.touched && this.input.value !== this.input.defaultValue;
    this.firstTouch = null;
    this.changes = 0;
    this.means = null;
    // The answer that was there before the line was left out.
    this.aside = null;
    this.draw(this.touched ? Number(this.input.value) : this.middle);
    this.listen();
  }

  get middle() {
    return this.at(0.5);
  }

  /** Return the value at a share of the line, from 0 at its low end to 1. */
  at(share) {
    const steps = (this.max - this.min) / this.by;
    return this.min + Math.round(Math.min(1, Math.max(0, share)) * steps) * this.by;
  }

  /** Return how far a key moves: one step, or a tenth of the line by Page Up and Page Down. */
  move(key) {
    const tenth = Math.max(1, Math.round((this.max - this.min) / this.by / 10));
    return MOVES[key] * this.by * (key.startsWith("Page") ? tenth : 1);
  }

  get value() {
    return Number(this.input.value);
  }

  draw(value) {
    this.input.type = "range";
    this.input.value = String(value);
    this.row.classList.add("is-drawn");
    this.show();
  }

  show() {
    // An input event comes when the input's own value has changed already.
    this.shown = this.value;
    this.row.classList.toggle("is-untouched", !this.touched);
    this.flag.value = this.touched ? "1" : "0";
    const value = `${this.input.value} ${this.row.dataset.unit ?? ""}`.trim();
    if (this.told) this.told.textContent = this.touched ? value : "";
    const answered = texts.valuetext
      .replace("{value}", value)
      .replace("{left}", this.row.dataset.left)
      .replace("{right}", this.row.dataset.right);
    this.input.setAttribute("aria-valuetext", this.touched ? answered : texts.valuetextEmpty);
  }

  /** Whether it has neither an answer nor a reason for none. */
  get isOpen() {
    return !this.touched && !this.skip?.value;
  }

  get state() {
    return {
      touched: this.touched, value: this.shown, firstTouch: this.firstTouch, changes: this.changes,
      means: this.means, skip: this.skip?.value, aside: this.aside,
    };
  }

  restore({ touched = true, value, firstTouch, changes, means = null, skip = "", aside = null }) {
    this.touched = touched;
    this.aside = aside;
    this.firstTouch = firstTouch;
    this.changes = changes;
    this.means = means;
    if (this.skip) this.skip.value = skip;
    this.input.value = String(touched ? value : this.middle);
    this.show();
    if (!this.isOpen) this.settle();
  }

  /** Take the input's value as the answer. The state `before` a new gesture can be undone to. */
  answer(before, means) {
    this.touched = true;
    this.means = means;
    this.aside = null;
    if (this.skip) this.skip.value = "";
    this.firstTouch ??= step.clock.elapsed();
    if (before) this.count(before);
    this.show();
    document.querySelector(".is-latest")?.classList.remove("is-latest");
    this.row.classList.add("is-latest");
    onceReleased(() => { if (this.touched) this.settle(); });
    this.changed();
  }

  count(before) {
    this.changes += 1;
    undoable.push(() => {
      this.restore({ ...before, firstTouch: this.firstTouch, changes: this.changes + 1 });
      this.changed();
      this.input.focus({ preventScroll: true });
    });
  }

  /** Take the answer away: the line is open again. */
  clear() {
    if (!this.touched) return;
    this.count(this.state);
    this.restore({ touched: false, firstTouch: this.firstTouch, changes: this.changes });
    this.changed();
  }

  /** Remove what only concerns a line without an answer. */
  settle() {
    this.help.hidden = true;
    this.row.classList.remove("is-missing");
    this.row.querySelector("[data-problem]")?.remove();
    this.input.removeAttribute("aria-invalid");
    this.input.removeAttribute("aria-describedby");
    forgetMissing(this.input.id);
  }

  listen() {
    const { input } = this;
    const moveTo = (clientX) => {
      const box = input.getBoundingClientRect();
      const place = fromRight ? box.right - clientX : clientX - box.left;
      const share = (place - HANDLE_RADIUS) / (box.width - 2 * HANDLE_RADIUS);
      input.value = String(this.at(share));
      // One press is one change, through however many values.
      this.answer(press.answered ? null : press.before, press.means);
      press.answered = true;
      input.focus({ preventScroll: true });
    };

    input.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.ctrlKey || pressed.size > 1 || cameTooSoon) return;
      const before = this.state;
      press = {
        id: event.pointerId,
        before,
        means: event.pointerType || null,
        // A finger may be about to scroll. It means the line once it is lifted or moves along it.
        undecided: event.pointerType !== "mouse",
        way: new Way(event),
        since: moved,
        answered: false,
        /** Give the line back as it was. */
        refuse: () => {
          if (press.answered) {
            undoable.pop();
            this.restore(before);
            this.changed();
          }
          press = null;
        },
      };
      input.setPointerCapture(event.pointerId);
      if (!press.undecided) moveTo(event.clientX);
    });
    input.addEventListener("pointermove", (event) => {
      if (press?.id !== event.pointerId) return;
      if (press.undecided) {
        press.way.go(event);
        if (press.way.rests) return;
        press.undecided = press.way.far < SHOWN_AT_PX;
        if (!press.way.goesAlong) {
          if (!press.undecided) press.refuse();
          return;
        }
      }
      moveTo(event.clientX);
    });
    input.addEventListener("pointerup", (event) => {
      if (press?.id !== event.pointerId) return;
      if (press.undecided) {
        see(event.timeStamp);
        // The page may have moved on under a finger that rests.
        if (moved !== press.since || !(press.way.rests || press.way.goesAlong)) {
          press.refuse();
          return;
        }
        moveTo(event.clientX);
      }
      press = null;
    });
    input.addEventListener("pointercancel", (event) => {
      // The browser took the finger for scrolling.
      if (press?.id === event.pointerId) press.refuse();
    });
    // Browsers move the handle as soon as a finger comes down. Their mouse events, also those after
    // a tap, are stopped …
    input.addEventListener("mousedown", (event) => { if (event.button === 0) event.preventDefault(); });
    // … and a handle that the browser moved under a finger is put back.
    let touching = false;
    input.addEventListener("touchstart", () => { touching = true; }, { passive: true });
    for (const end of ["touchend", "touchcancel"]) {
      input.addEventListener(end, (event) => {
        if (!event.targetTouches.length) setTimeout(() => { touching = false; });
      });
    }
    input.addEventListener("input", () => {
      if (touching) input.value = String(this.shown);
      // Assistive technology changes a line without any press.
      else this.answer(this.state, "other");
    });
    input.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      // Enter would send the page from the middle of it.
      if (event.key === "Enter") event.preventDefault();
      if (event.key === "Escape") press?.refuse();
      if (event.key === "Delete" || event.key === "Backspace") {
        event.preventDefault();
        this.clear();
      }
      if (MOVES[event.key] === undefined) return;
      event.preventDefault();
      press = null;
      const before = this.state;
      const moved = (this.touched ? this.value : this.middle) + this.move(event.key);
      input.value = String(Math.min(this.max, Math.max(this.min, moved)));
      this.answer(before, "key");
    });
    this.skip?.addEventListener("change", () => {
      const { firstTouch, skip: { value: skip } } = this;
      const answer = this.touched ? { ...this.state, skip: "" } : this.aside;
      if (this.touched) this.count(answer);
      if (!skip && answer) this.restore({ ...answer, changes: this.changes });
      else this.restore({ touched: false, firstTouch, changes: this.changes, skip, aside: answer });
      this.changed();
    });
    this.row.querySelector("[data-clear]").addEventListener("click", () => {
      this.clear();
      input.focus({ preventScroll: true });
    });
    input.addEventListener("focus", () => {
      if (!this.touched && !pressed.size && input.matches(":focus-visible")) this.help.hidden = false;
    });
    input.addEventListener("blur", () => {
      onceReleased(() => {
        this.help.hidden = true;
        this.row.classList.remove("is-pointed");
      });
    });
  }

  markMissing() {
    if (!this.row.querySelector("[data-problem]")) {
      this.row.prepend(document.querySelector("[data-problem-template]").content.cloneNode(true));
    }
    const problem = this.row.querySelector("[data-problem]");
    problem.id = `problem-${this.key}`;
    this.row.classList.add("is-missing");
    this.input.setAttribute("aria-invalid", "true");
    this.input.setAttribute("aria-describedby", problem.id);
  }

  point() {
    this.row.classList.add("is-pointed");
    this.input.focus({ preventScroll: true });
    this.row.scrollIntoView({ block: "nearest" });
  }
}

function countMissing(n) {
  return n === 1 ? texts.missingOne : texts.missingMany.replace("{n}", n);
}

/** The summary above the list, with a link to each missing line. */
function summarize(missing) {
  const place = document.querySelector("[data-summary-place]");
  place.replaceChildren(
    document.querySelector("[data-summary-template]").content.cloneNode(true),
  );
  place.querySelector("[data-missing]").textContent = countMissing(missing.length);
  for (const line of missing) {
    const link = document.createElement("a");
    link.href = `#${line.input.id}`;
    link.textContent = `${line.row.dataset.left} – ${line.row.dataset.right}`;
    const item = document.createElement("li");
    item.append(link);
    place.querySelector("ul").append(item);
  }
}

function forgetMissing(id) {
  const place = document.querySelector("[data-summary-place]");
  place.querySelector(`a[href="#${CSS.escape(id)}"]`)?.closest("li").remove();
  const left = place.querySelectorAll("li").length;
  if (left) place.querySelector("[data-missing]").textContent = countMissing(left);
  else place.replaceChildren();
}

function collect() {
  const answered = lines.filter((line) => line.touched);
  return {
    lines: Object.fromEntries(answered.map((line) => [
      line.key, { first_touch_ms: line.firstTouch, changes: line.changes, means: line.means },
    ])),
  };
}

/** The choice to leave the page out, where there is one; "" for none. */
const skipPage = [...document.querySelectorAll("[data-skip-page]")];
const chosen = () => skipPage.find((choice) => choice.checked)?.value ?? "";

/** Where the page can be left out: beside the first missing line, and with the choice unfolded. */
function showWayOut(line) {
  document.querySelector("[data-way-out]")?.remove();
  const way = document.querySelector("[data-way-out-template]");
  if (!way) return;
  line.row.querySelector("[data-problem] span").append(way.content.cloneNode(true));
  skipPage[0].closest("details").open = true;
}

function mayLeave() {
  const missing = lines.filter((line) => line.isOpen);
  if (!missing.length || "optional" in texts || chosen()) return true;
  missing.forEach((line) => line.markMissing());
  summarize(missing);
  showWayOut(missing[0]);
  missing[0].point();
  return false;
}

const step = prepareStep({ storage: "localStorage", collect, mayLeave });
// Among the lines of a draft: no line has this name.
const PAGE = "?";
const answeredPlace = document.querySelector("[data-answered]");
const openPlace = document.querySelector("[data-open]");
const bar = document.querySelector("[data-progress]");
const passed = bar?.value;

function showCounts() {
  const n = lines.filter((line) => line.touched).length;
  const open = chosen() ? 0 : lines.filter((line) => line.isOpen).length;
  const leftOut = lines.length - n - open;
  if (answeredPlace) {
    const { answered, someLeftOut, allLeftOut } = answeredPlace.dataset;
    const told = chosen() ? allLeftOut : leftOut ? someLeftOut : answered;
    answeredPlace.textContent = told
      .replace("{n}", n).replace("{left}", leftOut).replace("{total}", lines.length);
    openPlace.textContent = open === 0 ? ""
      : open === 1 ? texts.openOne : texts.openMany.replace("{n}", open);
  }
  if (bar) bar.value = passed + 1 - open / lines.length;
}

function keep() {
  showCounts();
  const done = lines.filter((line) => !line.isOpen).map((line) => [line.key, line.state]);
  step.draft.write({ ...Object.fromEntries(done), [PAGE]: chosen() });
}

const said = document.querySelector("[data-said-copy]");
if (said) said.textContent = document.querySelector("[data-text]").textContent;
const lines = [...list.querySelectorAll("[data-line]")].map((row) => new Line(row, keep));
const kept = step.draft.read() ?? {};
for (const line of lines) {
  const answer = kept[line.key];
  if (answer && Number.isInteger(answer.value) && !line.typed) {
    line.restore(answer);
    step.restored = true;
  }
}
for (const choice of skipPage) {
  if (kept[PAGE] && !chosen()) choice.checked = choice.value === kept[PAGE];
  choice.addEventListener("change", keep);
}
if (chosen()) skipPage[0].closest("details").open = true;
if (lines.some((line) => line.typed)) keep();
else showCounts();
see(-Infinity);
new ResizeObserver(() => see(performance.now())).observe(document.body);
const pointed = lines.find((line) => line.input.autofocus && !line.touched);
pointed?.point();
