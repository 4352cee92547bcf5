"""Regular expressions of matchers and conditions.

The dialect is that of Rust's `regex` crate: linear time, so no look-around and no back-references. jsonschema-rs
carries that very engine, and is asked whether it takes a pattern. It reads a pattern the way JavaScript does before
it hands it over, which differs in two escapes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from equipage.expressions import expression

#: A condition that starts so is a regular expression, not a glob.
PREFIX = "regex:"
_ESCAPE = expression(r"\\(.)", re.DOTALL)


@lru_cache(maxsize=1024)
def regex_problem(pattern: str) -> str | None:
    """What is wrong with a pattern, None if it can be used."""
    import jsonschema_rs  # only configurations with patterns pay for it

    if any(escape[1] == "c" for escape in _ESCAPE.finditer(pattern)):
        return "`\\c` is not an escape"
    plain = _ESCAPE.sub(_without_bell, pattern)
    try:
        jsonschema_rs.validator_for({"pattern": plain}, pattern_options=jsonschema_rs.RegexOptions(), offline=True)
    except (jsonschema_rs.ValidationError, ValueError):
        return _reason(pattern)
    return None


def _without_bell(escape: re.Match[str]) -> str:
    return r"\x07" if escape[1] == "a" else escape[0]


def _reason(pattern: str) -> str:
    if any(group in pattern for group in ("(?=", "(?!", "(?<=", "(?<!")):
        return "look-around is not supported"
    if any(f"\\{digit}" in pattern for digit in range(1, 10)) or "(?P=" in pattern or "\\k<" in pattern:
        return "back-references are not supported"
    return "it does not compile"
