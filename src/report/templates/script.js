"use strict";
// Sorts, searches and downloads tables; links scatter, table and explanations. Everything can be read without it.
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

  // A row is shown where every filter of its table lets it pass: the search, and the brush of the scatter.
  const filters = new Map();
  const setFilter = (table, name, passes) => {
    const own = filters.get(table) ?? new Map();
    if (passes) own.set(name, passes);
    else own.delete(name);
    filters.set(table, own);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = ![...own.values()].every((passes) => passes(row));
      shown += !row.hidden;
    }
    const all = table.tBodies[0].rows.length;
    const noun = table.dataset.noun || "rows";
    const status = document.getElementById(`${table.id}-status`);
    if (status) status.textContent = own.size ? `${shown} of ${all} ${noun} match` : `${all} ${noun}`;
  };

  document.querySelectorAll("table.searchable").forEach((table, k) => {
    table.id ||= `table-${k}`;
    const texts = new Map();
    for (const row of table.tBodies[0].rows) {
      const keys = [...row.querySelectorAll(".key")];
      texts.set(row, (keys.length ? keys : [row]).map((key) => key.textContent).join("\n").toLowerCase());
    }
    const input = element("input", { type: "search", id: `search-${k}`, autocomplete: "off" });
    const label = element("label", { htmlFor: input.id, textContent: table.dataset.search || "Search" });
    const status = element("span", { id: `${table.id}-status` });
    status.setAttribute("role", "status");
    input.setAttribute("aria-controls", table.id);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      setFilter(table, "search", wanted && ((row) => texts.get(row).includes(wanted)));
    });
    const box = element("div", { className: "search" });
    box.append(label, input, status);
    (table.closest(".scroll") || table).before(box);
    setFilter(table, "search", null);
  });

  // Downloads: figures as SVG files, tables as CSV files with the rows that are shown.
  const save = (text, type, name) => {
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const fileName = (words, end) => `${words.trim().toLowerCase().replace(/[^a-z0-9]+/g, "_").slice(0, 60)}.${end}`;
  const tool = (text, label, action) => {
    const button = element("button", { type: "button", className: "tool", textContent: text });
    button.setAttribute("aria-label", label);
    button.addEventListener("click", action);
    return button;
  };
  const figureStyle = () => {
    const lines = document.querySelector("style").textContent.split("\n");
    return lines.filter((line) => /^(\.us-|@media screen and \(prefers-color-scheme:dark\)\{\.us-)/.test(line)).join("\n");
  };
  for (const svg of document.querySelectorAll("figure svg")) {
    const title = svg.getAttribute("aria-label") || "figure";
    const download = () => {
      const copy = svg.cloneNode(true);
      copy.querySelectorAll(".ring, .brush").forEach((mark) => mark.remove());
      const style = document.createElementNS(svg.namespaceURI, "style");
      style.textContent = figureStyle();
      copy.prepend(style);
      save(new XMLSerializer().serializeToString(copy), "image/svg+xml", fileName(title, "svg"));
    };
    const figure = svg.closest("figure");
    let tools = figure.querySelector(":scope > .tools");
    if (!tools) figure.append((tools = element("div", { className: "tools" })));
    tools.append(tool("SVG", `Download the figure ${title} as SVG`, download));
  }
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const cellText = (cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll("br").forEach((br) => br.replaceWith(" "));
    return copy.textContent.trim().replace(/\s+/g, " ");
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const title = table.caption ? table.caption.textContent : "table";
    const download = () => {
      const rows = [table.tHead.rows[0], ...[...table.tBodies[0].rows].filter((row) => !row.hidden)];
      const lines = rows.map((row) => [...row.cells].map((cell) => quoted(cellText(cell))).join(","));
      save(lines.join("\r\n") + "\r\n", "text/csv", fileName(title, "csv"));
    };
    const box = table.closest(".scroll") || table;
    const before = box.previousElementSibling;
    const button = tool("CSV", `Download the table ${title} as CSV`, download);
    if (before && before.classList.contains("search")) before.append(button);
    else {
      const tools = element("div", { className: "tools" });
      tools.append(button);
      box.before(tools);
    }
  }

  // Explanations one by one.
  const whys = [...document.querySelectorAll(".why")];
  let onShow = () => {};
  const showWhy = (why) => {
    whys.forEach((other) => (other.open = other === why));
    onShow(why.id.slice(4));
  };
  if (whys.length) {
    const list = whys[0].parentElement;
    list.classList.add("one-by-one");
    const step = (by) => () => {
      const now = whys.findIndex((why) => why.open);
      showWhy(whys[(now + by + whys.length) % whys.length]);
    };
    const tools = element("div", { className: "tools" });
    tools.append(
      tool("\u2190 more doubtful", "Explain the next more doubtful row", step(-1)),
      tool("less doubtful \u2192", "Explain the next less doubtful row", step(1)),
    );
    list.before(tools);
    // The only one that is shown cannot be closed.
    list.addEventListener("click", (event) => event.target.closest("summary") && event.preventDefault());
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#why-"]');
      const why = link && document.getElementById(link.hash.slice(1));
      if (why) showWhy(why);
    });
  }

  // The scatter: the pointer or the arrow keys name a row, a brush filters the table.
  const table = document.getElementById("rows");
  const figure = document.getElementById("scatter");
  const panels = figure ? [...figure.querySelectorAll("[data-frame]")] : [];
  if (table && panels.length) {
    const column = (is) => table.tHead.rows[0].querySelector(`[data-is="${is}"]`).cellIndex;
    const [response, before, after] = ["response", "before", "after"].map(column);
    const head = table.tHead.rows[0].cells;
    const hasId = head[1].textContent.trim().startsWith("Id");
    const moved = hasId ? 2 : 1;
    const rows = [...table.tBodies[0].rows].map((row) => {
      const text = (k) => row.cells[k].textContent.trim();
      const id = hasId && text(1) !== text(0) ? ` (${text(1)})` : "";
      return {
        row, number: text(0), y: Number(text(response)), x: [Number(text(before)), Number(text(after))],
        words: `Row ${text(0)}${id}: P(moved) ${text(moved)}, observed ${text(response)}, fitted ${text(before)} as linked, ${text(after)} at its best link.`,
      };
    });
    const shape = (panel, name, attributes) => {
      const mark = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) mark.setAttribute(key, value);
      panel.append(mark);
      return mark;
    };
    const views = panels.map((panel, k) => {
      const [left, top, width, height] = panel.dataset.frame.split(" ").map(Number);
      const [x0, x1, y0, y1] = panel.dataset.range.split(" ").map(Number);
      const place = (row) => [left + (width * (row.x[k] - x0)) / (x1 - x0), top + (height * (y1 - row.y)) / (y1 - y0)];
      const svg = panel.ownerSVGElement;
      svg.classList.add("linked");
      const ring = shape(panel, "circle", { class: "ring", r: 7, visibility: "hidden" });
      const brush = shape(panel, "rect", { class: "brush", visibility: "hidden" });
      const at = (event) => {
        const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
        return [point.x, point.y];
      };
      return { svg, place, ring, brush, at };
    });
    const named = element("div", { className: "named" });
    named.setAttribute("role", "status");
    const hint = "Point at a row to name it, drag to see some in the table; with the keyboard, the arrows go through the rows.";
    const say = (...parts) => named.replaceChildren(...parts);
    say(hint);
    figure.querySelector("figcaption").before(named);
    let current = null;
    let chosen = null;
    const name = (row) => {
      current = row;
      for (const { ring, place } of views) {
        const [x, y] = row ? place(row) : [NaN, NaN];
        const known = Number.isFinite(x) && Number.isFinite(y);
        if (known) ["cx", "cy"].forEach((key, k) => ring.setAttribute(key, k ? y : x));
        ring.setAttribute("visibility", known ? "visible" : "hidden");
      }
      rows.forEach((other) => other.row.classList.toggle("picked", other === row));
      if (!row) return chosen ? say(...chosen) : say(hint);
      const why = document.getElementById(`why-${row.number}`);
      say(row.words, ...(why ? [element("a", { href: `#why-${row.number}`, textContent: "Why this row?" })] : []));
      // The table shows the row too, without moving the page.
      const box = table.closest(".scroll");
      box.scrollTop = Math.max(0, row.row.offsetTop - box.clientHeight / 2);
    };
    onShow = (number) => name(rows.find((row) => row.number === number) ?? null);
    const clear = () => {
      views.forEach(({ brush }) => brush.setAttribute("visibility", "hidden"));
      chosen = null;
      setFilter(table, "brush", null);
      name(null);
    };
    const choose = (inside) => {
      const passing = new Set(rows.filter(inside).map((row) => row.row));
      setFilter(table, "brush", (row) => passing.has(row));
      const words = passing.size === 1 ? "1 row is" : `${passing.size} rows are`;
      chosen = [
        `${words} in the box; the `,
        element("a", { href: "#rows", textContent: "table" }),
        " shows no other.",
        tool("Show all rows", "Show all rows again", clear),
      ];
      name(null);
    };
    views.forEach(({ svg, place, brush, at }) => {
      let start = null;
      let dragged = false;
      const nearest = ([x, y]) => {
        const near = rows.map((row) => [Math.hypot(place(row)[0] - x, place(row)[1] - y), row]);
        const best = near.reduce((a, b) => (b[0] < a[0] ? b : a), [Infinity, null]);
        return best[0] < 14 ? best[1] : null;
      };
      const box = ([x, y]) => {
        const [a, b] = [Math.min(x, start[0]), Math.min(y, start[1])];
        return [a, b, Math.abs(x - start[0]), Math.abs(y - start[1])];
      };
      svg.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        [start, dragged] = [at(event), false];
        svg.setPointerCapture(event.pointerId);
      });
      svg.addEventListener("pointermove", (event) => {
        const here = at(event);
        if (start && Math.hypot(here[0] - start[0], here[1] - start[1]) > 6) dragged = true;
        if (!dragged) return name(nearest(here));
        views.forEach((other) => other.brush.setAttribute("visibility", "hidden"));
        ["x", "y", "width", "height"].forEach((key, k) => brush.setAttribute(key, box(here)[k]));
        brush.setAttribute("visibility", "visible");
      });
      svg.addEventListener("pointerup", (event) => {
        if (dragged) {
          const [x, y, width, height] = box(at(event));
          const inside = (row) => {
            const [a, b] = place(row);
            return a >= x && a <= x + width && b >= y && b <= y + height;
          };
          choose(inside);
        } else {
          const row = nearest(at(event));
          const why = row && document.getElementById(`why-${row.number}`);
          if (why) showWhy(why);
          else if (!row) clear();
        }
        [start, dragged] = [null, false];
      });
      svg.addEventListener("pointercancel", () => ([start, dragged] = [null, false]));
    });
    const plots = figure.querySelector(".plots");
    plots.tabIndex = 0;
    plots.setAttribute("role", "group");
    plots.setAttribute("aria-label", "Rows, observed against fitted; arrow keys go through the rows, Enter explains one, Escape shows all");
    plots.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (by) {
        const now = rows.indexOf(current);
        name(rows[now < 0 ? 0 : (now + by + rows.length) % rows.length]);
      } else if (event.key === "Enter" && current) {
        const link = named.querySelector("a");
        if (link) link.click();
      } else if (event.key === "Escape") clear();
      else return;
      event.preventDefault();
    });
  }
  if (whys.length) {
    const asked = document.getElementById(location.hash.slice(1));
    whys.forEach((why, k) => (why.open = whys.includes(asked) ? why === asked : k === 0));
  }

  // What scrolls sideways can be scrolled by keyboard.
  for (const box of document.querySelectorAll(".scroll, .plot, pre")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  }
})();
