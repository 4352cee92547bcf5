"""A fix keeps the quotes the author used."""

from __future__ import annotations

import pytest

from equipage.core import codes
from equipage.core.diagnostics import Change, Remedy
from equipage.core.source import Source
from equipage.loading.findings import Placer
from equipage.loading.tree import Tree
from equipage.syntax.document import Syntax, parse


@pytest.mark.parametrize(
    ("syntax", "text", "fixed"),
    [
        pytest.param("json", '{"nmae": "b"}', '{"name": "b"}', id="JSON has no bare keys"),
        pytest.param("yaml", "nmae: b", "name: b", id="a bare key stays bare"),
        pytest.param("yaml", "'nmae': b", "'name': b", id="single quotes stay"),
        pytest.param("yaml", '"nmae": b', '"name": b', id="double quotes stay"),
    ],
)
def test_a_renamed_key(syntax: Syntax, text: str, fixed: str) -> None:
    document, _ = parse(Source.of_text("a", text), syntax)
    assert document is not None
    remedy = Remedy("rename", (Change(("nmae",), "name", "key"),))
    found = codes.UNKNOWN_FIELD.at(
        ("nmae",), part="key", remedy=remedy, field="nmae", owner="a thing"
    )
    (diagnostic,) = Placer(Tree.from_document(document), [document]).place([found])
    assert diagnostic.fix is not None
    (edit,) = diagnostic.fix.edits
    assert text[: edit.span.start] + edit.text + text[edit.span.end :] == fixed
