"""The flow of a blueprint: nodes that run agents, and the expressions between them.

Two wire forms are in use under one version number. Where they name an operator differently (`le`, `lte`), each
is a class of its own. Where they only name its field differently (`not` with `operand` or `arg`), the class has
both fields, exactly one of which is set; a rule says so when it is not.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from equipage.kinds.agent_md.model import Part

UInt32: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
JoinMode: TypeAlias = Literal["all", "any", "race", "all_settled"]


class ExpressionPart(Part, frozen=True, tag_field="op"):
    """What all expressions have in common."""


class Binary(ExpressionPart, frozen=True):
    """What all operators with two sides have in common."""

    lhs: Expression
    rhs: Expression


class Path(ExpressionPart, frozen=True, tag="path"):
    """A place in the context: `$`, `$.notes`, `$.files["a.md"]`."""

    at: str


class Lit(ExpressionPart, frozen=True, tag="lit"):
    """A value as it stands."""

    value: Any


class Eq(Binary, frozen=True, tag="eq"):
    """Equal."""


class Ne(Binary, frozen=True, tag="ne"):
    """Not equal."""


class Lt(Binary, frozen=True, tag="lt"):
    """Less."""


class Le(Binary, frozen=True, tag="le"):
    """Less or equal; now `lte`."""


class Lte(Binary, frozen=True, tag="lte"):
    """Less or equal; once `le`."""


class Gt(Binary, frozen=True, tag="gt"):
    """Greater."""


class Ge(Binary, frozen=True, tag="ge"):
    """Greater or equal; now `gte`."""


class Gte(Binary, frozen=True, tag="gte"):
    """Greater or equal; once `ge`."""


class Add(Binary, frozen=True, tag="add"):
    """Sum."""


class Sub(Binary, frozen=True, tag="sub"):
    """Difference."""


class Mul(Binary, frozen=True, tag="mul"):
    """Product."""


class Div(Binary, frozen=True, tag="div"):
    """Quotient."""


class Mod(Binary, frozen=True, tag="mod"):
    """Remainder."""


class Not(ExpressionPart, frozen=True, tag="not"):
    """Negation, of `arg` or, once, `operand`."""

    arg: Expression | UnsetType = UNSET
    operand: Expression | UnsetType = UNSET


class And(ExpressionPart, frozen=True, tag="and"):
    """True if all `args` (once `operands`) are."""

    args: tuple[Expression, ...] | UnsetType = UNSET
    operands: tuple[Expression, ...] | UnsetType = UNSET


class Or(ExpressionPart, frozen=True, tag="or"):
    """True if any of the `args` (once `operands`) is."""

    args: tuple[Expression, ...] | UnsetType = UNSET
    operands: tuple[Expression, ...] | UnsetType = UNSET


class Exists(ExpressionPart, frozen=True, tag="exists"):
    """Whether `arg` is there (null counts as missing) or, once, the path `at` is (null counts as there)."""

    arg: Expression | UnsetType = UNSET
    at: str | UnsetType = UNSET


class Len(ExpressionPart, frozen=True, tag="len"):
    """Length of `arg` or, once, `of`."""

    arg: Expression | UnsetType = UNSET
    of: Expression | UnsetType = UNSET


class In(ExpressionPart, frozen=True, tag="in"):
    """Whether `haystack` holds `needle`."""

    needle: Expression
    haystack: Expression


class CallExtern(ExpressionPart, frozen=True, tag="call_extern"):
    """What a function of the host returns."""

    ref: str
    args: tuple[Expression, ...]


Expression: TypeAlias = (
    Path | Lit | Eq | Ne | Lt | Le | Lte | Gt | Ge | Gte | Add | Sub | Mul | Div | Mod
    | Not | And | Or | Exists | Len | In | CallExtern
)  # fmt: skip


class NodePart(Part, frozen=True, tag_field="kind"):
    """What all nodes have in common."""


class Step(NodePart, frozen=True, tag="step"):
    """Run the agent `ref` on `in` and store its result at `out`."""

    ref: str
    input: Expression = msgspec.field(name="in")
    out: Expression


class Seq(NodePart, frozen=True, tag="seq"):
    """One after the other."""

    children: tuple[Node, ...]


class Branch(NodePart, frozen=True, tag="branch"):
    """One of two ways."""

    cond: Expression
    then: Node
    otherwise: Node = msgspec.field(name="else")


class Loop(NodePart, frozen=True, tag="loop"):
    """Repeat `body` while `cond` holds, at most `max` times."""

    counter: Expression
    cond: Expression
    body: Node
    max: UInt32


class Fanout(NodePart, frozen=True, tag="fanout"):
    """Run `body` once for each of `items`, each with a context of its own."""

    items: Expression
    bind: Expression
    body: Node
    join: JoinMode
    out: Expression


class Try(NodePart, frozen=True, tag="try"):
    """Run `body`; if it fails, undo it and run `catch`."""

    always: ClassVar[frozenset[str]] = frozenset({"err_at"})

    body: Node
    catch: Node
    err_at: Expression | None = None


class Assign(NodePart, frozen=True, tag="assign"):
    """Write a value into the context."""

    at: Expression
    value: Expression


Node: TypeAlias = Step | Seq | Branch | Loop | Fanout | Try | Assign
