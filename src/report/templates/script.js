"use strict";
// Sorts and searches tables; everything can be read without it.
(() => {
  const element = (name, properties) => Object.assign(document.createElement(name), properties);

  const valueOf = (cell) => (cell ? cell.dataset.v ?? cell.textContent : "").trim();
  const numberOf = (text) => (text === "" ? NaN : Number(text));

  const sort = (table, column, descending) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => {
      const text = valueOf(row.cells[column]);
      return { row, text, number: numberOf(text) };
    });
    const known = rows.filter((r) => r.text !== "" && r.text !== "NA");
    const numeric = known.every((r) => !Number.isNaN(r.number));
    const sign = descending ? -1 : 1;
    const order = (a, b) =>
      sign * (numeric ? a.number - b.number : a.text.localeCompare(b.text, undefined, { numeric: true }));
    known.sort(order);
    const unknown = rows.filter((r) => r.text === "" || r.text === "NA");
    body.append(...known.concat(unknown).map((r) => r.row));
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = element("button", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        // Numbers start with the largest, names with the first.
        const before = head.getAttribute("aria-sort");
        const descending = before ? before === "ascending" : column > 0;
        sort(table, column, descending);
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      });
    });
  }

  document.querySelectorAll("table.searchable").forEach((table, k) => {
    const rows = [...table.tBodies[0].rows].map((row) => {
      const keys = row.querySelectorAll(".key");
      const text = keys.length ? [...keys].map((key) => key.textContent).join("\n") : row.textContent;
      return { row, text: text.toLowerCase() };
    });
    const noun = table.dataset.noun || "rows";
    const input = element("input", { type: "search", id: `search-${k}`, autocomplete: "off" });
    const label = element("label", { htmlFor: input.id, textContent: table.dataset.search || "Search" });
    const status = element("span", { textContent: `${rows.length} ${noun}` });
    status.setAttribute("role", "status");
    table.id ||= `table-${k}`;
    input.setAttribute("aria-controls", table.id);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let matches = 0;
      for (const { row, text } of rows) {
        row.hidden = !text.includes(wanted);
        matches += !row.hidden;
      }
      status.textContent = wanted ? `${matches} of ${rows.length} ${noun} match` : `${rows.length} ${noun}`;
    });
    const box = element("div", { className: "search" });
    box.append(label, input, status);
    (table.closest(".scroll") || table).before(box);
  });

  // What scrolls sideways can be scrolled by keyboard.
  for (const box of document.querySelectorAll(".scroll, .plot, pre")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  }
})();
