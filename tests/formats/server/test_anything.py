"""No input leads to a traceback: a good configuration with any part replaced by anything."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equipage.core.path import Path, walk
from equipage.files.memory import Memory
from equipage.loading.pipeline import load_text
from equipage.loading.session import Request
from equipage.project.registry import format_named
from equipage.syntax.document import load_value

from .test_config import FULL

GOOD: Any = load_value("yaml", FULL)
SIMPLE: Any = {
    "server": {"name": "a", "stateScope": "global"},
    "tools": GOOD["baseline"]["tools"],
    "prompts": GOOD["baseline"]["prompts"],
    "behavior": {"delivery": "slow_loris", "chunk_size": 3},
}
PLACES = [(whole, path) for whole in (GOOD, SIMPLE) for path, _ in walk(whole)]

KEYS = st.sampled_from(
    ["type", "name", "text", "$generate", "$file", "$include", "override", "default", "any_of", "x"]
)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**65)
    | st.floats(allow_nan=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


def replaced(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    if isinstance(value, list):
        return [
            replaced(each, path[1:], new) if number == path[0] else each
            for number, each in enumerate(value)
        ]
    return {
        key: replaced(each, path[1:], new) if key == path[0] else each
        for key, each in value.items()
    }


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), ANYTHING, st.booleans())
def test_a_good_configuration_with_one_part_replaced(
    place: tuple[Any, Path], new: Any, embedded: bool
) -> None:
    text = json.dumps(replaced(*place, new))
    request = Request(env={}, system=Memory({}), embedded=embedded)
    outcome = load_text(text, format_named("server"), request, name="<string>", base="/")
    assert outcome.ok == (outcome.config is not None)
    assert all(
        "{" not in each.message.replace("${", "") or "{" in text for each in outcome.diagnostics
    )
    assert not [each for each in outcome.diagnostics if "another value" in each.message]
    if outcome.ok:
        loaded = outcome.loaded_or_none()
        assert loaded is not None
        assert loaded.digest
        hash(loaded.config)
