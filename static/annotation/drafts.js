// Numbered drafts: kept on this device until the server has them, sent a moment after the last key,
// and again until they arrive. A draft with a lower number never wins over one with a higher one.

const PREFIX = "stereoscope:writing:";
const PAUSE_MS = 800;
const PATIENCE_MS = 12_000;
const FIRST_RETRY_MS = 2000;
const LAST_RETRY_MS = 30_000;
const MOST_UNANSWERED = 100;

/** One draft on this device. A full or forbidden storage is no reason to stop. */
class Kept {
  constructor(name) {
    this.key = PREFIX + name;
  }

  read() {
    try {
      return JSON.parse(localStorage.getItem(this.key));
    } catch {
      return null;
    }
  }

  write(content) {
    try {
      localStorage.setItem(this.key, JSON.stringify(content));
    } catch {
      // It is still on the page.
    }
  }

  forget() {
    try {
      localStorage.removeItem(this.key);
    } catch {
      // There was nothing.
    }
  }
}

const FIELDS = ["body", "not_interpretable", "reason", "detail"];

/** Whether two contents say the same. */
function isSame(one, other) {
  return FIELDS.every((field) => (one[field] || "") === (other[field] || ""));
}

function isAmong(contents, content) {
  return contents.some((one) => isSame(one, content));
}

/** Sends drafts of one text.
 *
 * `collect()` returns `{ body, not_interpretable, reason, detail }` as it stands;
 * `send(content, number, signal)` posts it and returns
 * `{ result, … }`, or throws where there is no connection; `tell(event, answer)` hears “unsaved”,
 * “saving”, “saved”, “offline”, “stale” and every other result of the server. */
export class Drafts {
  constructor({ name, number, collect, send, tell }) {
    Object.assign(this, { number, collect, send, tell });
    this.kept = new Kept(name);
    this.isDirty = false;
    this.timer = null;
    this.running = null;
    this.retryMs = FIRST_RETRY_MS;
    this.isHalted = false;
    // What was sent without an answer: the server may have it.
    this.unanswered = [];
    window.addEventListener("online", () => { if (this.isDirty) this.flush(); });
  }

  /** What a lost connection left on this device: { content, isNewer }, or null. */
  findKept() {
    const content = this.kept.read();
    if (!content || typeof content.body !== "string") return null;
    const { unanswered = [] } = content;
    const isNewer = content.number > this.number || isAmong(unanswered, this.collect());
    if (isSame(content, this.collect()) || (content.isSent && !isNewer)) {
      this.kept.forget();
      return null;
    }
    return { content, isNewer };
  }

  /** Something was typed or ticked. */
  note() {
    this.isDirty = true;
    this.keep();
    this.tell("unsaved");
    this.schedule(PAUSE_MS);
  }

  keep(more = {}) {
    const { number, unanswered } = this;
    this.kept.write({ ...this.collect(), number: number + 1, unanswered, ...more });
  }

  schedule(ms) {
    clearTimeout(this.timer);
    if (!this.isHalted) this.timer = setTimeout(() => this.flush(), ms);
  }

  /** Send what is there now; resolves to whether the server has it. */
  async flush() {
    clearTimeout(this.timer);
    if (this.running) await this.running;
    if (!this.isDirty || this.isHalted) return !this.isDirty;
    this.running = this.sendOnce();
    try {
      return await this.running;
    } finally {
      this.running = null;
    }
  }

  async sendOnce() {
    const content = this.collect();
    const number = this.number + 1;
    this.tell("saving");
    let answer;
    try {
      answer = await this.send(content, number, AbortSignal.timeout(PATIENCE_MS));
    } catch {
      if (this.unanswered.length < MOST_UNANSWERED && !isAmong(this.unanswered, content)) {
        this.unanswered.push(content);
        this.keep();
      }
      this.tell("offline");
      this.schedule(this.retryMs);
      this.retryMs = Math.min(2 * this.retryMs, LAST_RETRY_MS);
      return false;
    }
    this.retryMs = FIRST_RETRY_MS;
    const { unanswered } = this;
    this.unanswered = [];
    if (answer.result === "stale" && isAmong(unanswered, answer.content)) {
      // Its answer was lost, not the draft: nobody else has written.
      this.resume(answer.number);
      return this.sendOnce();
    }
    if (answer.result !== "saved") {
      this.isHalted = answer.result !== "refused";
      this.tell(answer.result, answer);
      return false;
    }
    this.number = number;
    if (!isSame(this.collect(), content)) {
      this.keep();
      this.schedule(PAUSE_MS);
      return false;
    }
    this.isDirty = false;
    this.kept.forget();
    this.tell("saved", answer);
    return true;
  }

  /** Go on after a conflict: `number` is the one that the server has. */
  resume(number) {
    this.number = Math.max(this.number, number);
    this.isHalted = false;
  }
}
