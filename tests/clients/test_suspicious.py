"""What may hide in a text, and what may not be taken for it."""

from __future__ import annotations

import random
import string

import pytest

import lab
from equipage.syntax.suspicious import (  # what the quick looks ask
    _INVISIBLE,
    _SECRETS,
    _find_secret_shapes,
    _is_needed,
    find_invisible,
    find_secrets,
    mask_secrets,
    mixed_scripts,
)


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
    assert [each.what for each in find_invisible(text)] == found


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
    assert list(find_invisible(text)) == []


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
    (found,) = find_secrets(f"token: {text} end")
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
        "postgresql://user:password@localhost/db and postgres://${USER}:${PASSWORD}@host",
        f"postgresql://crm:{RANDOM}@localhost:5433/test, and in a network of containers: @db/x",
        "https://example.com:8080/@scope and git@github.com:a/b",
        "Authorization: Bearer YOUR_ACCESS_TOKEN_FROM_THE_CONSOLE_1",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + RANDOM * 2,
    ],
)
def test_placeholders_are_no_secrets(text: str) -> None:
    assert list(find_secrets(text)) == []
    assert mask_secrets(text) == text


@pytest.mark.parametrize("inside", ["abcd", "1234", "test", "TEST", "fake", "xxxx", "0000", "your"])
def test_a_random_text_may_contain_a_word_of_placeholders(inside: str) -> None:
    text = f"ghp_{RANDOM[:16]}{inside}{RANDOM[16:32]}"
    (found,) = find_secrets(text)
    assert (found.what, mask_secrets(text)) == ("a token of GitHub", "ghp_" + "*" * 36)


def test_random_tokens_are_found() -> None:
    """Of two thousand, all: the filter of placeholders takes none of them for one."""
    made = random.Random(7)
    tokens = [
        "".join(made.choices(string.ascii_letters + string.digits, k=36)) for _ in range(2_000)
    ]
    assert [token for token in tokens if not [*find_secrets(f"ghp_{token}")]] == []


# The quick looks say no only where the exact searches find nothing.

#: Every beginning of a secret, whole secrets, parts of both, and what looks like them.
PARTS = [
    *(each for _, beginnings, _ in _SECRETS for each in beginnings),
    *(each[cut:] for _, beginnings, _ in _SECRETS for each in beginnings for cut in (1, 2)),
    *(f"xox{each}-" for each in "abeoprsz"),
    *("github_", "pat_", "task-", "live_", "archive_", "_", "__", "-", "-----", "K", "G", "SG"),
    *("api03-", "proj-", "svcacct-", "RSA PRIVATE KEY-----\n", "PRIVATE KEY-----\n", "hf", "é"),
    *(RANDOM, RANDOM[::-1], RANDOM[:16].upper(), RANDOM[:20], RANDOM[:22], ".", " ", "\n", "word"),
    *("q7Zt2LmX9vBn4KdR8sWy1PcH6fJg3TaQ5uEoabQz9mKq7Zt2LmX9", "Q7ZT2LMX9VBN4KDR", "—", "\u200b"),
]
#: The ends of each range of invisible characters, their neighbours, and others in UTF-8.
LETTERS = sorted(
    {
        chr(code + step)
        for first, last in (
            _range.split("-") if "-" in _range else (_range, _range)
            for _range in [
                "00ad",
                "034f",
                "061c",
                "115f-1160",
                "17b4-17b5",
                "180b-180f",
                "200b-200f",
                "202a-202e",
                "2060-206f",
                "3164",
                "feff",
                "ffa0",
                "fff9-fffb",
                "e0000-e007f",
                "e0100-e01ef",
            ]
        )
        for code in (int(first, 16), int(last, 16))
        for step in (-1, 0, 1)
    }
    | set("a \n—–…“”‘’•→✅├─│└×é中文🚀🔍❤️👩ֿ")
)


def _has_shape(text: str) -> bool:
    """Whether anything in a text is shaped like a secret, without any quick look."""
    return any(whole.search(text) for _, _, whole in _SECRETS)


@pytest.mark.parametrize("seed", range(4))
def test_a_quick_look_misses_no_secret(seed: int) -> None:
    chance, hits = random.Random(seed), 0
    for _ in range(1500):
        text = "".join(chance.choices(PARTS, k=chance.randint(1, 9))) * chance.choice((1, 1, 20))
        assert bool(_find_secret_shapes(text)) == _has_shape(text), text
        hits += any(find_secrets(text))
    assert hits > 20  # the texts hold what they are about


@pytest.mark.parametrize(("what", "beginnings"), [each[:2] for each in _SECRETS])
@pytest.mark.parametrize("before", ["", " ", "\n", "=", "é ", "_ " * 40, "G K SK " * 40])
def test_every_beginning_is_seen(what: str, beginnings: tuple[str, ...], before: str) -> None:
    tails = (RANDOM[:20], RANDOM, RANDOM + RANDOM[::-1], "Q7ZT2LMX9VBN4KDR", RANDOM[:35])
    tails += (f"api03-{RANDOM}{RANDOM}", f"{RANDOM}abQz9mKq7Zt2", f"b-{RANDOM}")
    tails += (f"{RANDOM[:22]}.{RANDOM}abQz9mK", f"PRIVATE KEY-----\n{RANDOM}{RANDOM}")
    digits = "9f3ab07c51d2e846a1c7e05b93d8f624b6e19c04d73a8f52c08e7b61a4d95f3e"
    tails += (digits, digits[:32], digits[:40], f"{digits[:24]}-{digits[:34]}", RANDOM[:28])
    tails += (RANDOM[:33], f"{RANDOM[:32]}_{digits[:8]}", f"{(RANDOM * 3)[:86]}==", RANDOM * 4)
    tails += ((RANDOM.upper() * 2)[:58], f"services/T0AB/B0CD/{RANDOM}", f"{'17' * 9}/{RANDOM * 2}")
    tails += (f"hbGciOiJIUzI1NiJ9.eyJ{RANDOM}.{RANDOM * 2}", f"user:{RANDOM}@db.host")
    for beginning in beginnings:
        texts = [f"{before}{beginning}{tail}" for tail in tails]
        assert any(any(find_secrets(text)) for text in texts), (what, beginning)
        assert [bool(_find_secret_shapes(text)) for text in texts] == [*map(_has_shape, texts)]


@pytest.mark.parametrize("seed", range(4))
def test_a_quick_look_misses_no_invisible_character(seed: int) -> None:
    chance, hits = random.Random(seed), 0
    for _ in range(1500):
        text = "".join(chance.choices(LETTERS, k=chance.randint(1, 12)))
        exact = [m.span() for m in _INVISIBLE.finditer(text) if not _is_needed(text, *m.span())]
        assert [each.range for each in find_invisible(text)] == exact, ascii(text)
        hits += bool(exact)
    assert hits > 200


def test_quick_and_exact_agree_on_every_case() -> None:
    paths = lab.matching(lab.CASES, "**/*.md")
    assert len(paths) > 100
    for path in paths:
        data = path.read_bytes()
        text = data.decode()
        assert bool(_find_secret_shapes(text)) == _has_shape(text), path
        exact = [m.span() for m in _INVISIBLE.finditer(text) if not _is_needed(text, *m.span())]
        assert [each.range for each in find_invisible(text)] == exact, path
