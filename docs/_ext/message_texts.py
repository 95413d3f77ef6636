"""The messages of the package, read from its source: what exceptions and warnings can say.

A message is collected where its exception is made: that of a class of `fastexp.errors`, of
`UserMistake`, `Failure` and refused values of the command line, `errors.warn`, and a line of
`Faults`, of which the errors of a study consist. Its text may come from constants, variables,
results of functions, and what callers pass; what only a call knows is a name in braces, as in
``{name} must be True or False, got {type}``.

Not collected, as no user meets them:

* other exceptions of Python, which the package catches, or which are in its kernels, its
  reference twins and its abstract classes; but `AttributeError`, and the system errors of
  ``_compiler/build.py``, which a command repeats;
* the rest of a sentence that another exception put there, as ``{reason}``, of the system, and
  messages that consist of another one only;
* lines that say how work goes on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, product
from pathlib import Path

MOST = 48  # texts that one expression can be
MOST_GIVEN = 12  # texts of a parameter that are listed
DEEPEST = 6  # functions between a message and the text that it gets
SILENT = {("kernels",), ("reference",)}  # folders that say nothing: compiled, or called by those
FUNCTIONS = {"repr", "str", "printable"}  # that give what they get
OF_TEXTS = {"removeprefix", "removesuffix", "dedent", "split", "replace"}
LABELS = {  # of what is known by another name in the code than to a reader
    "__name__": "type",
    "strerror": "reason",
    "simpleString": "type",
    "kind": "type",
    "called": "source",
    "magic": "characters",
    "get": "name",
}
COMMANDS = {"UserMistake", "Failure"}  # exceptions of the command line, and its refusals of words
PYTHON = {"AttributeError"}  # of Python, that are not caught
BUILD = ("_compiler", "build")  # its system errors are a command's
PARSER = ("cli", "options", "parser")
REPORT = ("cli", "terminal", "errors")  # words the rest in `report`
WORD, PLACE = re.compile("[A-Za-z]{2}"), re.compile(r"\{(\w+)\}")
USAGE = "ArgumentTypeError"


@dataclass(frozen=True, order=True)
class Message:
    """What can be said: the text, the class, and the first file and line that say it."""

    text: str
    kind: str
    place: str = field(compare=False)


@dataclass(frozen=True)
class Scope:
    """Where an expression stands: its module and the functions around it, innermost last."""

    module: Module
    functions: tuple[ast.FunctionDef, ...] = ()

    @property
    def function(self) -> ast.FunctionDef | None:
        """The innermost function."""
        return self.functions[-1] if self.functions else None


class Module:
    """A file of the package: its names, and its calls with their scopes."""

    def __init__(self, package: Path, path: Path) -> None:
        self.path = path
        self.tree = ast.parse((package / path).read_text(encoding="utf-8"))
        dotted = self.path.with_suffix("").parts
        self.name = dotted[:-1] if dotted[-1] == "__init__" else dotted
        self._package = self.name if dotted[-1] == "__init__" else dotted[:-1]
        self.functions: dict[str, ast.FunctionDef] = {}
        self.methods: dict[str, ast.FunctionDef] = {}
        self.constants: dict[str, ast.expr] = {}
        self.imports: dict[str, tuple[tuple[str, ...], str]] = {}
        self.calls: list[tuple[ast.Call, Scope]] = []
        self._walk(self.tree, Scope(self))
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    self._constant(target, statement.value)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                self._constant(statement.target, statement.value)

    def _constant(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.constants[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, its in zip(target.elts, value.elts, strict=False):
                self._constant(one, its)

    def _walk(self, node: ast.AST, scope: Scope, of_class: bool = False) -> None:
        for child in ast.iter_child_nodes(node):
            inner, is_class = scope, isinstance(child, ast.ClassDef)
            if isinstance(child, ast.FunctionDef):
                (self.methods if of_class else self.functions).setdefault(child.name, child)
                inner = Scope(self, (*scope.functions, child))
            elif isinstance(child, ast.ImportFrom):
                self._import(child)
            elif isinstance(child, ast.Call):
                self.calls.append((child, scope))
            self._walk(child, inner, is_class)

    def _import(self, statement: ast.ImportFrom) -> None:
        origin = tuple(statement.module.split(".")) if statement.module else ()
        if statement.level:
            base = self._package[: len(self._package) - statement.level + 1]
            for alias in statement.names:
                self.imports[alias.asname or alias.name] = ((*base, *origin), alias.name)


class Package:
    """All files of the package."""

    def __init__(self, folder: Path) -> None:
        files = (path.relative_to(folder) for path in sorted(folder.rglob("*.py")))
        read = (Module(folder, path) for path in files if path.parts[:1] not in SILENT)
        self.modules = {module.name: module for module in read}
        errors = self.modules[("errors",)].tree
        self.public = [node.name for node in errors.body if isinstance(node, ast.ClassDef)]

    @cached_property
    def callers(self) -> dict[str, list[tuple[ast.Call, Scope]]]:
        """The calls of each name of a function."""
        callers: dict[str, list[tuple[ast.Call, Scope]]] = {}
        for module in self.modules.values():
            for call, scope in module.calls:
                func = call.func
                name = getattr(func, "id", None) or getattr(func, "attr", None)
                if name is not None:
                    callers.setdefault(name, []).append((call, scope))
        return callers

    def definition(self, name: str, module: Module) -> tuple[Module, ast.FunctionDef] | None:
        """The function that a name stands for in a module, and the module that has it."""
        home, original = self._home(name, module, "functions")
        return None if home is None else (home, home.functions[original])

    def constant(self, name: str, module: Module) -> tuple[Module, ast.expr] | None:
        """The expression that a constant's name stands for in a module, and where it is."""
        home, original = self._home(name, module, "constants")
        return None if home is None else (home, home.constants[original])

    def _home(self, name: str, module: Module, table: str) -> tuple[Module | None, str]:
        """The module whose table has what a name stands for, and its name there."""
        if name in getattr(module, table):
            return module, name
        origin, original = module.imports.get(name, ((), name))
        other = self.modules.get(origin)
        if name not in module.imports or other is None or other is module:
            return None, name
        return self._home(original, other, table)

    def called(self, call: ast.Call, scope: Scope) -> tuple[Module, ast.FunctionDef] | None:
        """The function that is called, if it is one of the package."""
        func = call.func
        if isinstance(func, ast.Name):
            return self.definition(func.id, scope.module)
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return None
        base = func.value.id
        if base in ("self", "cls"):
            method = scope.module.methods.get(func.attr)
            return None if method is None else (scope.module, method)
        if base in scope.module.imports:
            origin, original = scope.module.imports[base]
            other = self.modules.get((*origin, original))
            if other is not None:
                return self.definition(func.attr, other)
        return None


class Texts:
    """What expressions can be as texts."""

    def __init__(self, package: Package) -> None:
        self.package = package

    def of(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[str]:
        """The texts that an expression can be, with names in braces for what is not known."""
        if depth > DEEPEST:
            return [_braced(node)]
        wordings: list[str] = []
        if isinstance(node, ast.Constant):
            wordings = [str(node.value)]
        elif isinstance(node, ast.JoinedStr):
            parts = [self.of(part, scope, depth) for part in node.values]
            wordings = ["".join(texts) for texts in product(*parts)]
        elif isinstance(node, ast.FormattedValue):
            return self._placed(node, scope, depth)
        elif isinstance(node, ast.IfExp):
            wordings = [*self.of(node.body, scope, depth), *self.of(node.orelse, scope, depth)]
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            parts = [self.of(part, scope, depth) for part in node.values]
            wordings = [text for texts in parts[:-1] for text in texts if text] + parts[-1]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            sides = self.of(node.left, scope, depth), self.of(node.right, scope, depth)
            wordings = [a + b for a, b in product(*sides)]
        elif isinstance(node, ast.Name):
            wordings = self._named(node, scope, depth)
        elif isinstance(node, ast.Attribute):
            wordings = self._constant_of_module(node, scope, depth)
        elif isinstance(node, ast.Subscript):
            wordings = self._entries(node, scope, depth)
        elif isinstance(node, ast.Call):
            wordings = self._result(node, scope, depth)
        wordings = list(dict.fromkeys(wordings))
        return wordings if 0 < len(wordings) <= MOST else [_braced(node)]

    def _placed(self, node: ast.FormattedValue, scope: Scope, depth: int) -> list[str]:
        """A value in a text: words that are known, else its name."""
        if isinstance(node.value, ast.Constant):
            return [str(node.value.value)]
        texts = self.of(node.value, scope, depth)
        worded = [text for text in texts if _is_wording(text) or text.isdigit()]
        named = isinstance(node.value, ast.Name) and len(worded) < len(texts)
        return [*worded, _braced(node.value)] if named or not worded else worded

    def _named(self, node: ast.Name, scope: Scope, depth: int) -> list[str]:
        for i in range(len(scope.functions), 0, -1):
            inside = Scope(scope.module, scope.functions[:i])
            values = _assigned(node.id, scope.functions[i - 1])
            if values:
                return [t for value in values for t in self.of(value, inside, depth + 1)]
            if node.id in _parameters(scope.functions[i - 1]):
                return self._given(node.id, inside, depth)
        known = self.package.constant(node.id, scope.module)
        if known is None:
            return []
        number = _number(known[1])
        return [number] if number else self.of(known[1], Scope(known[0]), depth + 1)

    def _given(self, name: str, scope: Scope, depth: int) -> list[str]:
        """What callers give for a parameter, as far as it is wording."""
        function, texts = scope.function, []
        if function is None:
            return []
        for call, outer in self.package.callers.get(function.name, ()):
            target = self.package.called(call, outer)
            if target is None or target[1] is not function:
                continue
            value = _argument(name, function, call)
            if value is not None:
                texts += self.of(value, outer, depth + 1)
        worded = list(dict.fromkeys(text for text in texts if " " in text and _is_wording(text)))
        if len(worded) > MOST_GIVEN:
            return []
        return worded if len(worded) == len(texts) else [*worded, "{" + name + "}"]

    def _constant_of_module(self, node: ast.Attribute, scope: Scope, depth: int) -> list[str]:
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        origin, original = scope.module.imports.get(owner, ((), ""))
        module = self.package.modules.get((*origin, original))
        known = None if module is None else self.package.constant(node.attr, module)
        return [] if known is None else self.of(known[1], Scope(known[0]), depth + 1)

    def _entries(self, node: ast.Subscript, scope: Scope, depth: int) -> list[str]:
        """The values of a table of texts."""
        value: ast.expr | None = node.value
        module = scope.module
        if isinstance(value, ast.Name):
            known = self.package.constant(value.id, module)
            module, value = known if known is not None else (module, None)
        if not isinstance(value, ast.Dict):
            return []
        texts = [t for one in value.values for t in self.of(one, Scope(module), depth + 1)]
        return texts if all(map(_is_wording, texts)) else []

    def _result(self, node: ast.Call, scope: Scope, depth: int) -> list[str]:
        """What a function of the package returns; a text with its places filled."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            values = [*((str(i), arg) for i, arg in enumerate(node.args))]
            values += [(word.arg, word.value) for word in node.keywords if word.arg]
            names = [name for name, _ in values]
            texts = [self._placed(ast.FormattedValue(v, -1), scope, depth) for _, v in values]
            patterns = self.of(node.func.value, scope, depth + 1)
            return [
                _filled(pattern, dict(zip(names, words, strict=True)))
                for pattern in patterns
                for words in product(*texts)
            ]
        target = self.package.called(node, scope)
        if target is None or target[1] is scope.function:
            return []
        module, function = target
        returned = [
            part.value
            for part in ast.walk(function)
            if isinstance(part, ast.Return) and part.value is not None
        ]
        inside = Scope(module, (function,))
        texts = [text for value in returned for text in self.of(value, inside, depth + 1)]
        return texts if all(map(_is_wording, texts)) else []


def _filled(pattern: str, words: dict[str, str]) -> str:
    """A text with its places filled, as `str.format` does; other names in braces stay."""
    numbers = count()

    def filled(place: re.Match[str]) -> str:
        return words.get(place[1] or str(next(numbers)), place[0])

    return re.sub(r"\{(\w*)(?:![rs])?(?::[^}]*)?\}", filled, pattern)


def _is_wording(text: str) -> bool:
    """Whether it is words of a message, and not a name or a number."""
    return text == "" or " " in PLACE.sub("", text)


def _number(node: ast.expr) -> str:
    """An integer that a constant is, as ``1 << 20``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift):
        left, right = _number(node.left), _number(node.right)
        return str(int(left) << int(right)) if left and right else ""
    is_integer = isinstance(node, ast.Constant) and type(node.value) is int
    return str(node.value) if is_integer else ""


def _braced(node: ast.expr) -> str:
    return "{" + (_label(node) or "value") + "}"


def _label(node: ast.expr) -> str:
    """A short name for what an expression gives."""
    if isinstance(node, ast.Name):
        name = (node.id.lower() if node.id.isupper() else node.id).strip("_")
        return LABELS.get(name, name)
    if isinstance(node, ast.Attribute):
        return LABELS.get(node.attr, node.attr.strip("_"))
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in OF_TEXTS:
            return _label(node.func.value)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            return str(getattr(node.args[0], "value", ""))
        labels = [label for argument in reversed(node.args) if (label := _label(argument))]
        return next((label for label in labels if label not in FUNCTIONS), "")
    if isinstance(node, (ast.Subscript, ast.Starred)):
        return _label(node.value)
    return _label(node.left) if isinstance(node, ast.BinOp) else ""


def _assigned(name: str, function: ast.FunctionDef) -> list[ast.expr]:
    """The values that a function gives to a name; none if a loop or a with gives one."""
    values: list[ast.expr] = []
    for part in ast.walk(function):
        if isinstance(part, ast.Assign):
            for target in part.targets:
                pairs = [(target, part.value)]
                if isinstance(target, ast.Tuple) and isinstance(part.value, ast.Tuple):
                    pairs = list(zip(target.elts, part.value.elts, strict=False))
                values += [v for t, v in pairs if isinstance(t, ast.Name) and t.id == name]
        elif isinstance(part, (ast.AnnAssign, ast.NamedExpr, ast.AugAssign)) and part.value:
            values += [part.value] * (isinstance(part.target, ast.Name) and part.target.id == name)
    return values


def _parameters(function: ast.FunctionDef) -> list[str]:
    its = function.args
    return [a.arg for a in (*its.posonlyargs, *its.args, *its.kwonlyargs)]


def _argument(name: str, function: ast.FunctionDef, call: ast.Call) -> ast.expr | None:
    """What a call gives for a parameter, or its default."""
    for word in call.keywords:
        if word.arg == name:
            return word.value
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    is_method = names[:1] in (["self"], ["cls"])
    place = names.index(name) - is_method if name in names else len(call.args)
    if 0 <= place < len(call.args):
        value = call.args[place]
        return None if isinstance(value, ast.Starred) else value
    return _default(name, function)


def _default(name: str, function: ast.FunctionDef) -> ast.expr | None:
    its = function.args
    names = [a.arg for a in (*its.posonlyargs, *its.args)]
    defaults = dict(zip(reversed(names), reversed(its.defaults), strict=False))
    only = dict(zip((a.arg for a in its.kwonlyargs), its.kw_defaults, strict=True))
    return defaults.get(name) or only.get(name)


def messages(folder: Path) -> list[Message]:
    """Every message of the package in a folder, sorted."""
    package = Package(folder)
    texts = Texts(package)
    by_text: dict[tuple[str, str], Message] = {}
    for module in package.modules.values():
        for call, scope in (*module.calls, *_reported(module)):
            for kind, node in _said(call, scope, package):
                for said in texts.of(node, scope):
                    text = said.removeprefix("error: ")
                    place = f"{module.path.as_posix()}:{call.lineno}"
                    if WORD.search(PLACE.sub("", text)):
                        by_text.setdefault((text, kind), Message(text, kind, place))
    return sorted(by_text.values())


def _reported(module: Module) -> Iterator[tuple[ast.Call, Scope]]:
    """What the command line says of errors that have no message of their own, as if raised."""
    if module.name == REPORT:
        report = module.functions["report"]
        for part in ast.walk(report):
            if isinstance(part, ast.Return) and isinstance(part.value, ast.Tuple):
                text, code = part.value.elts
                kind = "UserMistake" if _label(code) == "mistake" else "Failure"
                call = ast.Call(ast.Name(kind), [text], [], lineno=part.lineno)
                yield call, Scope(module, (report,))


def _constants(table: ast.expr) -> list[str]:
    return [str(v.value) for v in getattr(table, "values", ()) if isinstance(v, ast.Constant)]


def _said(call: ast.Call, scope: Scope, package: Package) -> Iterator[tuple[str, ast.expr]]:
    """The classes and the text of what a call makes, if that is a message."""
    func, module = call.func, scope.module
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        owner = func.value.id
        if func.attr == "add" and len(call.args) == 2 and owner in ("faults", "self"):
            yield "ParameterError", call.args[1]
        elif func.attr == "error" and module.name == PARSER:
            yield "UserMistake", call.args[0]
        elif func.attr == "sub" and module.name == PARSER and scope.function is not None:
            if scope.function.name == "error":
                for text in _constants(module.constants["PLAIN"]):
                    yield "UserMistake", ast.Constant(re.sub(r"\\\d", "{option}", text))
        elif owner == "errors" and func.attr in package.public and call.args:
            yield func.attr, call.args[0]
    elif isinstance(func, ast.Name) and call.args:
        if func.id == "warn" and len(call.args) == 2:
            yield _label(call.args[1]), call.args[0]
        for kind in _classes(func.id, scope, package):
            yield kind, call.args[0]


def _classes(name: str, scope: Scope, package: Package) -> set[str]:
    """The classes that a name stands for, where they are those of messages."""
    known = {*package.public, *COMMANDS, *PYTHON}
    if scope.module.name == BUILD:
        known.add("OSError")
    original = scope.module.imports.get(name, ((), name))[1]
    if original in known:
        return {original}
    alias = package.constant(name, scope.module)
    if alias is not None and _label(alias[1]) == USAGE:
        return {"UserMistake"}
    function = scope.function
    if function is None or name not in _parameters(function):
        return set()
    values = [_argument(name, function, call) for call, _ in package.callers.get(function.name, ())]
    labels = {_label(value) for value in (*values, _default(name, function)) if value is not None}
    return labels & known
