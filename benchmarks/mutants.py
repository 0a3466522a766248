"""Small changes to source text that a good suite of tests notices: where they can be made, and how.

A place is a node of the syntax tree and one kind of change to it; a place may allow several changes, of which the hash
of its name and the seed choose one. Left alone are what does nothing when the code runs (docstrings, annotations,
imports, type aliases, `__all__`, `__slots__`, decorators, assertions, blocks for type checkers) and what is only shown
to people (messages of errors, formatted strings, `__repr__` and `__str__`).
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["OPERATORS", "Mutant", "mutants"]

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_BITS: dict[type[ast.operator], type[ast.operator]] = {
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip
_PAIRS = (
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("fmin", "fmax"), ("nanmin", "nanmax"),
    ("any", "all"), ("floor", "ceil"), ("zeros", "ones"), ("sin", "cos"), ("vstack", "hstack"),
)  # fmt: skip
_SWAPS = {name: other for pair in _PAIRS for name, other in (pair, pair[::-1])}
_SHOWN = {"__repr__", "__str__"}
_NAMES_ONLY = {"__all__", "__slots__"}


@dataclass(frozen=True)
class Mutant:
    """One change of one source file."""

    file: str
    function: str  # qualified name of what encloses the change; "" at the top of the module
    operator: str
    original: str  # the first line that differs
    mutated: str
    source: str  # the whole changed file
    line: int
    repeat: int  # 0, 1, ... for changes that read the same

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """What names the change, whatever is written above it."""
        return self.file, self.function, self.operator, self.original, self.mutated, self.repeat


Change: TypeAlias = ast.expr | ast.stmt
Maker: TypeAlias = Callable[[ast.AST, ast.AST | None], list[Change]]  # node, parent -> what may stand instead


def _comparison(node: ast.AST, _parent: ast.AST | None) -> list[Change]:
    found: list[Change] = []
    if isinstance(node, ast.Compare):
        for at, sign in enumerate(node.ops):
            for other in _COMPARISONS[type(sign)]:
                changed = copy.deepcopy(node)
                changed.ops[at] = other()
                found.append(changed)
    return found


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _with_operation(node: ast.AST, table: dict[type[ast.operator], type[ast.operator]]) -> list[Change]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in table:
        if isinstance(node, ast.BinOp) and (_is_text(node) or _is_type(node)):
            return []
        changed = copy.deepcopy(node)
        changed.op = table[type(node.op)]()
        return [changed]
    return []


def _is_type(node: ast.BinOp) -> bool:
    """Whether it is a union of types, such as the second argument of isinstance."""
    return isinstance(node.op, ast.BitOr) and all(
        (isinstance(side, ast.BinOp) and _is_type(side))
        or (isinstance(side, ast.Constant) and side.value is None)
        or ast.unparse(side).split(".")[-1] in {"int", "float", "str", "bool", "integer", "floating", "generic"}
        or ast.unparse(side).split(".")[-1][:1].isupper()
        for side in (node.left, node.right)
    )


def _arithmetic(node: ast.AST, _parent: ast.AST | None) -> list[Change]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        return [copy.deepcopy(node.operand)]
    return _with_operation(node, _ARITHMETIC)


def _boolean(node: ast.AST, parent: ast.AST | None) -> list[Change]:
    if isinstance(node, ast.BoolOp):
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return [changed]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        return [copy.deepcopy(node.operand)]
    if isinstance(node, ast.expr) and (
        (isinstance(parent, ast.If | ast.While | ast.IfExp) and node is parent.test)
        or (isinstance(parent, ast.comprehension) and any(node is test for test in parent.ifs))
    ):
        return [ast.UnaryOp(ast.Not(), copy.deepcopy(node))]
    return _with_operation(node, _BITS)


def _constant(node: ast.AST, parent: ast.AST | None) -> list[Change]:
    if not isinstance(node, ast.Constant) or (isinstance(parent, ast.keyword) and parent.arg in {"axis", "strict"}):
        return []  # "axis" is another kind; zip(..., strict=True) is an assertion
    value = node.value
    if isinstance(value, bool):
        return [ast.Constant(not value)]
    if isinstance(value, int | float):
        others = [value + 1, value - 1] + ([2 * value, -value] if value else [])
        return [_number(other) for other in dict.fromkeys(others)]
    return []


def _number(value: float) -> ast.expr:
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)


def _axis(node: ast.AST, parent: ast.AST | None) -> list[Change]:
    if isinstance(parent, ast.keyword) and parent.arg == "axis" and isinstance(node, ast.expr):
        return [ast.Constant(1 if ast.unparse(node) == "0" else 0)]
    return []


def _extremum(node: ast.AST, parent: ast.AST | None) -> list[Change]:
    called = isinstance(parent, ast.Call) and parent.func is node
    if called and isinstance(node, ast.Name) and node.id in _SWAPS:
        return [ast.Name(_SWAPS[node.id], ast.Load())]
    if called and isinstance(node, ast.Attribute) and node.attr in _SWAPS:
        return [ast.Attribute(copy.deepcopy(node.value), _SWAPS[node.attr], ast.Load())]
    return []


def _slice(node: ast.AST, parent: ast.AST | None) -> list[Change]:
    if not (isinstance(parent, ast.Slice) and node in (parent.lower, parent.upper) and isinstance(node, ast.expr)):
        return []
    return [ast.BinOp(copy.deepcopy(node), sign, ast.Constant(1)) for sign in (ast.Add(), ast.Sub())]


def _returned(node: ast.AST, parent: ast.AST | None) -> list[Change]:
    """Change the value of a return statement in the way that its type allows; the parent is the function."""
    if not (isinstance(node, ast.Return) and node.value is not None and isinstance(parent, ast.FunctionDef)):
        return []
    kind = ast.unparse(parent.returns) if parent.returns is not None else ""
    if _is_text(node.value) or kind == "str":
        return []
    value = copy.deepcopy(node.value)
    if kind == "bool":
        return [ast.Return(ast.UnaryOp(ast.Not(), value))]
    if kind in {"int", "float", "Array"}:
        more: Change = ast.Return(ast.BinOp(value, ast.Add(), ast.Constant(1)))
        is_zero = isinstance(value, ast.Constant) and value.value == 0
        return [more] if is_zero else [more, ast.Return(ast.UnaryOp(ast.USub(), value))]
    return [ast.Return(ast.Constant(None))] if not isinstance(value, ast.Constant) else []


def _removed(node: ast.AST, _parent: ast.AST | None) -> list[Change]:
    """Do nothing instead of a call, an update, an assignment to a part of something, a deletion or an error."""
    is_part = isinstance(node, ast.Assign) and any(isinstance(to, ast.Attribute | ast.Subscript) for to in node.targets)
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return [ast.Pass()] if is_part or is_call or isinstance(node, ast.AugAssign | ast.Delete | ast.Raise) else []


OPERATORS: dict[str, Maker] = {
    "comparison": _comparison,
    "arithmetic": _arithmetic,
    "boolean": _boolean,
    "constant": _constant,
    "axis": _axis,
    "extremum": _extremum,
    "slice": _slice,
    "return": _returned,
    "removal": _removed,
}


@dataclass(frozen=True)
class _Place:
    function: str
    operator: str
    node: ast.expr | ast.stmt
    changes: list[Change]


def _skipped(node: ast.AST) -> bool:
    """Whether nothing below a node is ever changed."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.JoinedStr | ast.arguments):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
        return True
    if isinstance(node, ast.FunctionDef) and node.name in _SHOWN:
        return True
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id in _NAMES_ONLY for target in targets)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what below a node may be changed, annotations, decorators and messages left out; defaults are kept."""
    if isinstance(node, ast.FunctionDef):
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)
        yield from node.body
    elif isinstance(node, ast.ClassDef):
        yield from node.body
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield node.value
    elif not isinstance(node, ast.Raise):
        yield from ast.iter_child_nodes(node)


def _places(node: ast.AST, parent: ast.AST | None, names: tuple[str, ...], within: ast.AST | None) -> Iterator[_Place]:
    if _skipped(node):
        return
    if isinstance(node, ast.expr | ast.stmt):
        for operator, make in OPERATORS.items():
            changes = make(node, within if isinstance(node, ast.Return) else parent)
            if changes:
                yield _Place(".".join(names), operator, node, changes)
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        names = (*names, node.name)
        within = node if isinstance(node, ast.FunctionDef) else None
    for child in _children(node):
        yield from _places(child, node, names, within)


def _replaced(source: str, node: ast.expr | ast.stmt, change: Change) -> str:
    """Put a change into the text, in brackets where it is an operation."""
    lines = source.encode().splitlines(keepends=True)
    before = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    assert node.end_lineno is not None
    after = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    text = ast.unparse(change)
    if isinstance(change, ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp | ast.IfExp):
        text = f"({text})"
    return (before + text.encode() + after).decode()


def _first_difference(source: str, changed: str) -> tuple[int, str, str]:
    """Return the number of the first line that differs, from 1, and the line in both texts, without indentation."""
    old, new = source.splitlines(), changed.splitlines()
    at = next(i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1])
    return at + 1, old[at].strip(), new[at].strip()


def _hash(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8])


def _in_file(file: str, source: str, seed: int) -> Iterator[Mutant]:
    places: Counter[tuple[str, ...]] = Counter()
    changes: Counter[tuple[str, ...]] = Counter()
    for place in _places(ast.parse(source), None, (), None):
        name = (file, place.function, place.operator, ast.unparse(place.node))
        change = place.changes[_hash(seed, *name, places[name]) % len(place.changes)]
        places[name] += 1
        changed = _replaced(source, place.node, change)
        line, original, mutated = _first_difference(source, changed)
        reads = (place.function, place.operator, original, mutated)
        yield Mutant(file, *reads, changed, line, changes[reads])
        changes[reads] += 1


def mutants(sources: dict[str, str], number: int | None = None, *, seed: int = 0) -> Sequence[Mutant]:
    """Draw mutants, every place with equal probability; where the code changes, most of the draw stays.

    Parameters
    ----------
    sources
        Text by name of the file.
    number
        How many; all places by default.
    seed
        Another one draws other places, and other changes at the same places.
    """
    found = [mutant for file, source in sorted(sources.items()) for mutant in _in_file(file, source, seed)]
    drawn = sorted(found, key=lambda mutant: _hash("drawn", seed, *mutant.key))[:number]
    return sorted(drawn, key=lambda mutant: (mutant.file, mutant.line, mutant.key))
