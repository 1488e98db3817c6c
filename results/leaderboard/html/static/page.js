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
  const asked = new URLSearchParams(location.search);
  const inFiles = "static" in document.documentElement.dataset;
  const methods = inFiles ? asked.getAll("methods") : [];
  search?.addEventListener("input", () => filterRows(search.value, methods));
  if (!inFiles || !tables().length) return;

  // A file answers no query, so what the server does with it is done here.
  const sortRows = (table, by, reverse) => {
    const heads = [...table.tHead.rows[0].cells];
    const column = heads.findIndex((head) => head.dataset.column === by);
    if (column < 0) return;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", reverse ? "descending" : "ascending");
    const key = (row) => row.cells[column].dataset.key;
    const before = (a, b) => (by === "method" ? (a < b ? -1 : a > b ? 1 : 0) : a - b);
    const rows = [...table.tBodies[0].rows];
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
  const apply = () => {
    const now = new URLSearchParams(location.search);
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
    filterRows(now.get("search") ?? "", now.getAll("methods"));
    search.value = now.get("search") ?? "";
    for (const box of document.querySelectorAll("input[type=checkbox]")) {
      box.checked = now.getAll(box.name).includes(box.value);
    }
  };
  for (const link of document.querySelectorAll("table.rank thead a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const head = link.closest("th");
      const now = new URLSearchParams(location.search);
      const again = head.getAttribute("aria-sort") === "ascending";
      now.set("sort", head.dataset.column);
      again ? now.set("reverse", "1") : now.delete("reverse");
      history.pushState(null, "", `?${now}`);
      apply();
    });
  }
  addEventListener("popstate", apply);
  apply();
})();
