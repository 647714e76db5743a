// Stores edits as they are made. What could not be sent yet is kept on this device.
import { fill, make } from "./flow-dom.js";

const QUIET_MS = 500; // without an edit
const AGAIN_MS = 3000; // after a failure
const PARTS = ["settings", "flow", "groups", "scales", "questions", "texts"];

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
}

/** Says “saved” with the server's answer as its detail, and “refused” with problems by path. */
export class Saving extends EventTarget {
  constructor(store, config, { status, conflict, csrf }) {
    super();
    Object.assign(this, { store, config, status, conflict, csrf, words: config.words });
    this.token = config.token;
    this.kept = `stereoscope-draft-${config.pk}`;
    this.unanswered = []; // the names of saves that may have arrived or not
    this.unsure = new Set(); // the parts that they held
    this.remember();
    store.addEventListener("change", () => this.schedule());
    addEventListener("beforeunload", (event) => {
      if (this.isPending) event.preventDefault();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden" && this.isPending) this.save();
    });
  }

  /** Return what differs from what is stored, or may differ. */
  get parts() {
    const found = {};
    for (const name of PARTS) {
      const text = JSON.stringify(this.store.document[name]);
      if (text !== this.stored[name] || this.unsure.has(name)) found[name] = JSON.parse(text);
    }
    return found;
  }

  get isPending() {
    return Object.keys(this.parts).length > 0;
  }

  remember(document = this.store.document) {
    this.stored = Object.fromEntries(PARTS.map((name) => [name, JSON.stringify(document[name])]));
    this.unanswered = [];
    this.unsure.clear();
  }

  /** Bring back what the last visit could not store. */
  restore() {
    let left = null;
    try {
      left = JSON.parse(localStorage.getItem(this.kept));
    } catch { /* nothing that can be read */ }
    if (!left?.parts) return;
    this.store.edit((document) => Object.assign(document, left.parts));
    if (!this.isPending) return; // it reached the server while the page was being left
    // Made from another state than this one they are a conflict that a person decides, unless a
    // save of that visit has made it.
    this.token = left.token;
    this.unanswered = left.unanswered ?? [];
    this.keep();
    this.say(this.words.kept);
  }

  keep() {
    try {
      if (this.isPending) {
        const { token, parts, unanswered } = this;
        localStorage.setItem(this.kept, JSON.stringify({ token, parts, unanswered }));
      } else localStorage.removeItem(this.kept);
    } catch { /* a device without room: the page itself still holds the edits */ }
  }

  schedule(delay = QUIET_MS) {
    this.keep();
    clearTimeout(this.timer);
    if (this.isStopped) return;
    if (!this.isPending) this.say(this.words.saved);
    else this.say(this.words.saving);
    this.timer = setTimeout(() => this.save(), delay);
  }

  say(text, isWrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("is-wrong", isWrong);
  }

  /** Return a promise that is true once everything is stored. */
  async flush() {
    clearTimeout(this.timer);
    while (this.isPending) {
      if (!await this.save()) return false;
    }
    await this.running;
    return true;
  }

  save() {
    this.running = (this.running ?? Promise.resolve()).then(() => this.send());
    return this.running;
  }

  async send() {
    if (this.isStopped) return false;
    if (!this.isPending) return true;
    const sent = JSON.parse(JSON.stringify(this.store.document));
    const { parts, token } = this;
    const unanswered = [...this.unanswered];
    const key = newKey();
    // Until an answer comes, nobody knows whether it has arrived.
    this.unanswered.push(key);
    Object.keys(parts).forEach((name) => this.unsure.add(name));
    this.keep();
    let answer;
    try {
      const response = await fetch(this.config.addresses.draft, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": this.csrf },
        body: JSON.stringify({ token, parts, key, unanswered }),
      });
      if (response.redirected || response.status === 403) {
        return this.fail(this.words.signedOut);
      }
      answer = await response.json();
      if (response.status === 409) return this.stop(answer);
      if (response.status === 422) return this.refuse(answer);
      if (!response.ok) return this.fail(this.words.failed);
    } catch {
      return this.fail(this.words.connection);
    }
    this.token = answer.token;
    this.remember(sent);
    this.keep();
    if (!this.isPending) this.say(this.words.saved);
    this.dispatchEvent(new CustomEvent("saved", { detail: answer }));
    return true;
  }

  fail(text) {
    this.say(text, true);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), AGAIN_MS);
    return false;
  }

  refuse(answer) {
    const problems = Object.entries(answer.problems);
    const said = problems.length ? problems[0][1] : answer.text;
    this.say(fill(this.words.mend, { name: said }), true);
    this.dispatchEvent(new CustomEvent("refused", { detail: answer.problems }));
    return false;
  }

  /** Somebody else has stored the draft meanwhile: a person decides. */
  stop(answer) {
    this.isStopped = true;
    this.say(answer.text, true);
    const button = (text, listener) => make("button", {
      type: "button", class: "button", text, on: { click: listener },
    });
    this.conflict.replaceChildren(make("div", {},
      make("p", {}, make("b", { text: answer.text })),
      make("p", { text: this.words.conflict }),
      make("div", { class: "buttons" },
        button(this.words.takeTheirs, () => {
          localStorage.removeItem(this.kept);
          this.stored = {};
          this.remember();
          location.reload();
        }),
        button(this.words.keepMine, () => {
          this.isStopped = false;
          this.token = answer.token;
          this.conflict.hidden = true;
          this.save();
        }))));
    this.conflict.hidden = false;
    this.conflict.scrollIntoView({ block: "nearest" });
    return false;
  }
}
