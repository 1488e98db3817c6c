// The items of two runs side by side, in files: as templates/item_pairs.html shows them.
(() => {
  "use strict";

  const { element, verdict, badge, text, generation, found, likelihoods } = items.parts;
  const place = document.getElementById("pairs");
  const asked = new URLSearchParams(location.search);

  const kindOf = (link) => new URL(link.href).searchParams.get("kind");
  const links = [...document.querySelectorAll("[aria-label=Items] a")];
  const called = new Map(links.map((link) => [kindOf(link), link.textContent]));
  // As `Pair.kinds`.
  const JUDGED = {
    "right wrong": "gained", "wrong right": "lost",
    "right right": "both-right", "wrong wrong": "both-wrong",
  };
  const decisive = (item) => (item.found.find((one) => one.decides) ?? { found: item.judged }).found;
  const paired = (first, second) => {
    const judged = JUDGED[`${first.verdict} ${second.verdict}`];
    const differ = decisive(first) !== decisive(second) && "different-answer";
    return { first, second, told: called.get(judged) ?? "", kinds: [judged, differ] };
  };
  const pairs = (first, second) => {
    const others = new Map(second.items.map((item) => [item.id, item]));
    return first.items.filter((item) => others.has(item.id))
      .map((item) => paired(item, others.get(item.id)));
  };

  const title = (run) => `${run.method} on ${run.backbone}, seed ${run.seed}` +
    (run.fold === null ? "" : `, fold ${run.fold}`);
  const side = (name, run, item) => element("section", { class: "side" },
    element("h3", {}, `${name}: ${title(run)}`, item.verdict && [" ", verdict(item.verdict)],
      badge(item.cut, "cut at the limit")),
    generation(item),
    item.rest && [element("p", {}, "After it, not judged"), element("pre", { dir: "auto" }, item.rest)],
    found(item), likelihoods(item));
  const article = (one, two) => ({ first, second, told }) => {
    const id = `item-${first.id}`;
    return element("article", { class: "item", "aria-labelledby": id },
      element("h2", { id }, `Row ${first.id + 1}`, told && [" ", element("small", {}, told)],
        badge(first.in_training || second.in_training, "in the training set")),
      element("dl", {},
        text("Prompt", first.prompt),
        second.prompt !== first.prompt && text("Prompt of the second", second.prompt),
        text("Gold answer", first.gold),
        text("Reference", first.reference)),
      element("div", { class: "sides" }, side("First", one, first), side("Second", two, second)));
  };

  const note = (first, second, both) => {
    const counts = [first.items.length, second.items.length, both.length];
    const [one, two, shared] = counts.map((count) => count.toLocaleString("en"));
    return [
      new Set(counts).size > 1 && `Of ${one} and ${two} rows the two share ${shared}.`,
      both.every((pair) => !pair.first.verdict) && place.dataset.notJudged,
    ].filter(Boolean).join(" ");
  };
  const heading = (name, run, address) =>
    [`${name} `, element("a", { href: `../run/${address}.html` }, title(run))];
  const show = (first, second) => {
    const both = pairs(first, second);
    const told = note(first, second, both);
    const compared = `${first.benchmark}, ${title(first)} against ${title(second)}`;
    document.title = document.title.replace("Item by item", () => compared);
    document.querySelector("h1").replaceChildren(`${first.benchmark} `, element("small", {},
      heading("first", first, asked.get("first")), ", ",
      heading("second", second, asked.get("second"))));
    for (const link of links) {
      const kind = kindOf(link);
      const query = new URLSearchParams(asked);
      query.delete("page");
      kind ? query.set("kind", kind) : query.delete("kind");
      link.search = query;
      const count = both.filter((pair) => !kind || pair.kinds.includes(kind)).length;
      link.append(` ${count.toLocaleString("en")}`);
    }
    items.choose(asked.get("kind"));
    place.replaceChildren(element("div", {},
      told && element("p", { class: "warning", role: "note" }, told),
      items.page(both, asked, article(first, second))));
  };

  // The address names files of this folder, and nothing above it.
  const names = ["first", "second", "benchmark"].map((name) => asked.get(name) ?? "");
  const load = (run) => items.load(`../items/${run}/${names[2]}.js`);
  if (names.every((name) => /^\w[\w.-]*$/.test(name))) {
    Promise.all(names.slice(0, 2).map(load)).then(
      ([first, second]) => show(first, second),
      (error) => place.replaceChildren(items.empty(error.message)));
  }
})();
