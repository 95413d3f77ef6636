"""Splicing of helpers into the source of their callers, before the compiler sees it.

Numba compiles every function separately, with its own passes and its own module. So a call of a
helper is replaced by the helper's body, with fresh names, and the compiler sees fewer and larger
functions. They compute the same: arguments are evaluated once and in order, everything before a
call is evaluated before it, and everything behind a test only if the test says so.

Slices and choices (`x if test else y`) become calls of intrinsics, which numba compiles in half of
the time; a choice only if neither side can fail, because an intrinsic evaluates both.

A call stays a call if the helper returns from inside a loop, and if the helper is large and called
more than once: then its body is compiled once. Python runs functions as they are written; they are
also compiled like that if the source is not the one that this process imported
(`kernel_sources.text`).
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any, NamedTuple

from . import kernel_sources

Statements = list[ast.stmt]
Body = Callable[[Any], FunctionType | None]
MAX_REPEATED_NODES = 60  # most nodes of a body that is repeated at each of its calls
SLICE, CHOICE = ast.Slice, ast.IfExp  # keys of `replacements`
END = (1 << 63) - 1  # the stop of a slice without one
CAN_FAIL = ast.Call | ast.Subscript | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow
# Nodes that end or hide names; and starred elements, which numba takes only in separate functions.
UNSUPPORTED_NODES = (
    ast.comprehension | ast.FunctionDef | ast.Global | ast.Lambda | ast.NamedExpr
    | ast.Nonlocal | ast.Starred | ast.Try | ast.With | ast.Yield
)  # fmt: skip


def flattened(
    function: FunctionType, body_of: Body, replacements: Mapping[Any, Any]
) -> FunctionType:
    """Return the function with helpers' bodies in the place of calls; itself if that cannot be.

    function: at the top level of a module of this package, without closure and defaults. body_of:
    returns the function of a value that is a helper, else None. replacements: the functions that
    are called in place of builtin functions of two arguments, slices without a step (SLICE) and
    choices (CHOICE).
    """
    definition = _definition(function)
    if definition is None or _is_unsupported(definition):
        return function
    return _Splicer(function, definition, body_of, replacements).function()


class _Template(NamedTuple):
    function: Any
    parameters: list[str]
    statements: Statements
    returns: int  # the number of return statements
    width: int  # length of the tuple that each of them returns, else 0


class _Splicer:
    """One function into which others are spliced: its globals, its locals, its statements."""

    def __init__(
        self,
        root: FunctionType,
        definition: ast.FunctionDef,
        body_of: Body,
        replacements: Mapping[Any, Any],
    ) -> None:
        self._root, self._definition = root, definition
        self._body_of, self._replacements = body_of, replacements
        self._globals: dict[str, Any] = {"__name__": root.__module__}
        self._locals = _bound(definition.body) | set(_parameters(definition) or ())
        self._number = 0
        self._calls = Counter(_calls(root, body_of))
        waiting = list(self._calls)
        while waiting:
            inner = Counter(_calls(waiting.pop(), body_of))
            waiting += inner.keys() - self._calls.keys()
            self._calls += inner

    def function(self) -> FunctionType:
        """Return the spliced function, compiled by Python."""
        rename = _Renaming(self, self._root, {name: name for name in self._locals})
        body = [rename.visit(copy.deepcopy(part)) for part in _undocumented(self._definition)]
        names = [ast.arg(name) for name in _parameters(self._definition) or ()]
        node = copy.copy(self._definition)
        node.args = ast.arguments([], names, None, [], [], None, [])
        node.body, node.decorator_list, node.returns = self._block(body), [], None
        text = ast.unparse(ast.fix_missing_locations(node))
        code = compile(text, f"<{self._root.__module__}.{node.name}>", "exec", dont_inherit=True)
        exec(code, self._globals)  # noqa: S102  # made of this package's own functions
        result: FunctionType = self._globals.pop(node.name)
        return result

    def global_name(self, value: Any, name: str) -> str:
        """Return the name here of a value that a helper's module calls `name`."""
        choice = name
        while choice in self._locals or self._globals.get(choice, value) is not value:
            choice = self._fresh(name)
        self._globals[choice] = value
        return choice

    def replacement_of(self, what: Any, arguments: list[ast.expr]) -> ast.Call | None:
        """Return the call that replaces a builtin of two arguments, a slice or a choice, if any."""
        value = self._replacements.get(what)
        if value is None:
            return None
        name = self.global_name(value, f"{what.__name__}_instead")
        return ast.Call(ast.Name(name, ast.Load()), arguments, [])

    def _fresh(self, name: str) -> str:
        self._number += 1
        return f"{name}__{self._number}"

    def _block(self, statements: Statements) -> Statements:
        return [new for statement in statements for new in self._statement(statement)]

    def _statement(self, statement: Any) -> Statements:
        # The statement without calls that can be spliced, after the statements that they become.
        before: Statements = []
        match statement:
            case ast.If():
                before, statement.test = self._lifted(statement.test)
            case ast.For():
                before, statement.iter = self._lifted(statement.iter)
            case ast.While(orelse=[]):
                again, test = self._lifted(statement.test)
                statement.test = ast.Constant(value=True) if again else test
                body = self._block(statement.body)
                if again:
                    again.append(ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], []))
                statement.body = [*again, *body]
                return [statement]
            case ast.Assign(targets=[ast.Tuple() as target]):
                before, statement.value = self._lifted(statement.value)
                return [*before, *_unpacked(target, statement)]
            case ast.AnnAssign(value=ast.expr()):
                before, value = self._lifted(statement.value)
                return [*before, ast.Assign([statement.target], value)]
            case ast.AugAssign(target=ast.Subscript() as target):  # which is read before the value
                before, target.slice = self._lifted(target.slice)
            case ast.Expr():
                before, statement.value = self._lifted(statement.value)
                if isinstance(statement.value, ast.Constant):
                    return before
            case ast.Assign() | ast.Return(value=ast.expr()) | ast.AugAssign(target=ast.Name()):
                before, statement.value = self._lifted(statement.value)
        if isinstance(statement, ast.If | ast.For):
            statement.body = self._block(statement.body)
            statement.orelse = self._block(statement.orelse)
        return [*before, statement]

    def _lifted(self, node: Any) -> tuple[Statements, Any]:
        # Statements that run first, and the expression without calls that can be spliced.
        if not any(self._template(part) for part in ast.walk(node)):
            return [], node
        if isinstance(node, ast.IfExp):
            return self._lifted_choice(node)
        if isinstance(node, ast.BoolOp):
            return self._lifted_terms(node)
        before: Statements = []
        passed: list[tuple[Any, Any]] = []
        for place, key in _parts(node):
            first, part = self._lifted(_get(place, key))
            if first:  # evaluate all that precedes it first, unless its value cannot change
                for other in passed:
                    if not _is_stable(_get(*other)):
                        before.append(self._assigned(_get(*other), *other))
            before += first
            _set(place, key, part)
            passed.append((place, key))
        template = self._template(node)
        if template is None:
            return before, node
        inner, result = self._spliced(template, node)
        return [*before, *inner], result

    def _assigned(self, value: ast.expr, place: Any, key: Any) -> ast.stmt:
        name = self._fresh("value")
        _set(place, key, ast.Name(name, ast.Load()))
        return _assignment(name, value)

    def _lifted_choice(self, node: ast.IfExp) -> tuple[Statements, ast.expr]:
        before, node.test = self._lifted(node.test)
        if_true, node.body = self._lifted(node.body)
        if_false, node.orelse = self._lifted(node.orelse)
        if not if_true and not if_false:
            return before, node
        name = self._fresh("value")
        if_true.append(_assignment(name, node.body))
        if_false.append(_assignment(name, node.orelse))
        return [*before, ast.If(node.test, if_true, if_false)], ast.Name(name, ast.Load())

    def _lifted_terms(self, node: ast.BoolOp) -> tuple[Statements, ast.expr]:
        # For "and" and "or": statements of a later term run only if that term is reached.
        before, first = self._lifted(node.values[0])
        terms = [self._lifted(term) for term in node.values[1:]]
        if not any(statements for statements, _ in terms):
            node.values = [first, *(term for _, term in terms)]
            return before, node
        name = self._fresh("value")
        before.append(_assignment(name, first))
        block = before
        for statements, term in terms:
            test: ast.expr = ast.Name(name, ast.Load())
            test = ast.UnaryOp(ast.Not(), test) if isinstance(node.op, ast.Or) else test
            inner = [*statements, _assignment(name, term)]
            block.append(ast.If(test, inner, []))
            block = inner
        return before, ast.Name(name, ast.Load())

    def _template(self, node: ast.AST) -> _Template | None:
        # The template of the helper that a node calls, if its body is to replace the call.
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        helper = self._body_of(self._globals.get(node.func.id))
        if helper is None or node.func.id in self._locals or node.keywords:
            return None
        template = _template(helper)
        if template is None or len(template.parameters) != len(node.args):
            return None
        repeated = self._calls[helper] > 1 and _size(helper, self._body_of) > MAX_REPEATED_NODES
        return None if repeated else template

    def _spliced(self, template: _Template, call: ast.Call) -> tuple[Statements, ast.expr]:
        # The helper's statements with fresh names, and the expression of its result.
        body = copy.deepcopy(template.statements)
        bound = _bound(body)
        names = {name: self._fresh(name) for name in sorted(bound - set(template.parameters))}
        before: Statements = []
        for parameter, argument in zip(template.parameters, call.args, strict=True):
            if isinstance(argument, ast.Name) and parameter not in bound:
                names[parameter] = argument.id
            else:
                names[parameter] = self._fresh(parameter)
                before.append(_assignment(names[parameter], argument))
        rename = _Renaming(self, template.function, names)
        body = [rename.visit(statement) for statement in body]
        if template.returns == 0:
            return [*before, *self._block(body)], ast.Constant(value=None)
        if template.returns == 1 and isinstance(body[-1], ast.Return):
            before += self._block(body[:-1])
            after, result = self._lifted(body[-1].value)
            before += after
            if isinstance(result, ast.Constant):  # Python would fold it into what is around it
                name = self._fresh("value")
                return [*before, _assignment(name, result)], ast.Name(name, ast.Load())
            return before, result
        results = [self._fresh("value") for _ in range(template.width or 1)]
        before += self._block(_without_returns(body, results, template.width))
        values: list[ast.expr] = [ast.Name(name, ast.Load()) for name in results]
        return before, ast.Tuple(values, ast.Load()) if template.width else values[0]


class _Renaming(ast.NodeTransformer):
    def __init__(self, splicer: _Splicer, function: FunctionType, names: dict[str, str]) -> None:
        self._splicer, self._names = splicer, names
        self._globals = function.__globals__

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        is_builtin = name not in self._names and name not in self._globals
        self.generic_visit(node)
        if not is_builtin or node.keywords or len(node.args) != 2:
            return node
        return self._splicer.replacement_of(getattr(builtins, name, None), node.args) or node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        part = node.slice
        if not isinstance(part, ast.Slice) or part.step or not isinstance(node.ctx, ast.Load):
            return node
        ends = part.lower or ast.Constant(0), part.upper or ast.Constant(END)
        return self._splicer.replacement_of(SLICE, [node.value, *ends]) or node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(p, CAN_FAIL) for n in (node.body, node.orelse) for p in ast.walk(n)):
            return node
        return self._splicer.replacement_of(CHOICE, [node.test, node.body, node.orelse]) or node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self._names:
            node.id = self._names[node.id]
        elif node.id in self._globals:
            node.id = self._splicer.global_name(self._globals[node.id], node.id)
        elif hasattr(builtins, node.id):
            node.id = self._splicer.global_name(getattr(builtins, node.id), node.id)
        return node


@functools.cache
def _definitions(module: str) -> dict[str, ast.FunctionDef]:
    # The functions of a module's top level by name; none if its text is not known.
    try:
        tree = ast.parse(kernel_sources.text(module))
    except (OSError, SyntaxError, ValueError):  # as in `kernel_sources.source_hash`
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _definition(function: FunctionType) -> ast.FunctionDef | None:
    node = _definitions(function.__module__).get(function.__qualname__)
    if node is None or _parameters(node) is None:
        return None
    line = min([node.lineno, *(part.lineno for part in node.decorator_list)])
    return node if line == function.__code__.co_firstlineno else None


@functools.cache
def _template(helper: FunctionType) -> _Template | None:
    # None if it cannot be spliced in.
    definition = _definition(helper)
    if definition is None or _is_unsupported(definition):
        return None
    statements = _undocumented(definition)
    returns = _returns(statements)
    if returns and not _ends_in_returns(statements):
        return None
    widths = {len(r.value.elts) if isinstance(r.value, ast.Tuple) else 0 for r in returns}
    width = widths.pop() if len(widths) == 1 else 0
    names = _parameters(definition) or []
    return _Template(helper, names, statements, len(returns), width)


@functools.cache
def _size(helper: FunctionType, body_of: Body) -> int:
    # The nodes of a helper's body, and of the bodies of those that it calls.
    definition = _definition(helper)
    nodes = 0 if definition is None else sum(1 for _ in ast.walk(definition))
    return nodes + sum(_size(inner, body_of) for inner in _calls(helper, body_of))


def _is_unsupported(definition: ast.FunctionDef) -> bool:
    nodes = (node for part in definition.body for node in ast.walk(part))
    return any(isinstance(node, UNSUPPORTED_NODES) for node in nodes)


def _calls(function: FunctionType, body_of: Body) -> Iterator[FunctionType]:
    # The helpers that a function calls, once for each call in its text.
    definition = _definition(function)
    for node in [] if definition is None else ast.walk(definition):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            helper = body_of(function.__globals__.get(node.func.id))
            if helper is not None:
                yield helper


def _parameters(definition: ast.FunctionDef) -> list[str] | None:
    # The names of the parameters, if all are plain ones.
    rest = copy.copy(definition.args)
    names, rest.args = [argument.arg for argument in rest.args], []
    return None if any(value for _, value in ast.iter_fields(rest)) else names


def _undocumented(definition: ast.FunctionDef) -> Statements:
    return definition.body[ast.get_docstring(definition) is not None :]


def _bound(statements: Iterable[ast.AST]) -> set[str]:
    # The names that statements bind.
    names = (node for part in statements for node in ast.walk(part) if isinstance(node, ast.Name))
    return {node.id for node in names if not isinstance(node.ctx, ast.Load)}


def _assignment(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _unpacked(target: ast.Tuple, statement: ast.Assign) -> Statements:
    # An assignment to each name of a tuple, if none of them changes a later value.
    value = statement.value
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    if (
        not isinstance(value, ast.Tuple)
        or not all(isinstance(part, ast.Name) for part in value.elts)
        or names & _bound([target])
    ):
        return [statement]
    return [ast.Assign([name], part) for name, part in zip(target.elts, value.elts, strict=True)]


def _parts(node: ast.expr) -> Iterator[tuple[Any, Any]]:
    # The places of those parts of an expression that are always evaluated, in order of evaluation:
    # in a chain of comparisons, the first two.
    if isinstance(node, ast.Compare):
        yield from ((node, "left"), (node.comparators, 0))
        return
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            yield node, field
        elif isinstance(value, list):
            yield from ((value, i) for i, part in enumerate(value) if isinstance(part, ast.expr))


def _get(place: Any, key: Any) -> Any:
    return place[key] if isinstance(place, list) else getattr(place, key)


def _set(place: Any, key: Any, value: ast.expr) -> None:
    if isinstance(place, list):
        place[key] = value
    else:
        setattr(place, key, value)


def _is_stable(node: ast.AST) -> bool:
    # Whether later statements cannot change a node's value: names are bound once or before, and
    # slices are views, but elements of an array may be written.
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and all(
            map(_is_stable, ast.iter_child_nodes(node))
        )
    return not isinstance(node, ast.Call) and all(map(_is_stable, ast.iter_child_nodes(node)))


def _returns(statements: Iterable[ast.AST]) -> list[ast.Return]:
    nodes = (node for part in statements for node in ast.walk(part))
    return [node for node in nodes if isinstance(node, ast.Return)]


def _ends(statements: Statements) -> bool:
    # Whether the last statement returns, whatever its tests give.
    last = statements[-1] if statements else None
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    return isinstance(last, ast.Return)


def _ends_in_returns(statements: Statements) -> bool:
    # Whether every path ends by returning a value, none of them inside a loop, and at most one side
    # of a test with a return continues after the test: then returns can be assignments.
    for i, statement in enumerate(statements):
        if isinstance(statement, ast.Return):
            return statement.value is not None
        if _returns([statement]):
            if not isinstance(statement, ast.If):
                return False
            sides = [statement.body, statement.orelse]
            ending = [side for side in sides if _ends(side)]
            rest = statements[i + 1 :]
            return bool(ending) and all(
                _ends_in_returns(side if side in ending else [*side, *rest]) for side in sides
            )
    return False


def _without_returns(statements: Statements, results: list[str], width: int) -> Statements:
    # Turn returns into assignments to `results`; code after a test's return is for its other side.
    for i, statement in enumerate(statements):
        if isinstance(statement, ast.Return) and statement.value is not None:
            value = statement.value
            values = value.elts if width and isinstance(value, ast.Tuple) else [value]
            return [*statements[:i], *map(_assignment, results, values)]
        if isinstance(statement, ast.If) and _returns([statement]):
            rest = statements[i + 1 :]
            for side in ("body", "orelse"):
                block = getattr(statement, side)
                whole = block if _ends(block) else [*block, *rest]
                setattr(statement, side, _without_returns(whole, results, width))
            return [*statements[:i], statement]
    return statements
