"""Templates in an execution: data only, and a filled text stays what its author meant."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

from equipage_serve import templates
from equipage_serve.outcome import Failure
from equipage_serve.templates import TemplateProblem

NAMES: dict[str, Any] = {
    "input": {
        "items": [1, 2],
        "q": "a b",
        "n": 3,
        "none": None,
        "flag": True,
        "keys": {"get": 7},
        "two": {"b": 2, "a": 1},
        "marks": "<&>",
        "named": [{"x": "p"}, {"x": "q"}],
    },
    "env": {"TOKEN": "t"},
    "id": "x.y",
    "version": "1.0.0",
    "context": {"lang": "en"},
}

FILLED = {
    "plain text": ("no template", "no template"),
    "an entry named like a method": ("{{ input.items }}", "[1, 2]"),
    "deeper": ("{{ input.keys.get }}", "7"),
    "JSON spelling": ("{{ input.none }} {{ input.flag }}", "null true"),
    "filters": ("{{ input.q | urlencode }}", "a%20b"),
    "tojson": ("{{ context | tojson }}", '{"lang": "en"}'),
    "sorted keys": ("{{ input.two | tojson }}{{ input.two }}", '{"a": 1, "b": 2}{"a": 1, "b": 2}'),
    "the last line break": ("{{ input.n }}\n", "3\n"),
    "all three marks": ("{# note #}{% if input.flag %}{{ input.n }}{% endif %}", "3"),
    "the number of a round": ("{% for each in input.items %}{{ loop.index }}{% endfor %}", "12"),
    "no escapes": ("{{ input.marks }}", "<&>"),
    "joined": ("{{ input.items | join('-') }}{{ input.items | join }}", "1-212"),
    "joined by name": ("{{ input.named | join(',', attribute='x') }}", "p,q"),
    "replaced": ("{{ input.q | replace('a', 'c') }}{{ 'aaa' | replace('a', 'b', 2) }}", "c bbba"),
    "the rest of a division": ("{{ input.n % 2 }}", "1"),
    "a power": ("{{ input.n ** 2 }}", "9"),
    "the largest product": ("{{ 999999 * 999999 }}", "999998000001"),
    "the largest power": ("{{ 2 ** 99 }}", str(2**99)),
    "a condition": ("{% if input.flag %}yes{% endif %}", "yes"),
    "all names": ("{{ env.TOKEN }}{{ id }}{{ version }}{{ context.lang }}", "tx.y1.0.0en"),
    "small numbers": ("{{ input.n * 2 }}", "6"),
}
REFUSED = {
    "a missing name": "{{ input.missing }}",
    "a missing variable": "{{ env.HOME }}",
    "the class of a text": "{{ ''.__class__ }}",
    "deeper classes": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "a call": "{{ input.q.upper() }}",
    "format": "{{ '{0.__class__}'.format(input) }}",
    "a large product": "{{ 'a' * 10000000 }}",
    "a large power": "{{ 10 ** 10000000 }}",
    "a number too large to multiply": "{{ 1000000 * 2 }}",
    "a number too large to multiply by": "{{ 2 * 1000000 }}",
    "a power too large": "{{ 2 ** 100 }}",
    "a format": "{{ '%99999d' % 1 }}",
    "text times a number": "{{ 'ab' * 2 }}",
    "a condition on what is missing": "{% if input.missing %}a{% endif %}",
    "what is missing, filtered": "{{ input.missing | tojson }}",
    "a product in a loop": "{% for a in input.items %}{{ 'a' * 999999999 }}{% endfor %}",
    "a global": "{{ range(3) }}",
    "lipsum": "{{ lipsum }}",
    "a zero byte": "{{ '\\0' }}",
}


@pytest.mark.parametrize("name", FILLED)
def test_filled(name: str) -> None:
    text, expected = FILLED[name]
    filled = templates.compile_template(text)(NAMES)
    assert expected is None or filled == expected


@pytest.mark.parametrize("name", REFUSED)
def test_refused_without_a_word_about_values(name: str) -> None:
    text = REFUSED[name]
    with pytest.raises(Failure) as raised:
        templates.compile_template(text)(NAMES)
    assert raised.value.code == "INVALID_INPUT"
    assert raised.value.message in (
        f"cannot fill the template `{text}`",
        "a template multiplies more than small numbers",
        "a filled template contains a zero byte",
    )


def test_a_mistake_in_a_template_is_found_before_a_call() -> None:
    with pytest.raises(TemplateProblem, match="not valid"):
        templates.compile_template("{{ input.q")


@pytest.mark.parametrize(
    ("text", "value", "ok"),
    [
        ("{{ input.v }}", "-rf", False),
        ("{{ input.v }}", "", False),
        ("{{ input.v }}", "x-rf", True),
        ("--name={{ input.v }}", "-rf", True),
        ("-{{ input.v }}", "rf", True),
        ("{{ input.v }}", "a\0b", False),
    ],
)
def test_an_argument_stays_an_argument(text: str, value: str, ok: bool) -> None:
    fill = templates.compile_argument(text)
    if ok:
        assert fill({"input": {"v": value}}) == text.replace("{{ input.v }}", value)
    else:
        with pytest.raises(Failure):
            fill({"input": {"v": value}})


@pytest.mark.parametrize("value", ["a\r\nx: y", "a\n", "a\x00", "\x7f"])
def test_a_header_stays_one_line(value: str) -> None:
    with pytest.raises(Failure):
        templates.compile_header("x-a", "{{ input.v }}")({"input": {"v": value}})
    assert templates.compile_header("x-a", "{{ input.v }}\n")({"input": {"v": "ok\t"}}) == "ok\t"


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "a b", ""])
def test_headers_of_the_connection_are_not_for_packs(name: str) -> None:
    with pytest.raises(TemplateProblem):
        templates.compile_header(name, "x")


@pytest.mark.parametrize(
    ("url", "value", "ok"),
    [
        ("https://a.example/{{ input.v }}", "x?y=1", True),
        ("https://a.example:8443/{{ input.v }}", "//evil", True),
        ("https://a.example?q={{ input.v }}", "1", True),
        ("https://a.example/{{ input.v }}", "a b", False),
        ("https://a.example/{{ input.v }}", "x\r\n", False),
    ],
)
def test_an_address_keeps_its_host(url: str, value: str, ok: bool) -> None:
    scheme, host, fill = templates.compile_address(url)
    assert (scheme, host.partition(":")[0]) == ("https", "a.example")
    if ok:
        assert fill({"input": {"v": value}}).startswith("https://a.example")
    else:
        with pytest.raises(Failure):
            fill({"input": {"v": value}})


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example{{ input.v }}",  # `@evil` would become the host
        "https://{{ input.v }}/",
        "{{ input.v }}",
        "https://user:pass@a.example/",
        "file:///etc/passwd",
        "https://a.example:99999/",
        "https:///x",
    ],
)
def test_an_address_must_have_a_literal_host(url: str) -> None:
    with pytest.raises(TemplateProblem):
        templates.compile_address(url)


def refusal(make: Any, *given: Any) -> tuple[str, str]:
    """The code and the sentence of a failure."""
    with pytest.raises(Failure) as raised:
        make(*given)
    return raised.value.code, raised.value.message


def test_a_product_is_refused_in_words() -> None:
    said = ("INVALID_INPUT", "a template multiplies more than small numbers")
    for text in ("{{ 'a' * 2 }}", "{{ 2 ** 100 }}", "{{ '%d' % 1 }}", "{{ 2 * 1000000 }}"):
        assert refusal(templates.compile_template(text), NAMES) == said


def test_a_filled_text_has_a_longest_length() -> None:
    """Also where the parts are short: what joins them, what replaces, what is repeated."""
    most = templates.MAX_LENGTH
    for text in (
        "{{ input.v }}",
        "{% for each in input.list %}{{ input.v }}{% endfor %}",
        "{{ input.v | replace('a', 'a') }}",
    ):
        fill = templates.compile_template(text)
        assert len(fill({"input": {"v": "a" * most, "list": [1]}})) == most
        longer = {"input": {"v": "a" * (most + 1), "list": [1]}}
        assert refusal(fill, longer) == ("INVALID_INPUT", "a filled template is too long")
    half = {"input": {"v": "a" * (most // 2 + 1), "list": [1, 2]}}
    loop = "{% for each in input.list %}{{ input.v }}{% endfor %}"
    assert refusal(templates.compile_template(loop), half)[1] == "a filled template is too long"
    joined = templates.compile_template("{{ (input.list | join(input.v)) | length }}")
    assert joined({"input": {"v": "a" * (most // 4), "list": ["", "", "", ""]}}) == str(
        most // 4 * 3
    )
    assert refusal(joined, {"input": {"v": "a" * (most // 4 + 1), "list": ["", "", "", ""]}}) == (
        "INVALID_INPUT",
        "a filled template is too long",
    )
    replaced = templates.compile_template("{{ (input.text | replace('b', input.v)) | length }}")
    assert replaced({"input": {"v": "a" * (most // 4), "text": "bbbbc"}}) == str(most + 1)
    assert refusal(replaced, {"input": {"v": "a" * (most // 4 + 1), "text": "bbbb"}}) == (
        "INVALID_INPUT",
        "a filled template is too long",
    )


def test_what_an_argument_must_not_become_is_said_without_its_value() -> None:
    text = "{{ input.v }}"
    fill = templates.compile_argument(text)
    assert refusal(fill, {"input": {"v": ""}}) == (
        "INVALID_INPUT",
        f"the argument `{text}` is empty once it is filled",
    )
    assert refusal(fill, {"input": {"v": "-secret"}}) == (
        "INVALID_INPUT",
        f"the argument `{text}` must not become an option",
    )


def test_what_a_header_must_not_be_is_said_without_its_value() -> None:
    fill = templates.compile_header("X-A", "{{ input.v }}")
    for value in ("a\x1fb", "a\x7f", "secret\n"):
        assert refusal(fill, {"input": {"v": value}}) == (
            "INVALID_INPUT",
            "the header `X-A` contains a control character",
        )
    for value in (" a b ", "a\tb", "~", "é"):
        assert fill({"input": {"v": value}}) == value
    # Only line breaks at the end of what the author wrote are taken for those of the file.
    assert templates.compile_header("x", "a \t\r\n\n")({}) == "a \t"
    assert templates.compile_header("x", "aX\n")({}) == "aX"
    for name, said in (
        ("Host", "the header `Host` cannot be set by a pack"),
        ("a b", "`a b` is not the name of a header"),
    ):
        with pytest.raises(TemplateProblem) as raised:
            templates.compile_header(name, "x")
        assert str(raised.value) == said
    for name in ("Accept", "ETAG", "x_y", "Z"):
        templates.compile_header(name, "x")


def test_what_an_address_must_not_be_is_said() -> None:
    scheme, host, fill = templates.compile_address("HTTPS://A.example:8443/{{ input.v }}")
    assert (scheme, host) == ("https", "A.example:8443")
    assert fill({"input": {"v": "x"}}) == "HTTPS://A.example:8443/x"
    for value in ("a b", "\x7f", "a\n", "\x00"[:0] + "\x1f"):
        assert refusal(fill, {"input": {"v": value}}) == (
            "INVALID_INPUT",
            "the filled address does not keep its host",
        )
    for text, said in (
        ("ftp://a/", "the address `ftp://a/` must start with http:// or https:// and a host without templates"),
        ("https://a:99999/", "`https://a:99999/` is not an address"),
    ):  # fmt: skip
        with pytest.raises(TemplateProblem) as raised:
            templates.compile_address(text)
        assert str(raised.value) == said


def test_a_mistake_in_a_template_is_said_with_its_text() -> None:
    with pytest.raises(
        TemplateProblem, match=r"^the template `\{\{ a` is not valid: unexpected end"
    ):
        templates.compile_template("{{ a")
    deep = "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}"
    with pytest.raises(TemplateProblem) as raised:
        templates.compile_template(deep)
    assert str(raised.value) == f"the template `{deep[:80]}` is nested too deep"
    for text in ("{# a note #}", "{% if true %}{% endif %}"):
        assert templates.compile_template(text)({}) == ""
    assert templates.compile_template("{ a }")({}) == "{ a }"
    assert (
        refusal(templates.compile_template("{{ '\\0' }}"), {})[1]
        == "a filled template contains a zero byte"
    )
