"""The small languages inside a server configuration."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.formats.server.grammar import (
    EVENTS,
    FUNCTIONS,
    Event,
    glob_problem,
    parse_duration,
    parse_event,
    regex_problem,
    template_problems,
)

# --- durations -----------------------------------------------------------------------------------


@pytest.mark.requirement("F-007")
@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [
        ("30s", 30_000),
        ("5m", 300_000),
        ("1h", 3_600_000),
        ("100ms", 100),
        ("0s", 0),
        ("24h", 86_400_000),
        ("5 s", 5_000),
        ("+5s", 5_000),
        (" 5ms ", 5),
        ("007s", 7_000),
        ("18446744073709551615ms", 18446744073709551615),
    ],
)
def test_durations(written: str, milliseconds: int) -> None:
    assert parse_duration(written) == milliseconds


@pytest.mark.parametrize(
    "written",
    [
        *[
            "",
            "30",
            "abc",
            "30x",
            "-5s",
            "1.5s",
            "5S",
            "5m5s",
            "s",
            "5seconds",
            "10days",
            "5us",
            "5é h",
            "+ 5s",
            "٣s",
        ],
        *["18446744073709551616ms", "9" * 5000 + "s", "++5s"],
    ],
)
def test_what_is_no_duration(written: str) -> None:
    assert parse_duration(written) is None


@given(
    st.integers(0, 2**64 - 1),
    st.sampled_from(["ms", "s", "m", "h"]),
    st.sampled_from(["", " ", "  "]),
)
def test_every_number_with_a_unit_is_a_duration(number: int, unit: str, blank: str) -> None:
    factor = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}[unit]
    assert parse_duration(f"{blank}{number}{blank}{unit}{blank}") == number * factor


@given(st.text())
def test_any_text_is_a_duration_or_not(written: str) -> None:
    duration = parse_duration(written)
    assert duration is None or duration >= 0


# --- events --------------------------------------------------------------------------------------


@pytest.mark.requirement("F-007")
@pytest.mark.parametrize("base", EVENTS)
def test_every_base_is_an_event(base: str) -> None:
    assert parse_event(base) == Event(base)
    assert parse_event(base).is_known
    assert parse_event(base).is_well_qualified


@pytest.mark.parametrize(
    ("written", "known", "well_qualified"),
    [
        pytest.param("tools/call:calculator", True, True, id="one tool"),
        pytest.param("resources/read:file:///a:b", True, True, id="a qualifier with colons"),
        pytest.param("tools/list:foo", True, False, id="a base that takes no qualifier"),
        pytest.param("tools/call:", True, False, id="an empty qualifier"),
        pytest.param("Tools/Call", False, True, id="case counts"),
        pytest.param("ping", False, True, id="no event of ours"),
        pytest.param("notifications/initialized", False, True, id="the notification"),
        pytest.param("", False, True, id="nothing"),
    ],
)
def test_events(written: str, known: bool, well_qualified: bool) -> None:
    event = parse_event(written)
    assert (event.is_known, event.is_well_qualified) == (known, well_qualified)


@given(
    st.sampled_from([base for base, qualified in EVENTS.items() if qualified]), st.text(min_size=1)
)
def test_whatever_stands_behind_the_first_colon_is_the_qualifier(base: str, qualifier: str) -> None:
    assert parse_event(f"{base}:{qualifier}") == Event(base, qualifier)


# --- globs and regexes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "*",
        "a*b",
        "a?b",
        "[abc]",
        "[a-z]",
        "[!a]",
        "**",
        "**/x",
        "x/**",
        "a/**/b",
        "[]]",
        "[]a]",
        "[*]",
        "[**]",
    ],
)
def test_globs(pattern: str) -> None:
    assert glob_problem(pattern) is None


@pytest.mark.parametrize(
    "pattern", ["[", "[bad", "[]", "[!", "[!]", "a***", "***", "x**", "**x", "a/**b", "[a][b"]
)
def test_what_is_no_glob(pattern: str) -> None:
    assert glob_problem(pattern) is not None


@given(st.text(alphabet="ab*?[]!/-"))
def test_any_text_is_a_glob_or_has_a_problem(pattern: str) -> None:
    problem = glob_problem(pattern)
    assert problem is None or problem


@pytest.mark.parametrize(
    "pattern",
    [
        "a+",
        "^x$",
        "(?P<n>x)",
        "(?<n>x)",
        r"\p{L}",
        "a(?i)b",
        "[[:alpha:]]",
        r"\d{2,3}",
        "",
        r"\a",
        r"[\a]",
        r"\\cA",
    ],
)
def test_regexes(pattern: str) -> None:
    assert regex_problem(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("[bad", "it does not compile"),
        ("*a", "it does not compile"),
        ("a(?=b)", "look-around is not supported"),
        ("(?<!a)b", "look-around is not supported"),
        (r"(a)\1", "back-references are not supported"),
        (r"\cA", r"`\c` is not an escape"),
        (r"[\cA]", r"`\c` is not an escape"),
        (r"\\\cA", r"`\c` is not an escape"),
    ],
)
def test_what_is_no_regex(pattern: str, problem: str) -> None:
    assert regex_problem(pattern) == problem


# --- templates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param("plain $5 {x}", [], id="no template"),
        pytest.param("${args.x} and ${tool.name}", [], id="closed"),
        pytest.param("$${args.x", [], id="escaped"),
        pytest.param(
            "$$${args.x", [("template-unclosed", "${args.x")], id="an escape before an open one"
        ),
        pytest.param("hi ${args.x", [("template-unclosed", "${args.x")], id="never closed"),
        pytest.param("${fn.upper(args.x)}", [], id="a function"),
        pytest.param(
            "${fn.uper(args.x)}", [("template-function", "uper")], id="an unknown function"
        ),
        pytest.param("${ fn.nope }", [("template-function", "nope")], id="without arguments"),
        pytest.param("${fnord}", [], id="not a call"),
    ],
)
def test_templates(text: str, problems: list[tuple[str, str]]) -> None:
    assert list(template_problems(text)) == problems


@given(
    st.lists(
        st.sampled_from(["$$", "${a}", "x", "}", *[f"${{fn.{name}(a)}}" for name in FUNCTIONS]])
    )
)
def test_closed_templates_are_fine(parts: list[str]) -> None:
    assert list(template_problems("".join(parts))) == []
