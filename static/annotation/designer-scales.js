// The lines of rating pages: out of the library, whole dimensions at once, or of one's own.
import { fill, iconButton, labeled, make } from "./flow-dom.js";
import { Picker } from "./picker.js";

export function scalesPart(editor) {
  const { store, config, library, words } = editor;
  const names = new Map(config.dimensions);
  const count = make("span", { class: "flow-help" });
  const list = make("ol", { class: "designer-scales" });
  const place = make("div", { class: "picker is-without-chips" });
  const labelOf = ({ low, high }) => `${low} – ${high}`;
  const bySlug = new Map([...library.scales, ...store.document.scales].map((scale) => [scale.slug, scale]));

  const picker = new Picker(place, {
    label: words.scales,
    words,
    field: "scales",
    isDisabled: !config.mayEdit,
    entries: [...bySlug.values()].map((scale) => ({
      value: scale.slug, label: labelOf(scale), note: names.get(scale.dimension),
    })),
    categories: config.dimensions.map(([value, label]) => ({
      label, values: library.scales.filter(({ dimension }) => dimension === value).map(({ slug }) => slug),
    })),
    chosen: store.document.scales.map(({ slug }) => slug),
    changed: (slugs) => {
      const now = new Map(store.document.scales.map((scale) => [scale.slug, scale]));
      store.document.scales = slugs.map((slug) => now.get(slug) ?? { ...bySlug.get(slug) });
      editor.changed("scales");
      draw();
    },
  });

  function draw() {
    const { scales } = store.document;
    count.textContent = fill(words.chosen, { n: scales.length });
    list.replaceChildren(...scales.map((scale, index) => {
      const name = labelOf(scale);
      const move = (by) => {
        const to = index + by;
        if (to < 0 || to >= scales.length) return;
        scales.splice(to, 0, ...scales.splice(index, 1));
        picker.chosen = scales.map(({ slug }) => slug);
        editor.changed("scales");
        draw();
        list.children[to].querySelectorAll("button")[by < 0 ? 0 : 1].focus();
      };
      return make("li", { "data-says": name },
        make("span", { class: "designer-low", text: scale.low }), make("span", { class: "designer-line", "aria-hidden": "true" }),
        make("span", { text: scale.high }), make("span", { class: `designer-dimension is-${scale.dimension}`, text: names.get(scale.dimension) }),
        config.mayEdit ? make("span", { class: "flow-tools" },
          iconButton("↑", fill(words.up, { name }), () => move(-1)),
          iconButton("↓", fill(words.down, { name }), () => move(1)),
          iconButton("×", fill(words.remove, { name }), () => picker.drop([scale.slug], fill(words.removed, { name })))) : null);
    }));
  }

  async function addOwn(values) {
    const answer = await library.add(values);
    problem.hidden = Boolean(answer.slug);
    if (!answer.slug) {
      problem.textContent = answer.text;
      return false;
    }
    bySlug.set(answer.slug, answer);
    if (!library.scales.some(({ slug }) => slug === answer.slug)) library.scales.push(answer);
    if (!picker.entries.some(({ value }) => value === answer.slug)) {
      picker.entries.push({ value: answer.slug, label: labelOf(answer), note: names.get(answer.dimension) });
    }
    picker.add([answer.slug], labelOf(answer));
    return true;
  }

  const problem = make("p", { class: "designer-problem", hidden: true, role: "alert" });
  draw();
  return [make("section", { class: "designer-part" },
    make("div", { class: "designer-part-head" }, make("h3", { text: words.scales }), count,
      make("p", { class: "flow-help", text: words.scalesHelp })),
    list, place, problem, config.mayAddScales && config.mayEdit ? drawOwn(config, addOwn) : null)];
}

function drawOwn({ words, dimensions }, addOwn) {
  const [low, high] = [1, 2].map(() => make("input", { type: "text", class: "flow-input", maxlength: 60 }));
  const dimension = make("select", { class: "flow-input flow-short" },
    ...[["", words.chooseDimension], ...dimensions].map(([value, text]) => make("option", { value, text })));
  const send = async () => {
    if (await addOwn({ low: low.value, high: high.value, dimension: dimension.value })) {
      low.value = "";
      high.value = "";
      dimension.value = "";
      low.focus();
    }
  };
  for (const input of [low, high]) {
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      send();
    });
  }
  return make("fieldset", { class: "designer-new" }, make("legend", { class: "flow-label", text: words.newScale }),
    make("div", { class: "designer-row" }, labeled(words.low, low), labeled(words.high, high), labeled(words.dimension, dimension),
      make("button", { type: "button", class: "button", text: words.addScale, on: { click: send } })));
}
