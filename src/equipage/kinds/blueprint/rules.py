"""Rules about single values of a blueprint: its version, placement, hashes and lint levels.

Programs that run blueprints report most of this when a flow starts, one problem at a time. Here
all of it is reported when the file loads, mostly as warnings, because the file does load.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import blake3

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Change, Fact, Remedy, Shown
from equipage.core.path import Path
from equipage.core.text import nearest
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.walks import correction, entries, items
from equipage.loading.session import Session
from equipage.loading.tree import get, mapping

# Versions, limits and folders.

#: As semver.org gives it: numbers without leading zeros, `-` and a pre-release, `+` and a build.
_SEMVER = re.compile(
    r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)"
    r"(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)
_KNOWN_SCHEMA = "0.1.0"
_UINT64 = 2**64 - 1
_ORIGIN_FIELDS = {"inline": ("kind",), "file": ("kind", "path"), "algo": ("kind", "session_id")}


def schema_version_is_semver(config: Any, _session: Session) -> Iterator[Fact]:
    """`schema_version` is a semantic version; only one has ever been published."""
    version = get(config, ("schema_version",))
    if not isinstance(version, str):
        return
    numbers = re.findall(r"\d+", re.split("[-+]", version)[0])
    # Length first: Python refuses to read a number of thousands of digits.
    too_large = any(len(each) > 20 or int(each) > _UINT64 for each in numbers)
    path, found = ("schema_version",), Shown(version)
    if too_large or not _SEMVER.fullmatch(version):
        yield codes.NOT_SEMVER.at(path, found=found)
    elif version != _KNOWN_SCHEMA:
        yield codes.UNKNOWN_SCHEMA_VERSION.at(path, found=found, known=_KNOWN_SCHEMA)


def time_to_live_fits(config: Any, _session: Session) -> Iterator[Fact]:
    """`default_run_ttl_secs` fits into 64 bits, a bound that msgspec cannot express."""
    path = ("metadata", "default_run_ttl_secs")
    seconds = get(config, path)
    if isinstance(seconds, int) and seconds > _UINT64:
        yield core_codes.OUT_OF_RANGE.at(path, found=Shown(seconds), expected=f"at most {_UINT64}")


def origin_has_no_further_keys(config: Any, _session: Session) -> Iterator[Fact]:
    """`metadata.origin` accepts further keys and drops them."""
    path = ("metadata", "origin")
    origin = mapping(get(config, path))
    known = _ORIGIN_FIELDS.get(str(origin.get("kind")), origin)
    for key in (key for key in origin if key not in known):
        owner = "`metadata.origin`"
        yield core_codes.UNKNOWN_FIELD.at(
            (*path, key), part="key", severity="warning", field=Shown(key), owner=owner
        )


def layers_exist(config: Any, _session: Session) -> Iterator[Fact]:
    """Programs skip layers they do not know, but refuse the one that was withdrawn."""
    path = ("spawner_hints", "layers")
    for number, layer in items(get(config, path)):
        if layer == "operator_delegate":
            yield codes.WITHDRAWN_LAYER.at((*path, number), layer=layer)


def document_names_no_folders(config: Any, _session: Session) -> Iterator[Fact]:
    """The caller decides which folders may be read, never the document."""
    if items(get(config, ("blueprint_ref_includes",))):
        yield codes.INCLUDES_NOT_FOLLOWED.at(("blueprint_ref_includes",), part="key")


def placement_is_usable(config: Any, _session: Session) -> Iterator[Fact]:
    """Results go below a known root, into a folder that differs from task to task."""
    for field in ("root", "dir_template"):
        path = ("projection_placement", field)
        found = get(config, path)
        expected = _placement_expected(field, found) if isinstance(found, str) else None
        if expected is not None:
            yield codes.PLACEMENT.at(path, found=Shown(found), expected=expected)


def _placement_expected(field: str, found: str) -> str | None:
    """What a field of the placement takes instead of what it holds; None if that is right."""
    if field == "root":
        is_known = found in ("work_dir", "project_root")
        return None if is_known else "`work_dir` or `project_root`"
    if "{task_id}" not in found:
        return "a path with `{task_id}`"
    if found.startswith("/") or ".." in found.split("/"):
        return "a relative path without `..`"
    return None


def hashes_are_those_of_prompts(config: Any, _session: Session) -> Iterator[Fact]:
    """`version_hash` tells versions of a prompt apart, so it must change with the prompt."""
    for key in ("agents", "operators"):
        for path, each in entries(config, key):
            profile = mapping(each.get("profile"))
            found, prompt = profile.get("version_hash"), profile.get("system_prompt", "")
            if not isinstance(found, str) or not isinstance(prompt, str):
                continue
            computed = blake3.blake3(prompt.encode("utf-8", "surrogatepass")).hexdigest()
            if found != computed:
                place = (*path, "profile", "version_hash")
                change = Change(place, computed)
                remedy = Remedy("write the hash of the prompt", (change,), safe=False)
                yield codes.STALE_HASH.at(place, remedy=remedy, computed=computed)


# Lint levels. A program takes the level of a finding from the `lints` of the agent, else from those
# of the blueprint; the first of the two that mentions the finding decides. In each of them the kind
# of the finding counts before its category, and that before `all`.

_CATEGORY = "category:"
_CATEGORIES = ("correctness", "suspicious", "style", "contract", "migration")
_CATEGORY_KEYS = tuple(_CATEGORY + each for each in _CATEGORIES)
#: Findings that programs always refuse, whatever `lints` say.
_REFUSED = (
    "bound-agent-resolution",
    "duplicate-agent-name",
    "invalid-agent-spec",
    "invalid-projection-placement",
    "unknown-agent-kind",
    "unresolved-agent-ref",
    "unresolved-audit-agent",
    "unresolved-meta-ref",
    "unresolved-operator-ref",
    "verdict-channel-mismatch",
    "verdict-value-not-in-contract",
)
_KINDS = (
    *_REFUSED,
    "agent-md-size",
    "binding-requirements-info",
    "binding-resolution-error",
    "context-policy-strips-projection-roots",
    "halted-at-missing",
    "legacy-worker-binding",
    "non-suppressible-lint",
    "output-contract-missing",
    "projection-root-seed-missing",
    "removed-spawner-hint",
    "skip-on-declared-but-no-matching-verdict-value",
    "skip-on-missing-for-skip-like-verdict-value",
    "skip-on-pattern-conflicts-with-halt-on",
    "step-naming-collision",
    "strict-binding-without-runners",
    "tool-unknown-mcp-ref",
    "unknown-lint-kind",
    "verdict-contract-never-read",
    "verdict-value-unhandled",
    "worker-binding-missing",
    "wrapper-only-drift",
)


def level_of(kind: str, category: str, *layers: Any) -> str | None:
    """The level of a finding in the first of these `lints` that mentions it; None if none does."""
    for lints in map(mapping, layers):
        categories = (key for key in lints if key.casefold() == _CATEGORY + category)
        key = next((key for key in (kind, *categories, "all") if key in lints), None)
        if key is not None:
            return lints[key] if isinstance(lints[key], str) else None
    return None


def lints_have_an_effect(config: Any, _session: Session) -> Iterator[Fact]:
    """Every key of `lints` names a finding whose level can be set."""
    owners: list[Path] = [("metadata",), *(path for path, _ in entries(config, "agents"))]
    for path in ((*owner, "lints") for owner in owners):
        lints = mapping(get(config, path))
        for key, level in lints.items():
            if key in _REFUSED and level in ("allow", "warn"):
                yield codes.LINT_WITHOUT_EFFECT.at((*path, key), part="key", lint=key, level=level)
            elif key != "all" and key not in _KINDS and key.casefold() not in _CATEGORY_KEYS:
                yield from _unknown_lint((*path, key), key, lints)


def _unknown_lint(path: Path, key: str, lints: dict[str, Any]) -> Iterator[Fact]:
    """A lint that does not exist. There are five categories, but programs may have more kinds than
    are known here, so an unknown kind is reported only if it nearly spells a known one."""
    prefix, category = key[: len(_CATEGORY)].casefold(), key[len(_CATEGORY) :].casefold()
    known = None
    if prefix == _CATEGORY:
        name = nearest(category, _CATEGORIES)
        guess = name and _CATEGORY + name
        known = None if guess else _CATEGORIES
    else:
        guess = nearest(key, ("all", *_KINDS, *_CATEGORY_KEYS))
        if guess is None:
            return
    # Renaming would make two keys of one if the right one is there as well.
    remedy = correction(path, guess, "key") if guess not in lints else None
    yield codes.UNKNOWN_LINT.at(
        path, part="key", remedy=remedy, lint=Shown(key), nearest=guess, known=known
    )


RULES = (
    schema_version_is_semver,
    time_to_live_fits,
    origin_has_no_further_keys,
    layers_exist,
    document_names_no_folders,
    placement_is_usable,
    hashes_are_those_of_prompts,
    lints_have_an_effect,
)
