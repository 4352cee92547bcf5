"""Text behind ` #`: the quick look before places are found says no only where nothing is cut."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import equipage
from equipage.clients import checks

_values = st.sampled_from(
    ["", " x", " #FF0000", " x #y", " x # y", " x\t#y", " 'x' #y", " [a] #b", " |\n  # a\n  #b"]
)
_lines = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["name", "description", "color", "model"]), _values).map(
            lambda pair: f"{pair[0]}:{pair[1]}"
        ),
        st.sampled_from(["# a comment", "#another", "  # an indented one", " #x"]),
    ),
    max_size=6,
)


def _cut(text: str) -> list[str]:
    try:
        found = equipage.loads(text, kind="claude-agent").warnings
    except equipage.LoadError as error:
        found = error.diagnostics
    return [str(each) for each in found if each.code == "text-cut"]


def test_a_text_is_cut() -> None:
    assert len(_cut("---\nname: x\ndescription: y #z\n---\n")) == 1


@given(_lines)
@example(["name: x", "description: y", "color: #FF0000"])
def test_no_cut_text_is_missed(lines: list[str]) -> None:
    text = "\n".join(["---", *lines, "---", "Do it."])
    found = _cut(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "_may_be_cut", lambda document: " #" in document.parsed_text())
        assert _cut(text) == found
