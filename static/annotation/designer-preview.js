// The chosen step as participants see it, in a frame of a phone or of a desktop.
import { make } from "./flow-dom.js";

const WIDTHS = { phone: 390, desktop: 1280 };

export class Preview {
  /** `clicked(text)` hears which text was clicked, `went(by)` that the page was sent. */
  constructor(node, config, { clicked, went }) {
    Object.assign(this, { config, clicked, went });
    this.frame = node.querySelector("[data-frame]");
    this.device = node.querySelector("[data-device]");
    this.languages = node.querySelector("[data-language]");
    this.step = 0;
    this.seed = 1;
    this.screen = "phone";
    this.colors = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    this.scrolls = new Map();
    for (const kind of ["screen", "colors"]) {
      for (const button of node.querySelectorAll(`[data-${kind}]`)) {
        button.addEventListener("click", () => {
          this[kind] = button.dataset[kind];
          this.look();
        });
      }
    }
    this.languages.addEventListener("change", () => this.load());
    node.querySelector("[data-another]").addEventListener("click", () => {
      this.seed += 1;
      this.load();
    });
    addEventListener("message", (event) => this.hear(event));
    new ResizeObserver(() => this.fit()).observe(this.device);
    this.describeLanguages(config.languages);
    this.look();
  }

  describeLanguages(languages) {
    const chosen = this.languages.value;
    this.languages.replaceChildren(...languages.map(({ code, name }) => make("option", { value: code, text: name })));
    if (languages.some(({ code }) => code === chosen)) this.languages.value = chosen;
  }

  show(step) {
    this.step = step;
    this.load();
  }

  load() {
    const query = new URLSearchParams({ step: this.step + 1, seed: this.seed, language: this.languages.value });
    // Not another entry of the browser's history.
    this.frame.contentWindow.location.replace(`${this.config.addresses.draw}?${query}`);
  }

  look() {
    for (const kind of ["screen", "colors"]) {
      for (const button of document.querySelectorAll(`[data-${kind}]`)) {
        button.setAttribute("aria-pressed", String(button.dataset[kind] === this[kind]));
      }
    }
    this.device.className = `designer-device is-${this.screen}`;
    this.fit();
    this.tell();
  }

  /** Draw the page at its own width, as small as the frame is. */
  fit() {
    const { clientWidth, clientHeight } = this.device;
    if (!clientWidth) return;
    const scale = Math.min(1, clientWidth / WIDTHS[this.screen]);
    Object.assign(this.frame.style, {
      width: `${WIDTHS[this.screen]}px`, height: `${clientHeight / scale}px`, transform: `scale(${scale})`,
    });
  }

  tell() {
    this.frame.contentWindow.postMessage({
      colors: this.colors, scroll: this.scrolls.get(this.step) ?? 0,
    }, location.origin);
  }

  hear({ source, origin, data }) {
    if (source !== this.frame.contentWindow || origin !== location.origin) return;
    if (data.loaded) this.tell();
    if (data.clicked) this.clicked(data.clicked);
    if (data.went) this.went(data.went);
    if (typeof data.scroll === "number") this.scrolls.set(this.step, data.scroll);
  }
}
