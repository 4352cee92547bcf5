"""The kind `settings` as values: one file alone, and the merged stack."""

from __future__ import annotations

import math

import msgspec

from equipage.diagnostics import Fact
from equipage.kinds.kind import Kind
from equipage.kinds.profile import hook_checks, servers
from equipage.kinds.profile.hooks import Layer
from equipage.kinds.profile.kind import hide_source
from equipage.kinds.settings import presenting, rules, trust
from equipage.kinds.settings.codes import CODES
from equipage.kinds.settings.mcp import servers_are_complete
from equipage.kinds.settings.model import Settings
from equipage.model import Shape
from equipage.path import ROOT
from equipage.session import Session
from equipage.source import Source
from equipage.tree import HOLE, Tree, graft, walk

EXAMPLE = """\
[default]
provider = "anthropic"

[turn]
request_limit = 40
request_limit_mode = "adaptive"

[sandbox]
mode = "ask-writes"

[[hooks.before_tool_apply]]
name = "keep secrets in"
match = { tool = "bash" }
handler = { type = "builtin", name = "redact-secrets" }
"""


class SettingsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`layer` is what a file counts as; by default its path tells."""

    layer: Layer | None = None


def layer_of(source: Source, session: Session) -> Layer | None:
    """The layer a file of settings belongs to: as the caller says, else as its path tells."""
    given: Layer | None = session.options.layer
    if given is not None or source.path is None:
        return given
    return presenting.layer_by_path(source.path)


def prepare_hooks(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Known events only, each hook with its layer."""
    if not isinstance(tree.value, dict) or "hooks" not in tree.value:
        return tree, []
    source = tree.story(ROOT).origin.document.source
    return hook_checks.prepare(tree, layer_of(source, session), may_disable=True)


def say_what_the_project_decides(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """For one file alone: what it decides over the defaults."""
    source = tree.story(ROOT).origin.document.source
    return tree, list(trust.facts(layer_of(source, session), tree, None, session.root))


def leave_out_the_infinite(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Holes for numbers that are not finite, which the parser has told."""
    return (without_infinities(tree) if session.noted("not-finite") else tree), []


def without_infinities(tree: Tree) -> Tree:
    odd = [path for path, value in walk(tree.value) if isinstance(value, float) and not math.isfinite(value)]
    return graft(tree, {path: Tree(HOLE, tree.at(path).origins) for path in odd})


#: One `config.toml`, whatever its layer: its shape, and what can be said without the other layers. What it comes to
#: together with them is added in `equipage.stacking`, above the kinds.
KIND = Kind(
    name="settings",
    title="settings",
    model=Settings,
    options=SettingsOptions,
    formats={".toml": "toml"},
    shape=Shape(unknown="error"),
    stages=(leave_out_the_infinite, prepare_hooks, say_what_the_project_decides),
    rules=(rules.hooks_can_run, rules.numbers_are_plausible, rules.models_are_named),
    offers=servers.defined,
    codes=CODES,
    schema=hide_source,
    example=EXAMPLE,
    example_path=".defect/config.toml",
    listing=presenting.listing,
    sensitive=presenting.SENSITIVE,
    layer=presenting.layer,
    elsewhere=presenting.elsewhere,
)

#: A layer among others: what it decides is told when it is laid over those below it.
LAYER = msgspec.structs.replace(KIND, stages=(prepare_hooks,))

#: All layers merged: what must hold between keys that may come from different files.
STACK = msgspec.structs.replace(
    KIND,
    stages=(),
    rules=(
        rules.request_limit_is_complete,
        rules.ratios_follow_each_other,
        rules.provider_is_known,
        servers_are_complete,
    ),
)
