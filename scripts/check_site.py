"""Checks a built site: every link and anchor leads somewhere, and pages load nothing from elsewhere.

usage: check_site.py FOLDER
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(value for key, value in attributes.items() if key in ("id", "name") and value)
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in ("script", "img", "iframe", "source") and attributes.get("src"):
            self.loads.append(attributes["src"])
        if tag == "link" and attributes.get("rel") != "canonical" and attributes.get("href"):
            self.loads.append(attributes["href"])


def problems(folder):
    pages = {path: Page(path.read_text()) for path in folder.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads:
                    yield f"{path}: loads {target}"
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            goal = goal / "index.html" if goal.is_dir() else goal
            if not goal.exists():
                yield f"{path}: {target} leads nowhere"
            elif parts.fragment and goal in pages and unquote(parts.fragment) not in pages[goal].ids:
                yield f"{path}: {target} has no such place"
    for style in folder.rglob("*.css"):
        for target in re.findall(r"url\(['\"]?(https?:[^)'\"]+)", style.read_text()):
            yield f"{style}: loads {target}"
    if len(pages) < 10:
        yield f"{folder}: only {len(pages)} pages"


def main():
    folder = Path(sys.argv[1]).resolve()
    found = list(problems(folder))
    print("\n".join(found) or "no dead link")
    sys.exit(bool(found))


main()
