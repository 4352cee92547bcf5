"""Regular expressions of matchers and conditions.

The dialect is that of Rust's `regex` crate: linear time, so no look-around and no back-references. jsonschema-rs
carries that very engine, and is asked whether it takes a pattern.
"""

from __future__ import annotations

from functools import lru_cache

#: A condition that starts so is a regular expression, not a glob.
PREFIX = "regex:"


@lru_cache(maxsize=1024)
def regex_problem(pattern: str) -> str | None:
    """What is wrong with a pattern, None if it can be used."""
    import jsonschema_rs  # only configurations with patterns pay for it

    try:
        jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions(), offline=True)
    except (jsonschema_rs.ValidationError, ValueError):
        return _reason(pattern)
    return None


def _reason(pattern: str) -> str:
    if any(group in pattern for group in ("(?=", "(?!", "(?<=", "(?<!")):
        return "look-around is not supported"
    if any(f"\\{digit}" in pattern for digit in range(1, 10)) or "(?P=" in pattern or "\\k<" in pattern:
        return "back-references are not supported"
    return "it does not compile"
