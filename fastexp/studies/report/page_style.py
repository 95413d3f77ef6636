"""How a study's page looks: wide and narrow, light and dark, on paper; pictures as parts of it."""

from __future__ import annotations

import re
from html import escape

from ...pictures.inks import DARK, LIGHT, Inks

INK = re.compile(r"(?<=: )#[0-9a-f]{6}\b")
GROUND = {LIGHT: "#ffffff", DARK: "#11161d"}


def css() -> str:
    """The style of the page."""
    light, dark = (
        ";".join(f"--{name}:{ink}" for name, ink in _colors(inks)) for inks in (LIGHT, DARK)
    )
    light = f"color-scheme:light dark;{light};--panel:#f3f6fa;--bad:#fdf3ee"
    dark = f"{dark};--panel:#1b232d;--bad:#3a2318"
    return f":root{{{light}}}\n@media(prefers-color-scheme:dark){{:root{{{dark}}}}}\n{RULES}"


def inline(svg: bytes, prefix: str, css_class: str, words: str) -> str:
    """The element of a picture, for a page with this style.

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


def _colors(inks: Inks) -> list[tuple[str, str]]:
    series = [(f"s{place}", ink) for place, ink in enumerate(inks.series)]
    others = [(name, str(ink)) for name, ink in inks._asdict().items() if name != "series"]
    return [("ground", GROUND[inks]), *others, *series]


RULES = """\
body{margin:0;background:var(--ground);color:var(--mark);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{display:block;margin:0 auto;max-width:62rem;padding:1rem 1.2rem 4rem}
a{color:var(--s0)}
h1{font-size:1.7rem;margin:.8rem 0 .2rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem;border-bottom:1px solid var(--grid);padding-bottom:.2rem}
h3{font-size:1rem;margin:1.6rem 0 .3rem;overflow-wrap:anywhere}
p{margin:.5rem 0;max-width:46rem;overflow-wrap:anywhere}
.question{font-size:1.15rem}
.verdict,.caution{border-left:4px solid var(--s0);background:var(--panel);padding:.5rem .8rem}
.bad{border-color:var(--truth);background:var(--bad)}
.caution{border-color:var(--quiet);font-size:.875rem}
figure{margin:1.2rem 0 2rem}
svg{display:block;width:100%;height:auto}
svg *{stroke-linejoin:round;stroke-linecap:butt}
svg text{font-family:inherit!important}
.phone{display:none}
figcaption,.note{font-size:.875rem;max-width:46rem}
.scrolled{overflow-x:auto}
table{border-collapse:separate;border-spacing:0;font-size:.875rem;margin:.4rem 0;
font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;text-align:right;vertical-align:bottom;white-space:nowrap;
border-bottom:1px solid var(--grid);font-weight:400}
thead th{border-bottom:2px solid var(--quiet);white-space:normal;font-weight:600}
.pin{position:sticky;z-index:1;box-sizing:border-box;background:var(--ground);text-align:left;
white-space:normal}
tbody th{vertical-align:top}
.word{text-align:left}
.disagrees>*{background:var(--bad)}
dl{font-size:.875rem;display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}
dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere}
pre{background:var(--panel);padding:.7rem .9rem;overflow:auto;max-height:30rem;font-size:.8125rem}
@media(max-width:40rem){main{padding:.5rem .8rem 3rem}dl{display:block}dd{margin:0 0 .4rem}
.wide{display:none}.phone{display:block}.far{position:static}}
@media print{main{max-width:none;padding:0}body{font-size:10pt}.scrolled,pre{overflow:visible}
.wide{display:block}.phone{display:none}
pre{white-space:pre-wrap;max-height:none}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}
.pin{position:static}@page{margin:12mm}}
"""
