// What every page of the survey shares: answers kept until the server has them, one page sent once,
// and the times that go with it. Each page's own module calls prepareStep().
import { guardSending, warnBeforeLeaving } from "./sending.js";

const PREFIX = "stereoscope:";
// Fields about the page, not answers.
const RECORDED = new Set(["client", "kept"]);

/** Answers of one page, kept in a Storage under the page's name. A full or forbidden storage is no
 * reason to stop: the page then works without. */
export class Draft {
  constructor(storageName, name) {
    this.key = PREFIX + name;
    this.isUnsent = false;
    try {
      this.storage = window[storageName];
    } catch {
      this.storage = null;
    }
  }

  read() {
    try {
      return JSON.parse(this.storage.getItem(this.key));
    } catch {
      return null;
    }
  }

  write(answers) {
    this.isUnsent = true;
    try {
      this.storage.setItem(this.key, JSON.stringify(answers));
    } catch {
      // Kept on the page all the same.
    }
  }

  /** Whether what is written here can be read again after the page has gone. */
  keeps() {
    try {
      this.storage.setItem(`${PREFIX}probe`, "1");
      this.storage.removeItem(`${PREFIX}probe`);
      return true;
    } catch {
      return false;
    }
  }
}

/** Forget the drafts of a submission's other pages: the server would not have moved on without
 * them. Without `except` all of them go. */
export function forgetDrafts(submission, except = null) {
  for (const name of ["localStorage", "sessionStorage"]) {
    try {
      const storage = window[name];
      for (const key of Object.keys(storage)) {
        if (key.startsWith(`${PREFIX}${submission}/`) && key !== PREFIX + except) {
          storage.removeItem(key);
        }
      }
    } catch {
      // No storage, nothing to forget.
    }
  }
}

/** Times of one page view and the kind of device; no identity. */
class Clock {
  constructor() {
    this.opened = performance.now();
    this.visible = 0;
    this.since = document.hidden ? null : this.opened;
    this.pointers = new Set();
    this.pastes = 0;
    document.addEventListener("visibilitychange", () => {
      const now = performance.now();
      if (document.hidden && this.since !== null) {
        this.visible += now - this.since;
        this.since = null;
      } else if (!document.hidden && this.since === null) {
        this.since = now;
      }
    });
    document.addEventListener("pointerdown", (event) => {
      this.pointers.add(event.pointerType === "mouse" ? "mouse" : "touch");
    }, true);
    document.addEventListener("keydown", () => this.pointers.add("keyboard"), true);
    // How often, never what.
    document.addEventListener("paste", () => { this.pastes += 1; }, true);
  }

  elapsed() {
    return Math.round(performance.now() - this.opened);
  }

  describe() {
    const shown = this.since === null ? 0 : performance.now() - this.since;
    const [pointer = null, another = null] = this.pointers;
    return {
      device: describeDevice(),
      pointer: another ? "mixed" : pointer,
      open_ms: this.elapsed(),
      visible_ms: Math.round(this.visible + shown),
      pastes: this.pastes,
    };
  }
}

function describeDevice() {
  if (!matchMedia("(pointer: coarse)").matches) return "desktop";
  return Math.min(screen.width, screen.height) < 600 ? "phone" : "tablet";
}

/** Guard the page's form and return `{ form, clock, draft, restored }`.
 *
 * `collect()` returns further fields of the client's record; `mayLeave()` returns false to keep the
 * page because something is missing. */
export function prepareStep({ storage, collect = () => ({}), mayLeave = () => true }) {
  const form = document.querySelector("[data-step]");
  const name = form.dataset.draft;
  const draft = new Draft(storage, name);
  const clock = new Clock();
  const step = { form, clock, draft, restored: false };
  forgetDrafts(name.split("/")[0], name);

  guardSending(form, {
    content: () => JSON.stringify([...new FormData(form)].filter(([name]) => !RECORDED.has(name))),
    mayLeave: (submitter) => submitter?.value === "decline" || submitter?.name === "language"
      || mayLeave(),
    complete: () => {
      const record = { ...clock.describe(), restored: step.restored, ...collect() };
      form.querySelector("[data-client]").value = JSON.stringify(record);
      form.querySelector("[data-kept]").value = draft.keeps() ? "1" : "";
    },
  });
  warnBeforeLeaving(() => draft.isUnsent);
  // The Back button leads to the current page, not to the browser's memory of an earlier one.
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    draft.isUnsent = false;
    location.reload();
  });
  return step;
}
