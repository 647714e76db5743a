// The document that is edited: its present state, and the states before and after it.

const SAME_EDIT_MS = 1200;
const MOST_STATES = 200;

/** Says “change” after each edit, and “replace” where everything has to be drawn anew. */
export class Store extends EventTarget {
  constructor(document) {
    super();
    this.document = document;
    this.now = JSON.stringify(document);
    this.past = [];
    this.future = [];
    this.mark = null;
    this.at = 0;
  }

  /** Take note that the document was edited in place. Edits with one mark are undone together. */
  touch(mark = null) {
    const next = JSON.stringify(this.document);
    if (next === this.now) return;
    const isSame = mark !== null && mark === this.mark && Date.now() - this.at < SAME_EDIT_MS;
    if (!isSame) this.past.push(this.now);
    if (this.past.length > MOST_STATES) this.past.shift();
    this.future = [];
    this.now = next;
    this.mark = mark;
    this.at = Date.now();
    this.dispatchEvent(new Event("change"));
  }

  /** Edit the document by a function, as one step to undo, and draw everything anew. */
  edit(change) {
    change(this.document);
    this.touch();
    this.dispatchEvent(new Event("replace"));
  }

  undo() {
    return this.go(this.past, this.future);
  }

  redo() {
    return this.go(this.future, this.past);
  }

  go(from, to) {
    if (!from.length) return false;
    to.push(this.now);
    this.now = from.pop();
    this.document = JSON.parse(this.now);
    this.mark = null;
    this.dispatchEvent(new Event("replace"));
    this.dispatchEvent(new Event("change"));
    return true;
  }
}
