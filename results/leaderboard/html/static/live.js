// Keeps the page of what runs now up to date: the server says once a second what it would show.
(() => {
  "use strict";

  const at = (id) => document.getElementById(id);
  const key = (one) => one.run + (one.shown.ended ?? "");

  const fill = (row, one) => {
    for (const place of row.querySelectorAll("[data-text]")) {
      const text = one.shown[place.dataset.text];
      if (place.textContent !== text) place.textContent = text;
    }
    row.querySelector("a").setAttribute("href", `/run/${encodeURIComponent(one.run)}`);
    row.querySelector("polyline")?.setAttribute("points", one.shown.curve);
    row.querySelector(".status")?.setAttribute("class", `status ${one.how}`);
  };
  const made = (id, one) => {
    const row = document.importNode(at(`${id}-row`).content.querySelector("tr"), true);
    row.dataset.key = key(one);
    return row;
  };
  const settle = () => {
    for (const [id, none] of [["running", "idle"], ["ended", "none"]]) {
      at(none).hidden = Boolean(at(id).querySelector("tbody tr"));
      at(id).hidden = !at(none).hidden;
    }
  };
  const end = (row) => {
    if (!row.contains(document.activeElement)) return row.remove();
    const phase = row.querySelector("[data-text=phase]");
    if (phase) phase.textContent = "ended";
    row.addEventListener("focusout", () => { row.remove(); settle(); }, { once: true });
  };
  // A row stays the element that it is, and one with the focus stays until that has left.
  const show = (id, found) => {
    const [body] = at(id).querySelector("table").tBodies;
    const rows = new Map([...body.rows].map((row) => [row.dataset.key, row]));
    const wanted = new Set(found.map(key));
    for (const [name, row] of rows) if (!wanted.has(name)) end(row);
    found.forEach((one, place) => {
      const row = rows.get(key(one)) ?? made(id, one);
      fill(row, one);
      if (body.rows[place] !== row) body.insertBefore(row, body.rows[place] ?? null);
    });
  };

  const names = new Map();
  for (const row of document.querySelectorAll("#running tbody tr")) {
    names.set(row.dataset.key, row.querySelector("a").textContent);
  }
  // Only what begins and ends is said aloud: who listens would hear every step.
  const tell = (page) => {
    const now = new Map(page.running.map((one) => [one.run, one.shown.name]));
    const said = [...now].filter(([run]) => !names.has(run)).map(([, name]) => `Began: ${name}.`);
    for (const [run, name] of names) {
      const ended = page.ended.find((one) => one.run === run);
      if (!now.has(run)) said.push(`${ended ? ended.how : "ended"}: ${name}.`);
    }
    names.clear();
    now.forEach((name, run) => names.set(run, name));
    if (said.length) at("told").textContent = said.join(" ");
  };

  const update = (page) => {
    tell(page);
    show("running", page.running);
    show("ended", page.ended);
    at("count").textContent = page.waiting;
    at("unknown").hidden = page.known;
    at("known").hidden = !page.known;
    at("waiting").hidden = !page.waiting;
    settle();
  };

  let stream;
  const state = (text) => { at("state").textContent = text; };
  const listen = () => {
    stream?.close();
    if (document.hidden) return; // a browser has few connections to one server
    stream = new EventSource("/api/live/stream");
    stream.addEventListener("open", () => state("kept up to date"));
    stream.addEventListener("message", (event) => update(JSON.parse(event.data)));
    stream.addEventListener("error", () => {
      state("no connection, trying again");
      // The browser tries again by itself, unless the answer was none that it understands.
      if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 5000);
    });
  };
  document.addEventListener("visibilitychange", listen);
  listen();
})();
