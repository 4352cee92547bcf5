"""Options of a kind as one value of its own Struct."""

from __future__ import annotations

import msgspec
import pytest

import equipage
from equipage.core.diagnostics import UsageError
from equipage.models import ServerConfig
from equipage.project import registry

TEXT = '{"server": {"name": "a"}, "tools": []}'
OPTIONS = registry.format_named("server").reading.options


class Other(msgspec.Struct):
    """The options of no kind here."""

    dry: bool = True


def test_options_are_given_as_one_value() -> None:
    loaded = equipage.loads(TEXT, ServerConfig, options=OPTIONS(allow_absolute=True))
    assert loaded.config.server.name == "a"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"options": Other()}, "dry"),
        ({"options": {"library": "x"}}, "a value of the kind's own Struct"),
        ({"options": OPTIONS(), "library": "x"}, "`library` is given twice"),
    ],
    ids=["of another kind", "a mapping", "twice"],
)
def test_what_is_not_of_the_kind_is_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        equipage.loads(TEXT, kind="server", **options)  # type: ignore[call-overload]
