"""What may hide in a text, and what may not be taken for it."""

from __future__ import annotations

import random
import string

import pytest

from equipage.syntax.suspicious import invisible, masked, mixed_scripts, secrets


@pytest.mark.requirement("CV-08")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("a\u200bb", ["U+200B (zero width space)"], id="zero width space"),
        pytest.param(
            "a\u202eb\u202c",
            ["U+202E (right-to-left override)", "U+202C (end of a change of direction)"],
        ),
        pytest.param(
            "a\u2066b\u2069", ["U+2066 (left-to-right isolate)", "U+2069 (end of an isolate)"]
        ),
        pytest.param(
            "a\U000e0068\U000e0069b",
            ["U+E0068 (tag latin small letter h), and 1 more, which hide `hi`"],
            id="tags spell hidden text",
        ),
        pytest.param(
            "a\ufeffb", ["U+FEFF (zero width no-break space)"], id="a byte order mark inside"
        ),
        pytest.param(
            "a\u200b\u200bb", ["U+200B (zero width space), and 1 more"], id="a run is told once"
        ),
        pytest.param(
            "a\u200db", ["U+200D (zero width joiner)"], id="a joiner between plain letters"
        ),
    ],
)
def test_invisible(text: str, found: list[str]) -> None:
    assert [each.what for each in invisible(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("plain", id="plain"),
        pytest.param("\ufeffstart", id="a byte order mark at the start"),
        pytest.param("👩\u200d💻 👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥", id="emoji"),
        pytest.param("می\u200cخواهم", id="Persian"),
        pytest.param("क\u094d\u200dष", id="Hindi"),
        pytest.param("שלום\u200f!", id="a mark beside Hebrew"),
        pytest.param("\U0001f3f4\U000e0067\U000e0062\U000e007f", id="a flag"),
        pytest.param("naïve – “quoted” … 中文", id="other letters"),
    ],
)
def test_not_invisible(text: str) -> None:
    assert list(invisible(text)) == []


@pytest.mark.requirement("CV-08")
@pytest.mark.parametrize(
    ("name", "scripts"),
    [
        ("rеviewer", ("Latin", "Cyrillic")),
        ("reviewer", ()),
        ("проверка", ()),
        ("проверка-review", ()),
        ("αlpha", ("Latin", "Greek")),
        ("评审-agent", ()),
    ],
)
def test_mixed_scripts(name: str, scripts: tuple[str, ...]) -> None:
    assert mixed_scripts(name) == scripts


#: Put together here, so that no scanner takes this file for a leak.
RANDOM = "q7Zt2LmX9vBn4KdR8sWy1PcH6fJg3TaQ5uEo"


@pytest.mark.requirement("CV-08")
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ghp_" + RANDOM, "a token of GitHub"),
        ("sk-ant-" + "api03-" + RANDOM + "abQz9", "a key of Anthropic"),
        ("sk-" + "proj-" + RANDOM + "abQz9", "a key of OpenAI"),
        ("AKIA" + "Q7ZT2LMX9VBN4KDR", "a key of AWS"),
        ("xoxb-" + RANDOM, "a token of Slack"),
        ("AIza" + RANDOM[:35], "a key of Google"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----\n" + RANDOM * 2, "a private key"),
        ("ASIA" + "Q7ZT2LMX9VBN4KDR", "a key of AWS"),
        ("gho_" + RANDOM, "a token of GitHub"),
        ("ghu_" + RANDOM, "a token of GitHub"),
        ("ghs_" + RANDOM, "a token of GitHub"),
        ("ghr_" + RANDOM, "a token of GitHub"),
        ("github_pat_" + RANDOM + "_" + RANDOM, "a token of GitHub"),
        ("glpat-" + RANDOM[:20], "a token of GitLab"),
        ("rk_live_" + RANDOM[:24], "a key of Stripe"),
        ("sk_live_" + RANDOM[:24], "a key of Stripe"),
        ("npm_" + RANDOM, "a token of npm"),
        ("pypi-" + RANDOM + RANDOM[::-1], "a token of PyPI"),
        ("hf_" + RANDOM[:34], "a token of Hugging Face"),
        ("SG." + RANDOM[:22] + "." + RANDOM + "abQz9mK", "a key of SendGrid"),
    ],
)
def test_secrets(text: str, what: str) -> None:
    (found,) = secrets(f"token: {text} end")
    assert found.what == what


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "x" * 36,
        "ghp_" + "a" * 36,
        "sk-ant-api03-your-key-here-your-key-here-your-key-here",
        "AKIA0000000000000000",
        "the sk- prefix, and ghp_ alone",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "grep -E 'AKIA[0-9A-Z]{16}'",
        "${GITHUB_TOKEN}",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "ghp_1a2B3c4D5e6F7g8H9i0J0k1L2m3N4o5P6q7R",
        "sk-" + "abc123def456ghi789jkl012mno345pqr678stu901vwx234",
        "glpat-9876543210zyxwvutsrq",
        "ghp_yourTokenHereyourTokenHereyourTokenHere",
    ],
)
def test_placeholders_are_no_secrets(text: str) -> None:
    assert list(secrets(text)) == []
    assert masked(text) == text


@pytest.mark.parametrize("inside", ["abcd", "1234", "test", "TEST", "fake", "xxxx", "0000", "your"])
def test_a_random_text_may_contain_a_word_of_placeholders(inside: str) -> None:
    text = f"ghp_{RANDOM[:16]}{inside}{RANDOM[16:32]}"
    (found,) = secrets(text)
    assert (found.what, masked(text)) == ("a token of GitHub", "ghp_" + "*" * 36)


def test_random_tokens_are_found() -> None:
    """Of two thousand, all: the filter of placeholders takes none of them for one."""
    made = random.Random(7)
    tokens = [
        "".join(made.choices(string.ascii_letters + string.digits, k=36)) for _ in range(2_000)
    ]
    assert [token for token in tokens if not [*secrets(f"ghp_{token}")]] == []
