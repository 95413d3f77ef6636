"""A picture as a part of a page: matplotlib's SVG with the page's letters and colours."""

from __future__ import annotations

import re
from html import escape

from ...pictures.inks import DARK, LIGHT, Inks

INK = re.compile(r"(?<=: )#[0-9a-f]{6}\b")
GROUND = {LIGHT: "#ffffff", DARK: "#11161d"}


def inline(svg: bytes, prefix: str, css_class: str, words: str) -> str:
    """The element of a picture, for a page with `variables`.

    `prefix` keeps its names apart from those of the page's other pictures; `words` are for those
    who do not see it.
    """
    text = svg[svg.index(b"<svg") :].decode()
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
    view = re.findall(r'viewBox="([^"]*)"', text)[0]
    opening = f'<svg class="{css_class}" viewBox="{view}" role="img" aria-label="{escape(words)}">'
    text = re.sub(r"<svg[^>]*>", lambda _: opening, text, count=1)
    text = re.sub(r' id="', f' id="{prefix}', text)
    text = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}", text)
    names = {ink: f"var(--{name})" for name, ink in reversed(_colors(LIGHT))}
    return INK.sub(lambda match: names.get(match[0], match[0]), text).strip()


def variables(inks: Inks) -> str:
    """The colours of pages and pictures as variables of CSS."""
    return ";".join(f"--{name}:{ink}" for name, ink in _colors(inks))


def _colors(inks: Inks) -> list[tuple[str, str]]:
    series = [(f"s{place}", ink) for place, ink in enumerate(inks.series)]
    others = [(name, str(ink)) for name, ink in inks._asdict().items() if name != "series"]
    return [("ground", GROUND[inks]), *others, *series]
