"""Whatever the files hold, the answer is a list of findings, none of them twice."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import rtoml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.layers import find_settings
from equipage.formats.defect.profile import profiles_of
from lab import tries

KEYS = st.sampled_from(
    [
        "description",
        "model",
        "default",
        "prompt",
        "text",
        "file",
        "tools",
        "allow",
        "hooks",
        "before_tool_apply",
        "after_ingest",
        "disable",
        "event",
        "handler",
        "type",
        "argv",
        "shell",
        "command",
        "match",
        "tool_glob",
        "source",
        "providers",
        "openai",
        "base_url",
        "models",
        "id",
        "mcp",
        "servers",
        "enabled_servers",
        "transport",
        "url",
        "turn",
        "compact_ratio",
        "sandbox",
        "mode",
        "base_prompt",
        "mcpServers",
    ]
)
SCALARS = st.sampled_from(
    ["", "x", "builtin", "command", "open", "[a", "stdio", "..", True, 0, -1, 1.5]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=6)
OVERRIDES = st.lists(
    st.builds("{}.{}={}".format, KEYS, KEYS, st.sampled_from(["1", "x", "[1]", "{a=1}"])),
    max_size=2,
)


@settings(max_examples=tries(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(user=TABLES, project=TABLES, servers=VALUES, header=TABLES, overrides=OVERRIDES)
def test_any_input(
    user: Any, project: Any, servers: Any, header: Any, overrides: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / ".git").mkdir()
        (root / ".defect" / "agents").mkdir(parents=True)
        (root / "xdg" / "defect").mkdir(parents=True)
        (root / "xdg" / "defect" / "config.toml").write_text(rtoml.dumps(user))
        (root / ".defect" / "config.toml").write_text(rtoml.dumps(project))
        (root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
        (root / ".defect" / "agents" / "a.md").write_text(f"---\n{json.dumps(header)}\n---\n")
        places = find_layer_folders(root, xdg_config_home=root / "xdg", env={})
        found, discovery = find_settings(places, overrides), profiles_of(places)
        for each in (*found.outcome.diagnostics, *discovery.diagnostics):
            assert each.count == 1, str(each)
        assert (found.outcome.config is None) == bool(found.outcome.errors)
