// Items in files: each benchmark of a run is a script of its own, which is loaded when it is asked
// for, since a page from disk may fetch nothing. It calls `items.register` with `Answers` of values/attempts/items.py.
// The articles are those of templates/items.html and answer.html; a test compares them element by element.
//
//   items.load(address)   a promise of what the script at an address registers; two may be loaded
//   items.article(item)   one of its items as an article
const items = (() => {
  "use strict";

  const loaded = new WeakMap();
  const register = (answers) => loaded.set(document.currentScript, answers);
  const load = (address) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const failed = () => reject(new Error(`${address} cannot be read.`));
    script.addEventListener("error", failed);
    script.addEventListener("load", () => {
      loaded.has(script) ? resolve(loaded.get(script)) : failed();
    });
    script.src = address;
    document.head.append(script);
  });

  // As `render.readable` writes control characters and those that turn the direction of text.
  const escaped = (one) => {
    const code = one.charCodeAt(0);
    if (one === "\r") return "\\r";
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
  };
  const readable = (text) => String(text).replace(/(?![\n\t])[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, escaped);

  // Parts that are false, such as a badge that does not apply, are left out.
  const element = (tag, attributes, ...parts) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    for (const one of parts.flat(Infinity).filter((part) => part !== false && part !== "")) {
      made.append(one instanceof Node ? one : readable(one));
    }
    return made;
  };
  const verdict = (name) => element("span", { class: `verdict ${name}` }, name);
  const badge = (applies, name) => applies && [" ", element("span", { class: "badge" }, name)];
  const named = (name, ...parts) => [element("dt", {}, name), element("dd", {}, ...parts)];
  const text = (name, value) => value && named(name, element("pre", { dir: "auto" }, value));
  // As `parted` of values/attempts/marked.py parts it; places are counted in code points.
  const generation = (item) => {
    const text = [...item.judged];
    const cut = (start, end) => text.slice(start, end).join("");
    const ends = [0, ...item.marks.map((one) => one.end)];
    const parts = item.marks.map(({ start, end, found_by: by }, at) => [
      cut(ends[at], start), element("mark", { title: `found by ${by.join(", ")}` }, cut(start, end)),
    ]);
    return element("pre", { dir: "auto" }, parts, cut(ends.at(-1)), text.length === 0 && "(empty)");
  };
  const list = (lines) => element("ul", {}, lines.map((parts) => element("li", {}, parts)));
  const found = (item) => item.found.length > 0 && list(item.found.map((one) => [
    verdict(one.right ? "right" : "wrong"), ` ${one.extractor}`,
    one.decides && [" ", element("strong", {}, "decides")], ": ",
    one.found ? element("q", { dir: "auto" }, one.found) : "nothing",
  ]));
  const likelihoods = (item) => item.likelihoods.length > 0 && list(item.likelihoods.map(
    ([name, value]) => [element("span", { class: "n" }, value), ` ${name}`]));

  const article = (item) => {
    const id = `item-${item.id}`;
    return element("article", { class: "item", "aria-labelledby": id },
      element("h2", { id }, `Row ${item.id + 1}`,
        item.verdict && [" ", verdict(item.verdict)],
        badge(item.cut, "cut at the limit"),
        badge(item.long, "prompt longer than the limit"),
        badge(item.in_training, "in the training set")),
      element("dl", {},
        text("Prompt", item.prompt),
        text("Gold answer", item.gold),
        text("Reference", item.reference),
        named("Generation", generation(item)),
        text("After it, not judged", item.rest),
        item.found.length > 0 && named("Found", found(item)),
        item.likelihoods.length > 0 && named("Log-likelihoods", likelihoods(item))));
  };

  // The page of the items of a run: the address chooses kind and page, as that of a server does.
  const PER_PAGE = 20; // PAGE of values/attempts/items.py
  const pager = (asked, number, of) => {
    const link = (page, rel, text) => {
      const query = new URLSearchParams(asked);
      page > 1 ? query.set("page", page) : query.delete("page");
      return element("a", { href: `?${query}`, rel }, text);
    };
    return of > 1 && element("nav", { class: "pager", "aria-label": "Pages of this list" },
      number > 1 && link(number - 1, "prev", "Previous"),
      element("span", {}, `Page ${number} of ${of}`),
      number < of && link(number + 1, "next", "Next"));
  };
  const empty = (text) => element("p", { class: "empty" }, text);
  // One page of what `kind` chooses, as the address says, and links to the others.
  const page = (all, asked, article) => {
    const kind = asked.get("kind");
    const number = Math.max(1, Number.parseInt(asked.get("page"), 10) || 1);
    const kept = all.filter((one) => !kind || one.kinds.includes(kind));
    const shown = kept.slice((number - 1) * PER_PAGE, number * PER_PAGE).map(article);
    const of = Math.ceil(kept.length / PER_PAGE);
    return [shown.length ? shown : empty("There are no such items."), pager(asked, number, of)].flat();
  };
  const choose = (kind) => {
    for (const one of document.querySelectorAll("[aria-label=Items] a")) {
      const current = new URL(one.href).searchParams.get("kind") === kind;
      current ? one.setAttribute("aria-current", "true") : one.removeAttribute("aria-current");
    }
  };
  const place = document.getElementById("items");
  if (place) {
    const asked = new URLSearchParams(location.search);
    choose(asked.get("kind"));
    load(place.dataset.from).then(
      (answers) => place.replaceChildren(element("div", {}, page(answers.items, asked, article))),
      (error) => place.replaceChildren(empty(error.message)));
  }

  const parts = { element, verdict, badge, text, generation, found, likelihoods };
  return { load, register, article, page, choose, empty, parts };
})();
