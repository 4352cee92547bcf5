"""Templates in an execution: data only, and a filled text stays what its author meant."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

from equipage.serve import templates
from equipage.serve.outcome import Failure
from equipage.serve.templates import TemplateProblem

NAMES: dict[str, Any] = {
    "input": {"items": [1, 2], "q": "a b", "n": 3, "none": None, "flag": True, "keys": {"get": 7}},
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
    "tojson": ("{{ input | tojson }}", None),
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
    "a product in a loop": "{% for a in input.items %}{{ 'a' * 999999999 }}{% endfor %}",
    "a global": "{{ range(3) }}",
    "lipsum": "{{ lipsum }}",
    "a zero byte": "{{ '\\0' }}",
}


@pytest.mark.parametrize("name", FILLED)
def test_filled(name: str) -> None:
    text, expected = FILLED[name]
    filled = templates.compiled(text)(NAMES)
    assert expected is None or filled == expected


@pytest.mark.parametrize("name", REFUSED)
def test_refused_without_a_word_about_values(name: str) -> None:
    with pytest.raises(Failure) as raised:
        templates.compiled(REFUSED[name])(NAMES)
    assert raised.value.code == "INVALID_INPUT"
    assert "a b" not in raised.value.message


def test_a_mistake_in_a_template_is_found_before_a_call() -> None:
    with pytest.raises(TemplateProblem, match="not valid"):
        templates.compiled("{{ input.q")


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
    fill = templates.argument(text)
    if ok:
        assert fill({"input": {"v": value}}) == text.replace("{{ input.v }}", value)
    else:
        with pytest.raises(Failure):
            fill({"input": {"v": value}})


@pytest.mark.parametrize("value", ["a\r\nx: y", "a\n", "a\x00", "\x7f"])
def test_a_header_stays_one_line(value: str) -> None:
    with pytest.raises(Failure):
        templates.header("x-a", "{{ input.v }}")({"input": {"v": value}})
    assert templates.header("x-a", "{{ input.v }}\n")({"input": {"v": "ok\t"}}) == "ok\t"


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "a b", ""])
def test_headers_of_the_connection_are_not_for_packs(name: str) -> None:
    with pytest.raises(TemplateProblem):
        templates.header(name, "x")


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
    scheme, host, fill = templates.address(url)
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
        templates.address(url)
