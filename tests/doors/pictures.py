"""Colours and canvases, compared with what is drawn."""

from __future__ import annotations

from fastexp.pictures import canvas, law_painters
from fastexp.pictures.canvas import DARK, LIGHT, paper
from fastexp.pictures.cards import WARNING, Card, HtmlRepr
