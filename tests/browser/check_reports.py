"""Opens reports in a real browser, with the network off, and checks what a person would see and do.

usage: check_reports.py SCREENSHOT_FOLDER REPORT...

A report named report_aggregate.html is also searched for everything that rows.csv beside it says of single rows. A page named
reports.html, of several fits, is compared with their files.
"""

import csv
import html
import json
import re
import shutil
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

from playwright.sync_api import sync_playwright

PHONE, DESK = 390, 1280
MIN_CONTRAST = 4.5

# Elements that stick out of the page; what scrolls inside a box of its own does not.
OVERFLOWING = """() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (e) => { for (; e; e = e.parentElement) {
    if (/(auto|scroll|hidden)/.test(getComputedStyle(e).overflowX) && e !== document.body && e !== document.documentElement) return true; }
    return false; };
  const out = [...document.querySelectorAll('body *')].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width > 0 && box.right > width + 1 && !scrolls(e.parentElement) && !e.closest('svg') ; });
  const page = document.documentElement.scrollWidth > width + 1 ? ['the page itself'] : [];
  return page.concat(out.map((e) => e.tagName + '#' + e.id + '.' + e.className));
}"""

# Text whose colour is too near to what is behind it. Alpha is ignored where the theme has none.
LOW_CONTRAST = """(least) => {
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0.99) return c; } return [255, 255, 255]; };
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    if (e.closest('svg')) continue;
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.getClientRects().length === 0) continue;
    const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < least) bad.push(`${e.tagName}.${e.className} ${contrast.toFixed(2)}: ${e.textContent.trim().slice(0, 40)}`);
  }
  return bad;
}"""

# Pictures without a size, or without words for those who cannot see them.
BAD_PICTURES = """() => [...document.querySelectorAll('svg, img')].filter((e) => {
  const box = e.getBoundingClientRect();
  const hidden = e.closest('details:not([open])');
  const words = e.getAttribute('aria-label') || e.getAttribute('alt') || (e.querySelector('title, desc') || {}).textContent;
  return (!hidden && (box.width < 40 || box.height < 20)) || !words || !words.trim();
}).map((e) => e.outerHTML.slice(0, 120))"""

# What a column sorts by, and what a search looks at.
VALUES = "(t, c) => [...t.tBodies[0].rows].map((r) => (r.cells[c].dataset.v ?? r.cells[c].textContent).trim())"
ROWS = """(t) => [...t.tBodies[0].rows].map((r) => {
  const keys = [...r.querySelectorAll('.key')];
  return { shown: r.getClientRects().length > 0, text: (keys.length ? keys : [r]).map((e) => e.textContent.trim()).join(' ') };
})"""

# Moved rows of a panel of the scatter, by the number in their title, with the middle of their mark on the screen.
MARKS = """(svg) => [...svg.querySelectorAll('g > title')].filter((t) => /^row \\d/.test(t.textContent)).map((t) => {
  const box = t.nextElementSibling.getBoundingClientRect();
  return { row: t.textContent.match(/^row (\\d+)/)[1], x: box.x + box.width / 2, y: box.y + box.height / 2 };
})"""
SHOWN_ROWS = "(t) => [...t.tBodies[0].rows].filter((r) => r.getClientRects().length).map((r) => r.cells[0].textContent.trim())"
OPEN_WHYS = "() => [...document.querySelectorAll('.why[open]')].map((e) => e.id.slice(4))"
# Where the contents are after the page was scrolled to its end.
CONTENTS = """() => {
  window.scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
  const box = document.querySelector('nav ul').getBoundingClientRect();
  return { top: box.top, bottom: box.bottom, scrolled: window.scrollY };
}"""
# For each heading of the panel whether a picture, or a sentence that says why there is none, comes after it.
UNDER_HEADINGS = """() => Object.fromEntries([...document.querySelectorAll('#trust > h3')].map((h) => {
  const next = h.nextElementSibling;
  const drawn = next && next.tagName === 'FIGURE' && next.querySelector('svg');
  return [h.textContent, Boolean(drawn || (next && /not drawn|no picture/.test(next.textContent)))];
}))"""
TRUST_HEADINGS = (
    "Curvature and spread of rows that stay",
    "Tails of rows that stay",
    "Wrong links along the predictors",
    "Coefficients by method",
)
STATUSES = ("Trust it", "Use with care", "Do not use the joint posterior")
LEAST_COUNT = 10


class Report:
    def __init__(self, browser, path, shots):
        self.browser, self.path, self.shots = browser, path, shots
        self.problems = []

    def check(self):
        for width in (PHONE, DESK):
            for scheme in ("light", "dark"):
                self.look(width, scheme)
        self.use()
        self.explore()
        self.without_script()
        if self.path.name == "reports.html":
            self.compare_fits()
            return self.problems
        self.photograph()
        if self.path.name == "report_aggregate.html":
            self.search_rows()
        return self.problems

    def open(self, width=DESK, scheme="light", **options):
        context = self.browser.new_context(
            offline=True, color_scheme=scheme, viewport={"width": width, "height": 900}, **options
        )
        # A busy machine is slow to draw a whole page.
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.on("console", lambda m: m.type in ("error", "warning") and self.wrong(f"console: {m.text}"))
        page.on("pageerror", lambda error: self.wrong(f"script error: {error}"))
        page.on("request", lambda r: r.url.startswith("file:") or self.wrong(f"request: {r.url}"))
        requests = []
        page.on("request", lambda request: requests.append(request))
        page.goto(self.path.resolve().as_uri())
        if len(requests) != 1:
            self.wrong(f"{len(requests)} requests instead of the page alone")
        return context, page

    def wrong(self, what):
        self.problems.append(f"{self.path}: {what}")

    def name(self):
        kind = "_aggregate" if self.path.stem.endswith("aggregate") else ""
        return self.path.parent.name + kind

    def look_at_card(self, page):
        """The first screen has a status in words, and numbers only where the fit may be used."""
        if self.path.name == "reports.html":
            for status in page.locator(".card .status").all_inner_texts():
                if not any(status.endswith(words) for words in STATUSES):
                    self.wrong(f"no status: {status!r}")
            return
        status = page.locator(".card .status").inner_text()
        if not any(status.endswith(words) for words in STATUSES):
            self.wrong(f"no status: {status!r}")
        refused = status.endswith(STATUSES[-1])
        if refused and page.locator(".card .value").count():
            self.wrong("a refused fit has a headline number")
        if refused and re.search(r"about [\d.]+.%", page.locator(".headline").inner_text()):
            self.wrong("the headline of a refused fit has a number")

    def look(self, width, scheme):
        context, page = self.open(width, scheme)
        for element in page.evaluate(OVERFLOWING)[:5]:
            self.wrong(f"overflows at {width} px: {element}")
        for picture in page.evaluate(BAD_PICTURES):
            self.wrong(f"picture without size or words: {picture}")
        for text in page.evaluate(LOW_CONTRAST, MIN_CONTRAST):
            self.wrong(f"low contrast in {scheme}: {text}")
        if page.locator("h1").count() != 1:
            self.wrong("not exactly one h1")
        self.look_at_card(page)
        if (self.path.parent / "trust.json").exists() and not self.path.stem.endswith("aggregate"):
            self.look_at_trust(page)
        name = f"{self.name()}_{width}_{scheme}.png"
        page.screenshot(path=self.shots / name, full_page=True)
        place = page.evaluate(CONTENTS)
        if place["scrolled"] > 0 and (place["top"] < 0 or place["bottom"] > 900):
            self.wrong(f"the contents are out of sight at {width} px: {place}")
        context.close()

    def look_at_trust(self, page):
        """The panel has the checks of trust.json and a picture for what they look at; what passed is folded."""
        checks = json.loads((self.path.parent / "trust.json").read_text())["checks"]
        if not checks:
            return
        rows = page.locator("#trust table").first.locator("tbody tr")
        if rows.count() != len(checks):
            self.wrong(f"{rows.count()} checks of the model instead of {len(checks)}")
        failed = rows.locator("strong").count()
        if failed != sum(check["passed"] is False for check in checks):
            self.wrong(f"{failed} checks of the model are marked as failed")
        drawn = page.evaluate(UNDER_HEADINGS)
        for heading in TRUST_HEADINGS:
            if not drawn.get(heading):
                self.wrong(f"nothing is drawn or said under {heading!r}")
        has_problem = page.locator("#trust tr.problem, #trust tr.unknown").count() > 0
        is_open = page.locator("#trust details.part").get_attribute("open") is not None
        if has_problem != is_open:
            self.wrong("the diagnostics are folded although a check failed" if has_problem else "diagnostics that pass are not folded")

    def compare_fits(self):
        """Each fit has a card, and each recommended coefficient of its files stands in its column."""
        context, page = self.open()
        folders = [Path(text) for text in page.locator(".card dd:last-child").all_inner_texts()]
        cells = page.locator("#coefficients table").first.evaluate(
            "(t) => [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.dataset.v && c.tagName === 'TD' ? c.dataset.v : c.textContent))"
        )
        if len(folders) < 2 or {len(row) for row in cells} != {1 + len(folders)}:
            self.wrong(f"{len(folders)} fits and columns {[len(row) for row in cells]}")
        for k, folder in enumerate(folders):
            with (folder / "coefficients.csv").open(newline="") as file:
                known = {row["name"]: float(row["estimate"]) for row in csv.DictReader(file) if row["method"] == "recommended"}
            shown = {row[0]: float(row[1 + k]) for row in cells if row[1 + k] not in ("", "\u2013")}
            if set(known) != set(shown) or any(abs(known[name] - shown[name]) > 1e-6 * abs(known[name]) for name in known):
                self.wrong(f"{folder}: coefficients {known} are shown as {shown}")
        context.close()

    def photograph(self):
        """What a person sees first, at three sizes, light and dark, and the panel of the checks: for the documents."""
        sizes = (("phone", PHONE, 844), ("middle", 900, 1180), ("desk", DESK, 1000))
        for name, width, height in sizes:
            for scheme in ("light", "dark"):
                context, page = self.open(width, scheme)
                page.set_viewport_size({"width": width, "height": height})
                page.screenshot(path=self.shots / f"{self.name()}_{name}_{scheme}.png")
                if name == "middle" and scheme == "light" and page.locator("#trust").count():
                    page.set_viewport_size({"width": width, "height": 1700})
                    page.locator("#trust").evaluate("(e) => window.scrollTo({ top: e.offsetTop, behavior: 'instant' })")
                    page.screenshot(path=self.shots / f"{self.name()}_trust.png")
                context.close()

    def use(self):
        """Sorts and searches every table that offers it."""
        context, page = self.open()
        for table in page.locator("table.sortable").all():
            buttons = table.locator("thead th button")
            if buttons.count() == 0:
                self.wrong("a sortable table without buttons")
            for k in range(buttons.count()):
                heading = table.locator("thead th", has=page.locator("button")).nth(k)
                column = heading.evaluate("e => e.cellIndex")
                orders = []
                for _ in range(2):
                    buttons.nth(k).focus()
                    page.keyboard.press("Enter")
                    direction = heading.get_attribute("aria-sort")
                    values = table.evaluate(VALUES, column)
                    if direction not in ("ascending", "descending") or not is_sorted(values, direction):
                        self.wrong(f"column {column} is not sorted {direction}: {values[:6]}")
                    orders.append(values)
                if len(set(orders[0])) == len(orders[0]) and orders[0] != orders[1][::-1]:
                    self.wrong(f"column {column} is not turned round by a second click")
        searchable = page.locator("table.searchable").all()
        for k, table in enumerate(searchable):
            field = page.locator(f"#search-{k}")
            rows = table.evaluate(ROWS)
            wanted = rows[len(rows) // 2]["text"].split()[0]
            for typed, expected in ((wanted, wanted.lower()), ("no such row anywhere", None), ("", "")):
                field.fill(typed)
                for row in table.evaluate(ROWS):
                    if row["shown"] != (expected is not None and expected in row["text"].lower()):
                        self.wrong(f"searching {typed!r}: the row {row['text']!r} is {'shown' if row['shown'] else 'hidden'}")
        self.num_tools = page.locator("table.sortable").count() + len(searchable)
        context.close()

    def explore(self):
        """Scatter, table and explanations show the same rows, by pointer and by keyboard; downloads hold what is shown."""
        context, page = self.open(accept_downloads=True)
        if page.locator("#scatter .linked").count() and page.locator("#rows").count():
            self.point(page)
            self.brush(page)
            self.keyboard(page)
        self.explain(page)
        self.download(page)
        context.close()

    def point(self, page):
        """Resting the pointer on a mark names its row; rows at the same place may be named instead."""
        svg = page.locator("#scatter svg").first
        marks = svg.evaluate(MARKS)
        for mark in marks[:3]:
            page.mouse.move(mark["x"], mark["y"])
            near = [m["row"] for m in marks if abs(m["x"] - mark["x"]) + abs(m["y"] - mark["y"]) < 6]
            named = re.match(r"Row (\d+)", page.locator(".named").inner_text())
            ring = page.locator("#scatter .ring").first
            if not named or ring.get_attribute("visibility") != "visible":
                self.wrong(f"pointing at row {mark['row']} names nothing")
            elif named[1] not in near and not self.is_at(page, named[1], mark):
                self.wrong(f"pointing at row {mark['row']} names row {named[1]}")

    def is_at(self, page, row, mark):
        """Whether the ring around a row that has no mark of its own is where the pointer is."""
        box = page.locator("#scatter .ring").first.bounding_box()
        return abs(box["x"] + box["width"] / 2 - mark["x"]) + abs(box["y"] + box["height"] / 2 - mark["y"]) < 8

    def brush(self, page):
        """A box around some of the marked rows leaves these in the table and none of the others."""
        svg = page.locator("#scatter svg").first
        svg.scroll_into_view_if_needed()
        marks = svg.evaluate(MARKS)
        if len(marks) < 4:
            return
        xs, ys = sorted(m["x"] for m in marks), sorted(m["y"] for m in marks)
        left, right = xs[0] - 4.5, xs[len(xs) // 2] + 0.7
        top, bottom = ys[0] - 4.5, ys[2 * len(ys) // 3] + 0.7
        page.mouse.move(left, top)
        page.mouse.down()
        page.mouse.move(right, bottom, steps=5)
        page.mouse.up()
        shown = set(page.locator("#rows").evaluate(SHOWN_ROWS))
        for mark in marks:
            # The middle of a triangle's box is not its point: marks at the edge are left out.
            edge = min(abs(mark["x"] - left), abs(mark["x"] - right), abs(mark["y"] - top), abs(mark["y"] - bottom)) < 3
            inside = left <= mark["x"] <= right and top <= mark["y"] <= bottom
            if not edge and (mark["row"] in shown) != inside:
                self.wrong(f"brush: row {mark['row']} is {'in' if inside else 'outside of'} the box, but {'not ' if inside else ''}in the table")
        page.get_by_role("button", name="Show all rows again").click()
        if len(page.locator("#rows").evaluate(SHOWN_ROWS)) != page.locator("#rows tbody tr").count():
            self.wrong("brush: not all rows are shown again")

    def keyboard(self, page):
        """Arrows name the rows in the order of the table, Enter explains one."""
        order = page.locator("#rows").evaluate(SHOWN_ROWS)
        page.locator("#scatter .plots").focus()
        page.keyboard.press("Escape")
        for row in order[:3]:
            page.keyboard.press("ArrowRight")
            if not page.locator(".named").inner_text().startswith(f"Row {row}"):
                self.wrong(f"keyboard: the arrow does not name row {row}")
        page.keyboard.press("Enter")
        if page.evaluate(OPEN_WHYS) != [order[2]]:
            self.wrong(f"keyboard: Enter does not explain row {order[2]}")

    def explain(self, page):
        """A row's link opens its explanation and no other; its parts add up."""
        links = page.locator('#rows a[href^="#why-"]')
        for k in range(min(links.count(), 3)):
            row = links.nth(k).inner_text()
            links.nth(k).focus()
            page.keyboard.press("Enter")
            if page.evaluate(OPEN_WHYS) != [row]:
                self.wrong(f"row {row} is not explained")
                continue
            cells = page.locator(f"#why-{row} .waterfall tbody td:nth-child(2)").all_inner_texts()
            values = [float(text.replace("\u2212", "-")) for text in cells]
            if abs(sum(values[:-1]) - values[-1]) > 0.05 * len(values) + 1e-9:
                self.wrong(f"the parts of row {row} do not add up: {cells}")
            for track, bar in zip(
                page.locator(f"#why-{row} .track").all(), page.locator(f"#why-{row} .track i").all()
            ):
                outer, inner = track.bounding_box(), bar.bounding_box()
                if inner["x"] < outer["x"] - 1 or inner["x"] + inner["width"] > outer["x"] + outer["width"] + 3:
                    self.wrong(f"a bar of row {row} leaves its column")
        self.num_explained = page.locator(".why").count()

    def download(self, page):
        """The first table as CSV and the first figure as SVG."""
        for name, button in (("csv", "as CSV"), ("svg", "as SVG")):
            buttons = page.get_by_role("button", name=button)
            if buttons.count() == 0:
                self.wrong(f"nothing can be downloaded {button}")
                continue
            with page.expect_download() as waiting:
                buttons.first.click()
            path = self.shots / f"{self.name()}.{name}"
            waiting.value.save_as(path)
            if name == "svg":
                root = xml.parse(path).getroot()
                if not root.tag.endswith("svg") or root.find("{http://www.w3.org/2000/svg}style") is None:
                    self.wrong("the downloaded figure is not an SVG file with its style")
                continue
            lines = list(csv.reader(path.open(newline="")))
            table = page.locator("table.sortable").first
            if len(lines) != 1 + table.locator("tbody tr").count() or len({len(line) for line in lines}) != 1:
                self.wrong("the downloaded table is not the table")

    def without_script(self):
        context, page = self.open(java_script_enabled=False)
        if "Verdict" not in page.locator("main").inner_text():
            self.wrong("without script there is no verdict")
        for why in page.locator(".why").all()[:2]:
            why.locator("summary").click()
            if not why.locator(".waterfall").is_visible():
                self.wrong("without script a row is not explained")
        context.close()

    def search_rows(self):
        """Nothing of a single row: ids, blocks, values as in rows.csv or rounded, paths, small counts."""
        text = html.unescape(self.path.read_text())
        shown = re.sub(r"<(style|script|svg).*?</\1>", " ", text, flags=re.S)
        words = set(re.findall(r"[^\s<>\"'=(),;]+", shown))
        folder = self.path.parent
        for path in (folder.resolve(), folder.resolve().parent):
            if str(path) in text:
                self.wrong(f"aggregate: the path {path}")
        with (folder / "rows.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                for column in ("id", "best_link_id", "block"):
                    value = row.get(column) or ""
                    # A plain number may be any number of the page.
                    if value and not value.replace(".", "").isdigit() and value in text:
                        self.wrong(f"aggregate: the {column} {value}")
                for column in ("response", "fitted", "fitted_best"):
                    value = row.get(column) or ""
                    rounded = {value} | {f"{float(value):.{k}f}" for k in (3, 4, 5)} if value else set()
                    if any(len(v.lstrip("-")) > 4 and "." in v and v in words for v in rounded):
                        self.wrong(f"aggregate: the {column} {value}")
        if any(selector in text for selector in ('id="rows"', 'class="why"', 'id="scatter"')):
            self.wrong("aggregate: a table or figure of rows")
        for number in re.findall(r"\b(\d+) rows?\b", shown):
            if int(number) < LEAST_COUNT:
                self.wrong(f"aggregate: a count of {number} rows")


def is_sorted(values, direction):
    """Numbers by size; of names only the order both ways round is compared."""
    try:
        numbers = [float(value.lstrip("<>")) for value in values if value not in ("", "NA")]
    except ValueError:
        return True
    return numbers == sorted(numbers, reverse=direction == "descending")


def planted(report, folder):
    """The same report with one mistake each: the checks must see every one of them."""
    text = report.read_text()
    mistakes = {
        "a request": ("</body>", "<img src='https://example.invalid/x.png' alt='x' width='50' height='50'></body>"),
        "an error": ("</body>", "<script>undefinedFunction()</script></body>"),
        "an overflow": ("</main>", "<div style='width:3000px'>wide</div></main>"),
        "a low contrast": ("</main>", "<p style='color:#888;background:#999'>grey on grey</p></main>"),
        "a picture without words": ("</main>", "<svg width='100' height='100'></svg></main>"),
        "contents that scroll away": ("nav { position: sticky;", "nav { position: static;"),
        "a check too many": ("<tbody>\n<tr><td>holds</td>", "<tbody>\n<tr><td>holds</td><td>x</td></tr>\n<tr><td>holds</td>"),
        "a heading without a picture": ("<h3>Tails of rows that stay</h3>", "<h3>Tails of rows that stay</h3><p>x</p>"),
        "folded problems": ('<tr class="pass"><th scope="row">R-hat', '<tr class="problem"><th scope="row">R-hat'),
    }
    for name, (old, new) in mistakes.items():
        path = folder / name.replace(" ", "_") / "report.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(old, new, 1))
        shutil.copy(report.parent / "trust.json", path.parent)
        yield name, path


# Mistakes in what the script or an aggregate report does: what is exchanged, and who must notice.
BROKEN_TOOLS = {
    "a brush that chooses everything": ("a >= x && a <= x + width", "a === a"),
    "arrows that stay": ("ArrowRight: 1", "ArrowRight: 0"),
    "a pointer that names the wrong row": ("y: Number(text(response))", "y: 1 + Number(text(response))"),
    "two explanations at once": ("(other.open = other === why)", "(other.open = other.open || other === why)"),
    "parts that do not add up": ("\u2212", "+"),
    "a table without its last column": ("[...row.cells].map(", "[...row.cells].slice(row.rowIndex ? 0 : 1).map("),
}


def planted_tools(report, folder):
    """The same report with a tool that does the wrong thing."""
    text = report.read_text()
    for name, (old, new) in BROKEN_TOOLS.items():
        if old not in text:
            yield name, None
            continue
        path = folder / name.replace(" ", "_") / "report.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(old, new))
        yield name, path


def planted_rows(report, folder):
    """The same aggregate report with something of one row in it."""
    text = report.read_text()
    rows = (report.parent / "rows.csv").read_text()
    response = next(csv.DictReader(rows.splitlines()))["response"]
    for name, words in {"a response": response, "a small count": "3 rows", "a path": str(report.parent.resolve())}.items():
        path = folder / f"aggregate_with_{name.replace(' ', '_')}" / "report_aggregate.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("</main>", f"<p>{words} here</p></main>"))
        (path.parent / "rows.csv").write_text(rows)
        if name == "a path":
            path.write_text(text.replace("</main>", f"<p>{path.parent.resolve()}</p></main>"))
        yield name, path


def planted_fits(report, folder):
    """The same page of several fits with a coefficient of another fit, and with one fit less."""
    text = report.read_text()
    value = re.search(r'<td data-v="([^"]+)"', text)[1]
    card = re.search(r'<div class="card .*?</dl>\n</div>\n', text, flags=re.S)[0]
    for name, (old, new) in {"a wrong coefficient": (value, str(2 * float(value))), "a missing fit": (card, "")}.items():
        path = folder / name.replace(" ", "_") / "reports.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(old, new, 1))
        yield name, path


def main():
    shots = Path(sys.argv[1])
    shots.mkdir(parents=True, exist_ok=True)
    reports = [Path(argument) for argument in sys.argv[2:]]
    chromium = shutil.which("chromium") or sys.exit("chromium is missing: install Debian's package `chromium`")
    problems = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tools = 0
        for path in reports:
            report = Report(browser, path, shots)
            problems += report.check()
            tools += report.num_tools
            print(
                f"{path}: {path.stat().st_size / 1e6:.2f} MB, {report.num_tools} tables to sort or search, "
                f"{report.num_explained} rows explained"
            )
        if tools == 0:
            problems.append("no report has a table to sort or search")
        for name, path in planted(reports[0], shots / "planted"):
            report = Report(browser, path, shots / "planted")
            report.look(PHONE, "light")
            if not report.problems:
                problems.append(f"{name}, planted in {path}, went unnoticed")
        for name, path in planted_tools(reports[0], shots / "planted"):
            report = path and Report(browser, path, shots / "planted")
            if report:
                report.explore()
            if not report or not report.problems:
                problems.append(f"{name}, planted in {path or reports[0]}, went unnoticed")
        for aggregate in [path for path in reports if path.name == "report_aggregate.html"][:1]:
            for name, path in planted_rows(aggregate, shots / "planted"):
                report = Report(browser, path, shots / "planted")
                report.search_rows()
                if not report.problems:
                    problems.append(f"{name}, planted in {path}, went unnoticed")
        for together in [path for path in reports if path.name == "reports.html"][:1]:
            for name, path in planted_fits(together, shots / "planted"):
                report = Report(browser, path, shots / "planted")
                report.compare_fits()
                if not report.problems:
                    problems.append(f"{name}, planted in {path}, went unnoticed")
        browser.close()
    print("\n".join(problems) or "no problems")
    sys.exit(bool(problems))


main()
