"""Operators: the small changes of a syntax tree that mutants are made of.

An operator takes a node of the tree and yields what may stand in its place. Each of these is a
site; an operator's sites are counted from 1, in the order of the tree. What follows `=` in an
operator's name is its argument: `value=0` puts a 0 in the place of an expression.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


class Slot(NamedTuple):
    """Where a node stands: a field of its parent, and its place where the field is a list."""

    parent: ast.AST
    field: str
    place: int | None

    def get(self) -> ast.AST:
        value = getattr(self.parent, self.field)
        return value if self.place is None else value[self.place]

    def put(self, node: ast.AST) -> None:
        if self.place is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.place] = node


class Site(NamedTuple):
    """A change that an operator may make: a slot, the node in it, the node in its place."""

    slot: Slot
    old: ast.AST
    new: ast.AST


def slots(node: ast.AST) -> Iterator[Slot]:
    """Every slot below a node but for those of annotations, decorators and words to people."""
    for field, value in ast.iter_fields(node):
        if field in ("decorator_list", "annotation", "returns", "type_params", "ctx", "msg"):
            continue
        if isinstance(node, ast.Raise | ast.JoinedStr):
            continue
        children = enumerate(value) if isinstance(value, list) else [(None, value)]
        for place, child in children:
            if isinstance(child, ast.AST) and not is_silent(child):
                yield Slot(node, field, place)
                yield from slots(child)


def is_silent(node: ast.AST) -> bool:
    """Whether it is a docstring, a block for checkers of types, or how an object is shown."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, FUNCTION) and node.name in ("__repr__", "__str__", "_repr_html_")


def sites(unit: ast.AST, operator: str) -> list[Site]:
    """Every change that an operator may make below a node, in the order of the tree."""
    name, _, argument = operator.partition("=")
    change = WITH_ARGUMENT[name](argument) if argument else OPERATORS[name]
    nodes = [(slot, slot.get()) for slot in slots(unit)]
    return [Site(slot, old, new) for slot, old in nodes for new in change(old, slot)]


Change = Callable[[ast.AST, Slot], Iterator[ast.AST]]
OPERATORS: dict[str, Change] = {}


def operator(change: Change) -> Change:
    """Enter an operator under the name of its function."""
    OPERATORS[change.__name__.strip("_")] = change
    return change


def _pairs(*pairs: tuple[type, type]) -> dict[type, type]:
    return {**dict(pairs), **{b: a for a, b in pairs}}


EDGES = _pairs((ast.Lt, ast.LtE), (ast.Gt, ast.GtE))
SIDES = _pairs((ast.Lt, ast.Gt), (ast.LtE, ast.GtE))
OPPOSITES = _pairs(
    (ast.Lt, ast.GtE),
    (ast.LtE, ast.Gt),
    (ast.Eq, ast.NotEq),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
)
KINS = {
    **_pairs(
        (ast.Add, ast.Sub), (ast.LShift, ast.RShift), (ast.BitAnd, ast.BitOr), (ast.And, ast.Or)
    ),
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitXor: ast.BitOr,
}
NAMES = [
    ("min", "max"), ("minimum", "maximum"), ("floor", "ceil"), ("any", "all"), ("argmin", "argmax"),
    ("lower", "upper"), ("low", "high"), ("below", "above"), ("left", "right"), ("lo", "hi"),
    ("first", "last"), ("start", "stop"), ("up", "down"), ("log", "exp"), ("cumsum", "sum"),
    ("log1p", "expm1"), ("LEFT", "RIGHT"), ("FIRST", "LAST"), ("LOWER", "UPPER"), ("odd", "even"),
]  # fmt: skip
TWINS = {**dict(NAMES), **{b: a for a, b in NAMES}}


def _compares(changes: dict[type, type], node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            if type(op) in changes:
                ops = [*node.ops[:i], changes[type(op)](), *node.ops[i + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators)


@operator
def edge(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """A bound of a comparison belongs to the other side: < and <=, > and >=."""
    yield from _compares(EDGES, node)


@operator
def turn(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """A comparison points the other way: < and >, <= and >=."""
    yield from _compares(SIDES, node)


@operator
def negate(node: ast.AST, slot: Slot) -> Iterator[ast.AST]:
    """A comparison, or another condition, is its opposite."""
    yield from _compares(OPPOSITES, node)
    if not isinstance(node, ast.Compare | ast.UnaryOp | ast.BoolOp) and _is_condition(node, slot):
        yield ast.UnaryOp(ast.Not(), node)


@operator
def true(node: ast.AST, slot: Slot) -> Iterator[ast.AST]:
    """A condition holds."""
    if _is_condition(node, slot) and not _is_constant(node, bool):
        yield ast.Constant(True)


@operator
def false(node: ast.AST, slot: Slot) -> Iterator[ast.AST]:
    """A condition does not hold."""
    if _is_condition(node, slot) and not _is_constant(node, bool):
        yield ast.Constant(False)


def _is_condition(node: ast.AST, slot: Slot) -> bool:
    if not isinstance(node, ast.expr):
        return False
    tested = slot.field in ("test", "ifs") or isinstance(slot.parent, ast.BoolOp)
    return tested or isinstance(node, ast.Compare | ast.BoolOp)


def _is_constant(node: ast.AST, *kinds: type) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in kinds


@operator
def other(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """A constant True is False, and False is True."""
    if _is_constant(node, bool):
        yield ast.Constant(not node.value)


def _number(name: str, change: Callable[[float], float]) -> None:
    def changed(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
        if _is_constant(node, int, float) and change(node.value) != node.value:
            yield ast.Constant(change(node.value))

    OPERATORS[name] = changed


_number("+1", lambda number: number + 1)
_number("-1", lambda number: number - 1)
_number("zero", lambda number: 0 * number)
_number("double", lambda number: 2 * number)
NUMBERS = ("+1", "-1", "zero", "double")  # operators of constants


@operator
def left(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """Of an operation of two, the left one alone."""
    if isinstance(node, ast.BinOp):
        yield node.left


@operator
def right(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """Of an operation of two, the right one alone."""
    if isinstance(node, ast.BinOp):
        yield node.right


@operator
def kin(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """Another operation: + and -, * and /, << and >>, & and |, and and or."""
    op = getattr(node, "op", None)
    if type(op) in KINS:
        yield _copy(node, op=KINS[type(op)]())


@operator
def twin(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """Another name of a pair: min and max, floor and ceil, left and right."""
    if isinstance(node, ast.Name) and node.id in TWINS and isinstance(node.ctx, ast.Load):
        yield ast.Name(TWINS[node.id], ast.Load())
    elif isinstance(node, ast.Attribute) and node.attr in TWINS:
        yield _copy(node, attr=TWINS[node.attr])
    elif _is_constant(node, str) and node.value in TWINS:
        yield ast.Constant(TWINS[node.value])


@operator
def exchange(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """Two neighbours in each other's place: operands, arms, arguments, elements."""
    if isinstance(node, ast.BinOp) and isinstance(
        node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow | ast.LShift | ast.RShift
    ):
        yield ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    else:
        for field, items in _lists(node):
            for i in range(len(items) - 1):
                if ast.dump(items[i]) != ast.dump(items[i + 1]):
                    swapped = [*items[:i], items[i + 1], items[i], *items[i + 2 :]]
                    yield _copy(node, **{field: swapped})


def _lists(node: ast.AST) -> Iterator[tuple[str, list[ast.AST]]]:
    if isinstance(node, ast.Call):
        yield "args", node.args
    elif isinstance(node, ast.Tuple | ast.List):
        yield "elts", node.elts


def _copy(node: ast.AST, **fields: object) -> ast.AST:
    return ast.copy_location(type(node)(**{**dict(ast.iter_fields(node)), **fields}), node)


@operator
def then(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """Of a conditional expression, what stands before `if`."""
    if isinstance(node, ast.IfExp):
        yield node.body


@operator
def orelse(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """Of a conditional expression, what stands behind `else`."""
    if isinstance(node, ast.IfExp):
        yield node.orelse


@operator
def bare(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """Without its sign, its `not`, its subscript, or what is called on it."""
    if isinstance(node, ast.UnaryOp):
        if not isinstance(node.operand, ast.Constant):
            yield node.operand
    elif isinstance(node, ast.Subscript):
        if isinstance(node.ctx, ast.Load):
            yield node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.value


@operator
def argument(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """In the place of a call, one of its arguments."""
    if isinstance(node, ast.Call):
        yield from (a for a in node.args if not isinstance(a, ast.Starred))
        yield from (k.value for k in node.keywords if k.arg)


@operator
def drop(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """One less: an argument, an element, a part of a condition, a bound of a slice."""
    if isinstance(node, ast.Slice):
        for field in ("lower", "upper", "step"):
            if getattr(node, field):
                yield _copy(node, **{field: None})
    elif isinstance(node, ast.BoolOp):
        for i in range(len(node.values)):
            rest = [*node.values[:i], *node.values[i + 1 :]]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.Compare) and len(node.ops) > 1:
        yield ast.Compare(node.left, node.ops[:-1], node.comparators[:-1])
        yield ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:])
    else:
        fields = list(_lists(node))
        if isinstance(node, ast.Call):
            fields.append(("keywords", node.keywords))
        for field, items in fields:
            for i in range(len(items)):
                yield _copy(node, **{field: [*items[:i], *items[i + 1 :]]})


FIELDS = ("args", "lower", "upper", "comparators", "left", "right", "value", "elts")


def _is_computed(node: ast.AST, slot: Slot) -> bool:
    # What may be a number that is computed, where its value matters.
    if not isinstance(node, ast.Name | ast.BinOp | ast.Call | ast.Subscript | ast.Attribute):
        return False
    around = isinstance(slot.parent, ast.Subscript | ast.Attribute)
    return _is_read(node) and (slot.field == "slice" or (slot.field in FIELDS and not around))


def _is_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _computed(name: str, change: Callable[[ast.expr], ast.expr]) -> None:
    def changed(node: ast.AST, slot: Slot) -> Iterator[ast.AST]:
        if isinstance(node, ast.expr) and _is_computed(node, slot):
            yield change(node)

    OPERATORS[name] = changed


_computed("more", lambda node: ast.BinOp(node, ast.Add(), ast.Constant(1)))
_computed("less", lambda node: ast.BinOp(node, ast.Sub(), ast.Constant(1)))
_computed("twice", lambda node: ast.BinOp(ast.Constant(2), ast.Mult(), node))
_computed("half", lambda node: ast.BinOp(node, ast.Div(), ast.Constant(2)))
_computed("minus", lambda node: ast.UnaryOp(ast.USub(), node))


@operator
def skip(node: ast.AST, slot: Slot) -> Iterator[ast.AST]:
    """A statement does nothing."""
    if isinstance(node, ast.stmt) and not isinstance(
        node, ast.Pass | ast.Import | ast.ImportFrom | ast.ClassDef | FUNCTION
    ):
        yield ast.Pass()


@operator
def once(node: ast.AST, slot: Slot) -> Iterator[ast.AST]:
    """A loop ends after its first round, or goes on where it would end."""
    if isinstance(node, ast.For | ast.While):
        yield _copy(node, body=[*node.body, ast.Break()])
    elif isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()


@operator
def anew(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """A value replaces what it should be added to: += is =."""
    if isinstance(node, ast.AugAssign):
        yield ast.copy_location(ast.Assign([node.target], node.value), node)


@operator
def none(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
    """What a function returns is None."""
    if isinstance(node, ast.Return) and node.value and not _is_constant(node.value, type(None)):
        yield ast.Return(ast.Constant(None))


def _number_of(argument: str) -> Change:
    """A number that is written is another one."""
    new = ast.Constant(ast.literal_eval(argument))

    def changed(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
        if _is_constant(node, int, float) and node.value != new.value:
            yield new

    return changed


def _value(argument: str) -> Change:
    """What is computed, or is the value of a name, is this constant or this name's."""
    new = ast.parse(argument, mode="eval").body

    def changed(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
        if not isinstance(node, ast.expr) or _is_constant(node, int, float):
            return
        if _is_read(node) and ast.unparse(node) != ast.unparse(new):
            yield new

    return changed


def _name(argument: str) -> Change:
    """A name is another one: of a variable, or behind a dot."""

    def changed(node: ast.AST, _: Slot) -> Iterator[ast.AST]:
        if isinstance(node, ast.Name) and node.id != argument and isinstance(node.ctx, ast.Load):
            yield ast.Name(argument, ast.Load())
        elif isinstance(node, ast.Attribute) and node.attr != argument:
            yield _copy(node, attr=argument)

    return changed


WITH_ARGUMENT: dict[str, Callable[[str], Change]] = {
    "number": _number_of,
    "value": _value,
    "name": _name,
}
