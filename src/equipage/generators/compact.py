"""JSON values inside generator parameters, kept as the text that will be sent."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import msgspec

from equipage.path import Path


class NotJsonError(ValueError):
    """The value has no JSON text; the message says why."""


class CompactJson(msgspec.Struct, frozen=True):
    """A JSON value as compact text: no blanks, members in the author's order, characters unescaped.

    Text is immutable and hashable, and unlike Python's values it tells `1`, `1.0` and `true` apart.
    """

    text: str

    @property
    def value(self) -> object:
        """The value as plain data, made anew each time."""
        return json.loads(self.text)

    @property
    def encoded(self) -> bytes:
        return self.text.encode()


def json_string(text: str) -> bytes:
    """The string as JSON, characters unescaped."""
    return json.dumps(text, ensure_ascii=False).encode()


def compact(value: object, path: Path) -> tuple[CompactJson, tuple[Path, ...]]:
    """The JSON text of the plain value at `path`, and the paths at which null stands for a NaN or an infinity.

    JSON cannot say these numbers; the format puts null in their place. Raises `NotJsonError` where there is no
    text at all.
    """
    replaced: list[Path] = []
    try:
        text = json.dumps(_plain(value, path, replaced), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text.encode()
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise NotJsonError("it contains half of a surrogate pair") from None
    except TypeError:
        raise NotJsonError("it contains something JSON has no form for") from None
    except ValueError:  # all that is left: Python refuses to write integers of very many digits
        raise NotJsonError("it contains a number with too many digits") from None
    return CompactJson(text), tuple(replaced)


def _plain(value: object, path: Path, replaced: list[Path]) -> object:
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise NotJsonError("it has a key that is not a string")  # JSON would silently write it as one
        return {key: _plain(each, (*path, key), replaced) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, (*path, index), replaced) for index, each in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        replaced.append(path)
        return None
    return value
