// What the rating pages are about: groups out of the library and new ones, or texts of a corpus.
import { fill, iconButton, labeled, make } from "./flow-dom.js";
import { Picker } from "./picker.js";

export function groupsPart(editor) {
  return [editor.config.ratesTexts ? drawTexts(editor) : drawGroups(editor)];
}

function head(title, help, count) {
  return make("div", { class: "designer-part-head" },
    make("h3", { text: title }), make("span", { class: "flow-help", text: count }),
    help ? make("p", { class: "flow-help", text: help }) : null);
}

function drawGroups(editor) {
  const { store, config, library, words } = editor;
  const chosen = store.document.groups;
  const bySlug = new Map([...library.groups, ...chosen].map((group) => [group.slug, group]));
  const count = make("span", { class: "flow-help", text: fill(words.chosen, { n: chosen.length }) });
  const place = make("div", { class: "picker" });
  const forms = make("div", { class: "designer-forms" });
  const domains = new Map(library.domains);

  const picker = new Picker(place, {
    label: words.groups,
    words,
    field: "groups",
    isDisabled: !config.mayEdit,
    entries: [...bySlug.values()].map(({ slug, plural, domains: own }) => ({
      value: slug, label: plural, note: own.map((name) => domains.get(name) ?? name).join(", "),
    })),
    sets: library.sets,
    categories: library.domains.map(([value, label]) => ({
      label, values: library.groups.filter((group) => group.domains.includes(value) && !group.paired).map(({ slug }) => slug),
    })),
    chosen: chosen.map(({ slug }) => slug),
    create: config.mayAddGroups ? (name) => add([name]) : null,
    edit: (slug) => editForms(slug),
    changed: (slugs) => {
      const now = new Map(store.document.groups.map((group) => [group.slug, group]));
      store.document.groups = slugs.map((slug) => now.get(slug) ?? entryOf(bySlug.get(slug)));
      count.textContent = fill(words.chosen, { n: slugs.length });
      editor.changed("groups");
    },
  });

  /** Take new groups into the library and choose them. Says what the server refuses. */
  async function add(names) {
    const answers = [];
    for (const plural of names) {
      const answer = await library.add({ plural });
      if (!answer.slug) {
        picker.status.textContent = answer.text;
        problem.textContent = answer.text;
        problem.hidden = false;
        break;
      }
      problem.hidden = true;
      bySlug.set(answer.slug, answer);
      if (!library.groups.some(({ slug }) => slug === answer.slug)) library.groups.push(answer);
      if (!picker.entries.some(({ value }) => value === answer.slug)) {
        picker.entries.push({ value: answer.slug, label: answer.plural, note: "" });
      }
      answers.push(answer.slug);
    }
    // One may be written twice, or stand in the study already.
    const added = [...new Set(answers)].filter((slug) => !picker.chosen.includes(slug));
    picker.add(added, fill(added.length === 1 ? words.pastedOne : words.pastedMany, { n: added.length }));
    return answers.length === names.length;
  }

  const problem = make("p", { class: "designer-problem", hidden: true, role: "alert" });

  /** What this study calls one group; the library stays as it is. */
  function editForms(slug) {
    const at = store.document.groups.findIndex((one) => one.slug === slug);
    const group = store.document.groups[at];
    const field = (name, label) => labeled(label, make("input", {
      type: "text", class: "flow-input", maxlength: 120, value: group[name], "data-field": `groups ${at + 1} ${name}`,
      on: {
        input: ({ target }) => {
          group[name] = target.value;
          if (name === "plural") group.plural_capitalised = target.value.slice(0, 1).toUpperCase() + target.value.slice(1);
          editor.changed(`group ${slug} ${name}`);
        },
        change: () => {
          picker.entries = picker.entries.map((entry) => (entry.value === slug ? { ...entry, label: group.plural } : entry));
          picker.draw();
        },
      },
    }));
    const move = (by) => {
      const { groups } = store.document;
      const from = groups.indexOf(group);
      const to = from + by;
      if (to < 0 || to >= groups.length) return;
      groups.splice(to, 0, ...groups.splice(from, 1));
      picker.chosen = groups.map((one) => one.slug);
      picker.draw();
      editor.changed("groups");
    };
    forms.replaceChildren(make("fieldset", { class: "designer-card" },
      make("legend", { class: "flow-label", text: fill(words.editGroup, { name: group.plural }) }),
      field("plural", words.group), field("singular", words.singular),
      make("div", { class: "buttons" },
        iconButton("↑", fill(words.up, { name: group.plural }), () => move(-1)),
        iconButton("↓", fill(words.down, { name: group.plural }), () => move(1)),
        make("button", { type: "button", class: "button", text: words.close, on: { click: () => forms.replaceChildren() } }))));
    forms.querySelector("input").focus();
  }

  const parts = [head(words.groups, words.groupsHelp, ""), place, problem, forms];
  if (config.mayAddGroups && config.mayEdit) parts.push(drawNewGroups(words, add));
  else if (config.mayEdit) parts.push(make("p", { class: "flow-help", text: words.askLibrary }));
  parts[0].querySelector("span").replaceWith(count);
  return make("section", { class: "designer-part" }, ...parts);
}

function entryOf({ slug, singular, plural, plural_capitalised, domains }) {
  return { slug, singular, plural, plural_capitalised, domains, item: "", variety: "", body: "" };
}

function drawNewGroups(words, add) {
  const area = make("textarea", { class: "flow-input", rows: 2 });
  const button = make("button", {
    type: "button", class: "button", text: words.newGroupsButton,
    on: {
      click: async () => {
        const names = area.value.split(/[,;\n]/).map((name) => name.trim()).filter(Boolean);
        if (names.length && await add(names)) area.value = "";
      },
    },
  });
  return make("div", { class: "designer-new" }, labeled(words.newGroups, area),
    make("p", { class: "flow-help", text: words.newGroupsHelp }), button);
}

/** The texts of a corpus: drawn at the start, taken out at will. */
function drawTexts(editor) {
  const { store, config, words } = editor;
  const list = make("ol", { class: "designer-texts" });
  const section = make("section", { class: "designer-part" });
  const draw = () => {
    const { groups } = store.document;
    list.replaceChildren(...groups.map((text, place) => make("li", { "data-says": text.body },
      make("span", { class: "badge", text: text.variety }), make("span", { text: text.body }),
      config.mayEdit ? make("span", { class: "flow-tools" },
        iconButton("↑", fill(words.up, { name: text.plural }), () => move(place, -1)),
        iconButton("↓", fill(words.down, { name: text.plural }), () => move(place, 1)),
        iconButton("×", fill(words.remove, { name: text.plural }), () => {
          groups.splice(place, 1);
          editor.changed("texts");
          draw();
        })) : null)));
    section.replaceChildren(head(words.textsRated, "", fill(words.chosen, { n: groups.length })), list);
  };
  const move = (from, by) => {
    const { groups } = store.document;
    if (from + by < 0 || from + by >= groups.length) return;
    groups.splice(from + by, 0, ...groups.splice(from, 1));
    editor.changed("texts");
    draw();
  };
  draw();
  return section;
}
