"""Opens reports in a real browser, with the network off, and checks what a person would see.

usage: check_reports.py SCREENSHOT_FOLDER REPORT...
"""

import shutil
import sys
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


class Report:
    def __init__(self, browser, path, shots):
        self.browser, self.path, self.shots = browser, path, shots
        self.problems = []

    def check(self):
        for width in (PHONE, DESK):
            for scheme in ("light", "dark"):
                self.look(width, scheme)
        self.use()
        self.without_script()
        self.photograph()
        return self.problems

    def open(self, width=DESK, scheme="light", **options):
        context = self.browser.new_context(
            offline=True, color_scheme=scheme, viewport={"width": width, "height": 900}, **options
        )
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
        name = f"{self.path.parent.name}_{width}_{scheme}.png"
        page.screenshot(path=self.shots / name, full_page=True)
        context.close()

    def photograph(self):
        """What a person sees first, for the README."""
        for name, width, height, scheme in (("top", 900, 1180, "light"), ("phone", PHONE, 844, "dark")):
            context, page = self.open(width, scheme)
            page.set_viewport_size({"width": width, "height": height})
            page.screenshot(path=self.shots / f"{self.path.parent.name}_{name}.png")
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

    def without_script(self):
        context, page = self.open(java_script_enabled=False)
        if "Verdict" not in page.locator("main").inner_text():
            self.wrong("without script there is no verdict")
        context.close()


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
    }
    for name, (old, new) in mistakes.items():
        path = folder / name.replace(" ", "_") / "report.html"
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
            print(f"{path}: {path.stat().st_size / 1e6:.2f} MB, {report.num_tools} tables to sort or search")
        if tools == 0:
            problems.append("no report has a table to sort or search")
        for name, path in planted(reports[0], shots / "planted"):
            report = Report(browser, path, shots / "planted")
            report.look(PHONE, "light")
            if not report.problems:
                problems.append(f"{name}, planted in {path}, went unnoticed")
        browser.close()
    print("\n".join(problems) or "no problems")
    sys.exit(bool(problems))


main()
