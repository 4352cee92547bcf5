"""Agent profiles: a folder with a `config.toml`, or one Markdown file with a header."""

from __future__ import annotations

from typing import Any

from equipage.core import codes as core_codes
from equipage.kinds.defect import profile_rules as rules
from equipage.kinds.defect import profile_rules as servers
from equipage.kinds.defect import profile_stages as folder
from equipage.kinds.defect import profile_stages as presenting
from equipage.kinds.defect import profile_stages as stages
from equipage.kinds.defect.codes import PROFILE_CODES
from equipage.kinds.defect.profile_model import AgentProfile, ProfileOptions
from equipage.kinds.defect.profile_rules import set_key, together
from equipage.kinds.defect.profile_stages import read
from equipage.loading.kind import Kind, Layering, Presentation, Reading, Together
from equipage.loading.model import Shape

# --- profile.kind ------------------------------------------------------------------------------
# The kind `profile` as a value.

EXAMPLE = """\
---
description: Reviews a change and reports problems. Use it before a merge.
tools:
  allow: [read_file, search]
request_limit: 20
request_limit_mode: fixed
---
You review changes. Read the files that changed, and the tests beside them.

Report each problem with file and line, the worst first. Do not edit anything.
"""


def hide_source(schema: dict[str, Any]) -> dict[str, Any]:
    """The layer of a hook is recorded, never written: editors must not offer it."""
    for definition in schema.get("$defs", {}).values():
        definition.get("properties", {}).pop("source", None)
    return schema


#: Agents of the `.defect` convention: `agents/<name>.md` and `agents/<name>/config.toml`.
KIND = Kind(
    name="profile",
    title="agent profile",
    model=AgentProfile,
    reading=Reading(options=ProfileOptions, formats={".md": "yaml", ".toml": "toml"}, read=read),
    strictness={
        core_codes.DUPLICATE_KEY: "error",
        core_codes.EXTRA_DOCUMENT: "error",
        core_codes.UNKNOWN_TAG: "error",
        core_codes.MERGE_KEY: "error",
    },
    shape=Shape(unknown="error", null_is_absent=True),
    stages=(stages.keep_text, stages.fold_model, stages.bring_prompt, stages.prepare_hooks),
    rules=(
        rules.texts_say_something,
        rules.request_limit_is_complete,
        rules.sampling_is_plausible,
        rules.allowed_tools_can_match,
        rules.hooks_can_run,
    ),
    together=Together(
        set_rules=(together,),
        set_key=set_key,
        cross_rules=(servers.servers_exist,),
        refers=servers.refers,
    ),
    codes=PROFILE_CODES,
    presentation=Presentation(
        schema=hide_source,
        example=EXAMPLE,
        example_path=".defect/agents/NAME.md",
        listing=presenting.listing,
        sensitive=presenting.SENSITIVE,
    ),
    layering=Layering(
        layers=("user", "project"),
        identity=presenting.identity,
        discovered=True,
        layer=presenting.layer,
        beside=folder.beside,
        above=presenting.above,
        elsewhere=presenting.elsewhere,
    ),
)


__all__ = ["KIND"]
