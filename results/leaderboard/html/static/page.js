// What moves on a page: details where the pointer is, a search while it is typed, and, in files
// without a server, what the address chooses. Without script all of it is one click or key further.
(() => {
  "use strict";

  const tables = () => [...document.querySelectorAll("table.rank")];

  // Details of a cell: a click or key opens them by itself; here they stand beside the cell.
  const place = (details, button) => {
    const at = button.getBoundingClientRect();
    details.classList.add("placed");
    const { width, height } = details.getBoundingClientRect();
    const below = at.bottom + 6 + height <= innerHeight;
    details.style.left = `${Math.max(8, Math.min(at.right - width, innerWidth - width - 8))}px`;
    details.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - height - 6)}px`;
  };
  for (const button of document.querySelectorAll("[popovertarget]")) {
    const details = document.getElementById(button.getAttribute("popovertarget"));
    // The pointer has opened them before it clicks: a click must not close them again.
    button.popoverTargetAction = "show";
    const show = () => { if (!details.matches(":popover-open")) details.showPopover(); };
    let leaving, closing;
    const leave = () => { leaving = setTimeout(() => details.hidePopover(), 120); };
    // Who closes them with Escape is brought back to the button, which must not open them again.
    details.addEventListener("beforetoggle", (event) => { closing = event.newState === "closed"; });
    details.addEventListener("toggle", (event) => {
      closing = false;
      if (event.newState === "open") place(details, button);
    });
    button.addEventListener("focus", () => {
      if (!closing && button.matches(":focus-visible")) show();
    });
    for (const one of [button, details]) {
      one.addEventListener("pointerenter", (event) => {
        clearTimeout(leaving);
        if (event.pointerType === "mouse") show();
      });
      one.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse") leave();
      });
    }
  }

  const filterRows = (search, methods) => {
    for (const row of document.querySelectorAll("tr[data-method]")) {
      const name = row.dataset.method;
      const named = !methods.length || methods.includes(name);
      const called = `${row.dataset.title}\n${name}`.toLowerCase();
      row.hidden = !named || !called.includes(search.toLowerCase());
    }
    for (const table of tables()) {
      const rows = [...table.tBodies[0].rows];
      const shown = rows.filter((row) => !row.hidden).length;
      for (const paper of table.querySelectorAll("tbody.published")) {
        paper.hidden = !paper.querySelector("tr[data-method]:not([hidden])");
      }
      table.querySelector(".count").textContent = shown === rows.length ? "" :
        `${shown} of ${rows.length} methods shown; ranks and tests are among all.`;
    }
  };

  const search = document.querySelector("input[name=search]");
  const inFiles = "static" in document.documentElement.dataset;
  const asked = () => new URLSearchParams(location.search);
  // What is typed stands in the address at once, so that the view can be linked.
  const keepSearch = () => {
    const query = asked();
    search.value ? query.set("search", search.value) : query.delete("search");
    history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}`);
  };
  search?.addEventListener("input", () => {
    keepSearch();
    filterRows(search.value, inFiles ? asked().getAll("methods") : []);
  });
  if (!inFiles || !tables().length) return;

  // A file answers no query, so what the server does with it is done here.
  const written = new Map(tables().map((table) => [table, [...table.tBodies[0].rows]]));
  const sortRows = (table, by, reverse) => {
    const heads = [...table.tHead.rows[0].cells];
    const column = heads.findIndex((head) => head.dataset.column === by);
    if (column < 0) return;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", reverse ? "descending" : "ascending");
    const key = (row) => row.cells[column].dataset.key;
    const before = (a, b) => (by === "method" ? (a < b ? -1 : a > b ? 1 : 0) : a - b);
    const rows = written.get(table);
    const known = rows.filter((row) => key(row) !== "");
    known.sort((a, b) => before(key(a), key(b)) * (reverse ? -1 : 1));
    table.tBodies[0].append(...known, ...rows.filter((row) => key(row) === ""));
  };
  const hideColumns = (table, columns) => {
    const facts = ["method", "parameters", "seeds", "time", "memory", "size"];
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const name = head.dataset.column;
      const hidden = name && !facts.includes(name) && columns.length && !columns.includes(name);
      for (const row of table.rows) {
        if (!row.matches(".source")) row.cells[at].hidden = Boolean(hidden);
      }
    });
  };
  // A link keeps what else is chosen: to another file, as far as its tables have that too.
  const KEPT = ["sort", "reverse", "search", "columns"];
  const linkChoices = (now) => {
    for (const link of document.querySelectorAll(".choice[data-field] a")) {
      const choice = link.closest(".choice");
      const here = choice.matches(".scripted");
      const kept = new URLSearchParams([...now].filter(([name]) => here || KEPT.includes(name)));
      if (here) choose(link, choice.dataset.field, now, kept);
      link.search = kept;
    }
  };
  const choose = (link, field, now, kept) => {
    const value = new URLSearchParams(link.search).get(field) ?? "";
    value ? kept.set(field, value) : kept.delete(field);
    const current = value === (now.get(field) ?? "");
    current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
  };
  const linkHeads = (now) => {
    for (const link of document.querySelectorAll("table.rank thead a")) {
      const head = link.closest("th");
      const query = new URLSearchParams(now);
      query.set("sort", head.dataset.column);
      head.ariaSort === "ascending" ? query.set("reverse", "1") : query.delete("reverse");
      link.search = query;
    }
  };
  const linkEach = (now) => { linkHeads(now); linkChoices(now); };
  const apply = () => {
    const now = asked();
    const reverse = now.get("reverse") === "1";
    for (const section of document.querySelectorAll("section.table")) {
      const { protocol, era, overall } = section.dataset;
      section.hidden = !protocol.startsWith(now.get("protocol") ?? "") ||
        !era.startsWith(now.get("era") ?? "");
      for (const table of section.querySelectorAll("table.rank")) {
        sortRows(table, now.get("sort") || overall, reverse);
        hideColumns(table, now.getAll("columns"));
      }
    }
    linkEach(now);
    filterRows(now.get("search") ?? "", now.getAll("methods"));
    search.value = now.get("search") ?? "";
    for (const box of document.querySelectorAll("input[type=checkbox]")) {
      box.checked = now.getAll(box.name).includes(box.value);
      if (box.checked) box.closest("details").open = true;
    }
  };
  const show = (query) => {
    history.pushState(null, "", `?${query}`);
    apply();
  };
  for (const head of document.querySelectorAll("table.rank th[data-column]")) {
    const link = document.createElement("a");
    link.append(...head.childNodes);
    link.href = location.href;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      show(new URLSearchParams(link.search));
    });
    head.append(link);
  }
  search.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = [...new FormData(search.form)].filter(([, value]) => value);
    const others = [...asked()].filter(([name]) => !["search", "columns", "methods"].includes(name));
    show(new URLSearchParams([...others, ...typed]));
  });
  search.addEventListener("input", () => linkEach(asked()));
  addEventListener("popstate", apply);
  apply();
})();
