"""Are dead links, remote files and pictures without a text noticed in a built site?"""

from __future__ import annotations

import pytest

from tests.docs.links import mistakes

PAGE = '<h1 id="top">Page</h1><a href="other.html#there">other</a><img src="a.png" alt="a">'


@pytest.fixture
def site(tmp_path):
    """Two pages and a picture, all whole."""
    (tmp_path / "page.html").write_text(PAGE)
    (tmp_path / "other.html").write_text('<p id="there"><a href="page.html#top">back</a></p>')
    (tmp_path / "a.png").touch()
    return tmp_path


def test_a_whole_site_has_no_mistakes(site):
    assert mistakes(site) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("other.html#", "gone.html#", "page.html: no file gone.html#there"),
        ("#there", "#gone", "page.html: no anchor other.html#gone"),
        ('src="a.png"', 'src="b.png"', "page.html: no file b.png"),
        ('src="a.png"', 'src="https://host/a.png"', "page.html: loads https://host/a.png"),
        (' alt="a"', "", "page.html: no alt text: a.png"),
    ],
)
def test_a_mistake_is_noticed(site, old, new, message):
    (site / "page.html").write_text(PAGE.replace(old, new))
    assert mistakes(site) == [message]
