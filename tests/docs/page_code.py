"""The code of a page of the documentation, block by block, and how each kind is run.

On a page (MyST Markdown) a block of code is one of these:

* ``{code-cell}``: Python, run by the site's build, which shows the output, and here;
* ``pycon``: a doctest with its output, for places where no cell can stand, as in tabs;
* ``console``: ``$ command`` lines, each followed by what it prints;
* ``{code-block} LANGUAGE`` with a ``:caption:``: a file of that name, written for what follows;
* ``text``: no code.

All of a page run in one folder, which begins with copies of ``docs/data``, and in one namespace.
A comment line directly above a block says more: ``% answers vary``, then numbers of its output
are not compared; ``% needs: MODULE``, then it is skipped where that is missing (``java`` and
``mpiexec`` are programs); ``% not run: REASON``. In README.md such a line is an HTML comment, and
the ``sh`` blocks are the commands that ``.ci/run`` runs.
"""

from __future__ import annotations

import doctest
import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from traceback import format_exception_only
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>```+)(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)(?P=ticks) *$",
    re.MULTILINE | re.DOTALL,
)
DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")
OPTION = re.compile(r":([\w-]+):\s*(.*)")
REMARK = re.compile(r"^ *(?:%|<!--) (answers vary|needs|not run)(?:: *(.+?))? *(?:-->)?$")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
COMPARED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NO_CODE = {"", "text", "math", "markdown"}
PROGRAMS = {"java", "mpiexec"}
SECONDS = 120  # that a command may take


@dataclass(frozen=True)
class Block:
    """A block of code: its kind or language, the file that it is, its text, remarks and tags."""

    language: str
    file: str
    text: str
    line: int
    remarks: dict[str, str]
    tags: str = ""

    @property
    def runs(self) -> bool:
        """Whether it is code that is not said to be left out."""
        is_code = self.language not in NO_CODE or bool(self.file)
        return is_code and "not run" not in self.remarks

    def missing(self) -> str:
        """What it needs and this machine has not, or nothing."""
        needs = [name.strip() for name in self.remarks.get("needs", "").split(",") if name.strip()]
        lacking = [n for n in needs if not (shutil.which(n) if n in PROGRAMS else find_spec(n))]
        return ", ".join(lacking)


def pages() -> list[Path]:
    """Every page that is written by hand, README.md first."""
    built = DOCS / "_build"
    written = sorted(path for path in DOCS.rglob("*.md") if built not in path.parents)
    return [README, *written]


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page's text, in order; those inside tabs and notes too."""
    for fence in FENCE.finditer(page):
        directive = DIRECTIVE.match(fence["info"].strip())
        name, argument = directive.groups() if directive else ("", fence["info"].strip())
        if directive and name not in ("code-cell", "code-block"):
            yield from blocks(fence["body"])
            continue
        width = len(fence["indent"])
        lines = [line[width:] for line in fence["body"].splitlines()]
        options: dict[str, str] = {}
        while directive and lines and (option := OPTION.match(lines[0])):
            options[option[1]] = option[2]
            del lines[0]
        while directive and lines and not lines[0].strip():
            del lines[0]
        yield Block(
            language="code-cell" if name == "code-cell" else argument,
            file=options.get("caption", ""),
            text="\n".join(lines) + "\n",
            line=page.count("\n", 0, fence.start()) + 1,
            remarks=_remarks(page[: fence.start()]),
            tags=options.get("tags", ""),
        )


def _remarks(above: str) -> dict[str, str]:
    remarks: dict[str, str] = {}
    for line in reversed(above.splitlines()):
        if not (remark := REMARK.match(line)):
            break
        remarks[remark[1]] = remark[2] or ""
    return remarks


def run(page: Path, data: Path, folder: Path) -> list[str]:
    """Run the code of a page in a folder that is the current one; what was left out, and why."""
    shutil.copytree(data, folder, dirs_exist_ok=True)
    names: dict[str, Any] = {"__name__": "__main__"}
    absent = []
    for block in blocks(page.read_text()):
        place = f"{page.name}:{block.line}"
        if not block.runs or (page == README and block.language == "sh"):
            continue
        if lacking := block.missing():
            absent.append(f"{place} needs {lacking}")
        elif block.file:
            Path(folder, block.file).write_text(block.text)
        elif block.language == "code-cell":
            exec(compile(block.text, place, "exec"), names)  # noqa: S102  # pages are ours
        elif block.language == "pycon":
            _doctest(block, place, names)
        elif block.language == "console":
            _console(block, place, folder)
        else:
            raise AssertionError(f"{place}: {block.language!r} is run by nobody: say why")
    return absent


def _same(expected: str, printed: str, block: Block) -> bool:
    if "answers vary" in block.remarks:
        expected, printed = NUMBER.sub("#", expected), NUMBER.sub("#", printed)
    return doctest.OutputChecker().check_output(expected, printed, COMPARED)


def _doctest(block: Block, place: str, names: dict[str, Any]) -> None:
    example: doctest.Example
    for example in doctest.DocTestParser().get_examples(block.text):
        printed = io.StringIO()
        with redirect_stdout(printed):
            try:
                exec(compile(example.source, place, "single"), names)  # noqa: S102  # as above
            except Exception as error:
                if example.exc_msg is None:
                    raise
                printed.write("".join(format_exception_only(error)))
        expected = example.want if example.exc_msg is None else example.exc_msg
        same = _same(expected, printed.getvalue(), block)
        assert same, f"{place}: {example.source}\n{expected}\nexpected, got\n{printed.getvalue()}"


def _console(block: Block, place: str, folder: Path) -> None:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = re.sub(r" *\\\n *", " ", part).partition("\n")
        printed = _printed(command, folder)
        same = _same(expected.rstrip() + "\n", printed.rstrip() + "\n", block)
        assert same, f"{place}: $ {command}\n{expected}\nexpected, got\n{printed}"


def _printed(command: str, folder: Path) -> str:
    """What a command prints: ours in this process, which has compiled, others in a shell."""
    words = shlex.split(command)
    if words[0] == "fastexp" and not set("|<>&;*$") & set(command):
        from fastexp.cli import main

        output = io.StringIO()
        with redirect_stdout(output), redirect_stderr(output):
            main(words[1:])
        return output.getvalue()
    ours = {"fastexp": f"{sys.executable} -m fastexp", "python": sys.executable}
    shell = re.sub(r"(?<![\w./-])(fastexp|python)(?= )", lambda name: ours[name[1]], command)
    ended = subprocess.run(
        ["bash", "-c", shell],  # noqa: S607  # pages are for people who have one
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    return ended.stdout
