"""Do the links of the built site lead somewhere? ``python -m tests.docs.links FOLDER``.

Of what is local: each link's file is there, and its anchor. A picture, style or script from
elsewhere is a mistake: the site is read without a network.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "source": "srcset", "iframe": "src"}


class Page(HTMLParser):
    """The anchors of a page, its links, what it loads, and its pictures without a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.silent: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and LOADED[tag] in values and values.get("rel") != "canonical":
            self.loads.append(values[LOADED[tag]])
        if tag == "img" and not values.get("alt"):
            self.silent.append(values.get("src", ""))


def mistakes(site: Path) -> list[str]:
    """Each broken link, remote file and picture without a text, with its page."""
    paths = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path.resolve(): Page(path.read_text()) for path in paths}
    lines = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        lines += [f"{name}: no alt text: {source}" for source in page.silent]
        for target in [*page.links, *page.loads]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    lines.append(f"{name}: loads {target}")
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not file.exists():
                lines.append(f"{name}: no file {target}")
            elif anchor and file in pages and anchor not in pages[file].anchors:
                lines.append(f"{name}: no anchor {target}")
    return lines


if __name__ == "__main__":
    broken = mistakes(Path(sys.argv[1]))
    print("\n".join(broken) or "every link leads somewhere")
    sys.exit(bool(broken))
