"""Parse, write, parse: the law of seed 000, section 6.4, for whole configurations.

The other two laws are where their algorithms are: merging in `loading/test_tree`, expansion in
`syntax/test_variables`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from equipage.core.path import Path, walk
from equipage.files.memory import Memory
from equipage.loading.pipeline import load_text
from equipage.loading.result import Loaded
from equipage.loading.session import Request
from equipage.loading.wording import escape_for_substitution
from equipage.project.registry import format_named
from equipage.render.text import dump_yaml
from lab import tries

from .test_anything import ANYTHING, GOOD, SIMPLE, replaced

WHOLES = [GOOD, SIMPLE]
#: Texts that a parser, or a variable, could take for something else.
ODD = st.sampled_from(["~", "yes", "0123", "1e3", ".inf", "- a", "a: b", "# c", "'", "<<", "|\n x"])
TEXTS = st.text(alphabet="a${}:#'\"\\ \n\té€\u2028\U0001f600") | ODD | st.text(max_size=8)
ENV = {"A": "x y"}


def loaded(text: str, *, embedded: bool) -> Loaded[Any] | None:
    request = Request(env=ENV, system=Memory({}), embedded=embedded)
    outcome = load_text(text, format_named("server"), request, name="<string>", base="/")
    return outcome.loaded_or_none()


def texts_of(whole: Any) -> list[Path]:
    """Where a configuration has text of its author: no word that only the format knows."""
    free = ("name", "description", "text", "title", "log", "content", "const", "uri")
    return [path for path, value in walk(whole) if isinstance(value, str) and path[-1] in free]


#: Texts as an author writes them where variables are replaced: plain ones escaped, and variables.
WRITTEN = st.lists(
    TEXTS.map(escape_for_substitution)
    | st.sampled_from(["${A}", "${B:-d e}", "${C:-$}", "${N:-5}"]),
    max_size=3,
).map("".join)


@st.composite
def configurations(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> Any:
    """A good configuration with some texts replaced, and free data of any sort."""
    whole = draw(st.sampled_from(WHOLES))
    for path in draw(st.lists(st.sampled_from(texts_of(whole)), unique=True, max_size=4)):
        whole = replaced(whole, path, draw(texts))
    keys = texts.filter(lambda key: not key.startswith("$"))
    free = draw(st.dictionaries(keys, ANYTHING | texts, max_size=4))
    first = (*(("baseline",) if "baseline" in whole else ()), "tools", 0, "tool", "inputSchema")
    return replaced(whole, first, {"type": "object", "default": free})


@pytest.mark.requirement("F-009", "F-005")
@pytest.mark.parametrize(
    ("embedded", "texts"), [(True, TEXTS), (False, WRITTEN)], ids=["embedded", "a file"]
)
@settings(max_examples=tries(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.booleans(), st.sampled_from([json.dumps, dump_yaml]))
def test_what_is_written_of_a_configuration_is_that_configuration(
    embedded: bool, texts: st.SearchStrategy[str], data: st.DataObject, show_env: bool, write: Any
) -> None:
    """Text that looks like a variable is escaped where variables are replaced, and nowhere else."""
    whole = data.draw(configurations(texts))
    first = loaded(json.dumps(whole), embedded=embedded)
    assume(first is not None)
    assert first is not None
    plain = first.to_dict(show_env=show_env, escaped=True)
    again = loaded(write(plain), embedded=embedded)
    assert again is not None
    assert again.config == first.config
    assert again.to_dict(show_env=show_env, escaped=True) == plain
    if embedded or not show_env:
        assert again.digest == first.digest
