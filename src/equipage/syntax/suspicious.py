"""What may hide in a text: invisible characters, names that only look right, secrets.

Each function takes a text and yields what it found with its place. They are made to be quiet: what
emoji, right-to-left scripts and documentation need is not suspicious. The tests measure the
precision on real files.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

import msgspec

from equipage.core.text import lazy_regex
from equipage.syntax import Range

#: Runs of format characters, blanks without width, joiners, marks of direction, variation selectors
#: beyond the common ones, tags, and what only some programs take for the end of a line.
_INVISIBLE = lazy_regex(
    "[\x85\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]+"
)
_ASCII = bytes(range(128))
_JOINERS = frozenset("\u200c\u200d")
_DIRECTION_MARKS = frozenset("\u200e\u200f\u061c")
#: What Unicode calls by what it does to a stack.
_NAMES = {"\u202c": "end of a change of direction", "\u2069": "end of an isolate"}
_TAGS = range(0xE0000, 0xE0080)
#: Characters of a hidden text that a message quotes.
_MAX_QUOTED_HIDDEN = 40
_BLACK_FLAG = "\U0001f3f4"
#: Arabic, the scripts of India, Thai, Tibetan, Burmese and Khmer: their letters join.
_JOINING_SCRIPTS = lazy_regex(
    "[\u0600-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\ufb50-\ufdff]"
)


class Suspicion(msgspec.Struct, frozen=True):
    """Something suspicious: where, and what it is in words."""

    range: Range
    what: str


# ------------------------------------------------------------------------------------- characters


def find_invisible(text: str) -> Iterator[Suspicion]:
    """Runs of characters that cannot be seen, unless the characters around them need them."""
    if text.isascii():
        return
    # Most of a text is ASCII. What is left without it is short, and quickly searched.
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    if _INVISIBLE.search(rest.decode("utf-8", "surrogatepass")) is None:
        return
    for match in _INVISIBLE.finditer(text):
        if not _is_needed(text, *match.span()):
            yield Suspicion(match.span(), _describe_run(match.group()))


def _describe_run(run: str) -> str:
    name = _NAMES.get(run[0]) or unicodedata.name(run[0], "next line").lower()
    shown = f"U+{ord(run[0]):04X} ({name})"
    if len(run) > 1:
        shown += f", and {len(run) - 1} more"
    # Tags are a second, unseen ASCII, and models read it: say what they would read.
    letters = [chr(ord(letter) - _TAGS.start) for letter in run if ord(letter) in _TAGS]
    hidden = "".join(letter for letter in letters if letter.isprintable())
    return f"{shown}, which hide `{hidden[:_MAX_QUOTED_HIDDEN]}`" if len(hidden) > 1 else shown


def _is_needed(text: str, start: int, end: int) -> bool:
    """Whether the writing system or an emoji needs the run."""
    run, before, after = text[start:end], text[start - 1 : start], text[end : end + 1]
    if run == "\ufeff":
        return start == 0  # a byte order mark
    if run == "\u200d" and (_is_emoji(before) or _is_emoji(after)):
        return True
    if set(run) <= _JOINERS:
        return any(map(_JOINING_SCRIPTS.match, (before, after)))
    if set(run) <= _DIRECTION_MARKS:
        around = text[max(0, start - 40) : start] + text[end : end + 40]
        return any(
            unicodedata.bidirectional(each) in ("R", "AL")
            for each in around
            if each not in _DIRECTION_MARKS
        )
    # The flags of regions are a black flag, letters as tags, and a tag that ends them.
    return before == _BLACK_FLAG and run[-1] == "\U000e007f"


def _is_emoji(letter: str) -> bool:
    return bool(letter) and (unicodedata.category(letter) in ("So", "Sk") or letter == "\ufe0f")


# ------------------------------------------------------------------------------------------ names

_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")


def mixed_scripts(name: str) -> tuple[str, ...]:
    """The scripts of a name whose letters look alike, if one word of it mixes them."""
    if name.isascii():
        return ()
    for word in re.split(r"[\W_]+", name):
        names = [unicodedata.name(letter, "") for letter in word]
        found = [script for script in _SCRIPTS if any(each.startswith(script) for each in names)]
        if len(found) > 1:
            return tuple(script.capitalize() for script in found)
    return ()


# ---------------------------------------------------------------------------------------- secrets

#: What it is, its beginnings, and the whole. The part that varies is the group.
_SECRETS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("a key of AWS", ("AKIA", "ASIA"), lazy_regex(r"\b(?:AKIA|ASIA)([0-9A-Z]{16})\b")),
    (
        "a token of GitHub",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        lazy_regex(r"\b(?:gh[pousr]_([A-Za-z0-9]{36,})|github_pat_([A-Za-z0-9_]{50,}))\b"),
    ),
    ("a token of GitLab", ("glpat-",), lazy_regex(r"\bglpat-([A-Za-z0-9_-]{20,})\b")),
    ("a token of Slack", ("xox",), lazy_regex(r"\bxox[abeoprs]-([A-Za-z0-9-]{20,})\b")),
    (
        "a key of Anthropic",
        ("sk-ant-",),
        lazy_regex(r"\bsk-ant-(?:api|admin|oat)\d\d-([A-Za-z0-9_-]{40,})\b"),
    ),
    (
        "a key of OpenAI",
        ("sk-",),
        lazy_regex(r"\bsk-(?:proj|svcacct)-([A-Za-z0-9_-]{40,})\b|\bsk-([A-Za-z0-9]{48})\b"),
    ),
    ("a key of Google", ("AIza",), lazy_regex(r"\bAIza([A-Za-z0-9_-]{35})\b")),
    ("a key of Stripe", ("rk_live_", "sk_live_"), lazy_regex(r"\b[rs]k_live_([A-Za-z0-9]{20,})\b")),
    ("a token of npm", ("npm_",), lazy_regex(r"\bnpm_([A-Za-z0-9]{36})\b")),
    ("a token of PyPI", ("pypi-",), lazy_regex(r"\bpypi-([A-Za-z0-9_-]{50,})\b")),
    ("a token of Hugging Face", ("hf_",), lazy_regex(r"\bhf_([A-Za-z0-9]{30,})\b")),
    ("a key of SendGrid", ("SG.",), lazy_regex(r"\bSG\.([A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})\b")),
    (
        "a private key",
        ("-----BEGIN ",),
        lazy_regex(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+([A-Za-z0-9+/=]{40,})"),
    ),
    *(
        (what, (begun,), lazy_regex(rf"(?<![A-Za-z0-9]){re.escape(begun)}{rest}(?![A-Za-z0-9])"))
        for what, begun, rest in (
            ("a key of OpenRouter", "sk-or-v1-", "([0-9a-f]{64})"),
            ("a key of Groq", "gsk_", "([A-Za-z0-9]{40,})"),
            ("a key of xAI", "xai-", "([A-Za-z0-9]{60,})"),
            ("a key of Perplexity", "pplx-", "([A-Za-z0-9]{40,})"),
            ("a token of Replicate", "r8_", "([A-Za-z0-9]{37,})"),
            ("a key of Tavily", "tvly-", "(?:dev-|prod-)?([A-Za-z0-9]{32,})"),
            ("a key of Firecrawl", "fc-", "([0-9a-f]{32})"),
            ("a key of E2B", "e2b_", "([0-9a-f]{40})"),
            ("a token of Notion", "ntn_", "([A-Za-z0-9]{40,})"),
            ("a key of Linear", "lin_api_", "([A-Za-z0-9]{40})"),
            ("a token of Figma", "figd_", "([A-Za-z0-9_-]{40,})"),
            ("a token of Atlassian", "ATATT3", "([A-Za-z0-9_=-]{100,})"),
            ("a token of Shopify", "shpat_", "([0-9a-fA-F]{32})"),
            ("a token of Supabase", "sbp_", "([0-9a-f]{40})"),
            ("a key of Supabase", "sb_secret_", "([A-Za-z0-9_-]{30,})"),
            ("a token of Vercel Blob", "vercel_blob_rw_", "([A-Za-z0-9_]{30,})"),
            ("a token of DigitalOcean", "dop_v1_", "([0-9a-f]{64})"),
            ("a token of Databricks", "dapi", "([0-9a-f]{32})"),
            ("a token of Docker", "dckr_pat_", "([A-Za-z0-9_-]{27,})"),
            ("a token of Grafana", "glsa_", "([A-Za-z0-9]{32}_[0-9a-f]{8})"),
            ("a token of Vault", "hvs.", "([A-Za-z0-9_-]{24,})"),
            ("a key of Mailgun", "key-", "([0-9a-f]{32})"),
            ("a key of Postman", "PMAK-", "([0-9a-f]{24}-[0-9a-f]{34})"),
            ("a key of Twilio", "SK", "([0-9a-f]{32})"),
            ("a secret of Google OAuth", "GOCSPX-", "([A-Za-z0-9_-]{28})"),
            ("a key of age", "AGE-SECRET-KEY-1", "([0-9A-Z]{58})"),
            ("a key of Azure", "AccountKey=", "([A-Za-z0-9+/]{86}==)"),
        )
    ),
    ("a token of Telegram", (":AA",), lazy_regex(r":(AA[A-Za-z0-9_-]{33})(?![\w-])")),
    (
        "the address of a hook of Slack",
        ("hooks.slack.com/",),
        lazy_regex(r"\bhooks\.slack\.com/services/T\w+/B\w+/([A-Za-z0-9]{20,})\b"),
    ),
    (
        "the address of a hook of Discord",
        ("/api/webhooks/",),
        lazy_regex(r"/api/webhooks/\d{17,}/([\w-]{60,})"),
    ),
    (
        "a signed token",
        ("eyJ",),
        lazy_regex(r"\beyJ[\w-]{10,}\.eyJ(?!zdWIiOiIxMjM0NTY3ODkw)[\w-]{10,}\.([\w-]{40,})"),
    ),
    (
        "a token behind `Bearer`",
        ("Bearer ",),
        lazy_regex(r"\bBearer (?=[\w.~+/-]*\d)(?!eyJ)([A-Za-z0-9_~+/-]{32,}=*)(?![\w.])"),
    ),
    (
        "a password in an address",
        ("://",),
        lazy_regex(r"://[^\s/:@\"'`]+:([^\s/@\"'`${}<>%*:,()|]{8,})@(?!127\.)[\w-]+\.\w"),
    ),
)
#: Words that no random text of this length has by chance.
_PLACEHOLDER_TEXT = lazy_regex(
    r"example|placeholder|redacted|sample|replace|insert|change.?me|exposed|dummy|deadbeef",
    re.IGNORECASE,
)
#: Shorter words count where nothing but punctuation is around them.
_PLACEHOLDER_WORD = lazy_regex(
    r"(?<![A-Za-z0-9])(?:your|test|fake|foo|bar|here|token|key|secret)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
#: Inside a longer text, only their letters count as filler, like characters in a row.
_FILLER = lazy_regex(r"your|test|fake|token|secret|here|qwerty|asdf", re.IGNORECASE)
#: Bits for each character, below which a text is made up rather than random.
_MIN_ENTROPY = 3.0


def find_secrets(text: str) -> Iterator[Suspicion]:
    """Texts that are shaped like secrets and look random; placeholders of documentation do not."""
    for match, what in _find_secret_shapes(text):
        variable = match[match.lastindex or 0]
        if not _is_placeholder(variable) and _entropy(variable) >= _MIN_ENTROPY:
            yield Suspicion(match.span(), what)


def _any_beginning() -> str:
    """Any beginning of a secret, by its first letter, behind what is neither letter nor digit.

    One that begins with such a character needs nothing before it.
    """
    beginnings = (each for _, beginnings, _ in _SECRETS for each in beginnings)
    parts = sorted(each if each[0].isalnum() else each[1:] for each in beginnings)
    found = (
        f"{re.escape(first)}(?:{'|'.join(re.escape(each[1:]) for each in those)})"
        for first, those in groupby(parts, itemgetter(0))
    )
    return f"[^A-Za-z0-9](?:{'|'.join(found)})"


_BEGINNING = lazy_regex(_any_beginning)


def _find_secret_shapes(text: str) -> list[tuple[re.Match[str], str]]:
    """Matches with the shape of a secret, in order; of two that overlap, the first.

    Nearly every text has none of the beginnings, or one that nothing follows, and searching for
    plain text is many times faster than for an expression.
    """
    if _BEGINNING.search(f"\n{text}") is None:
        return []
    found: list[tuple[re.Match[str], str]] = []
    for what, beginnings, whole in _SECRETS:
        for beginning in beginnings:
            position = text.find(beginning)
            while position >= 0:
                match = whole.match(text, position)
                if match is not None:
                    found.append((match, what))
                position = text.find(beginning, position + 1 if match is None else match.end())
    apart: list[tuple[re.Match[str], str]] = []
    for each in sorted(found, key=lambda each: each[0].start()):
        if not apart or each[0].start() >= apart[-1][0].end():
            apart.append(each)
    return apart


def mask_secrets(text: str) -> str:
    """The text with asterisks for the part of each secret that varies; its length stays."""
    shaped = {match.span(): match for match, _ in _find_secret_shapes(text)}
    for found in reversed(list(find_secrets(text)) if shaped else []):
        match = shaped[found.range]
        first, end = match.start(match.lastindex or 0), match.end()
        hidden = re.sub(r"\S", "*", text[first:end])
        text = text[:first] + hidden + text[end:]
    return text


#: A name that says that its value is a secret. A password need not look random.
SECRET_NAME = lazy_regex(
    r"(?:\A|[\W_]|PG|SSH|(?-i:(?<=[a-z])(?=[A-Z])))(?:api[_-]?key|key|token|secret|credentials?"
    r"|auth|authorization|bearer|cookie|(?P<password>password|passwd|pwd|pass))\Z",
    re.IGNORECASE,
)


def looks_secret(text: str) -> bool:
    """Whether a text looks random: for values whose name already says that they are secret."""
    return (
        len(text) >= 16
        and re.fullmatch(r"[A-Za-z0-9+/=_.-]+", text) is not None
        and re.search(r"[0-9]", text) is not None
        and re.search(r"[A-Za-z]", text) is not None
        and not _is_placeholder(text)
        and _entropy(text) >= _MIN_ENTROPY
    )


def looks_like_password(text: str) -> bool:
    """Whether a text is more than a variable, a placeholder or what everybody begins with."""
    return (
        len(text) >= 6
        and re.search(r"[${<%\s*]", text) is None
        and text.lower() not in _USUAL_PASSWORDS
        and not _is_placeholder(text)
    )


#: What databases for development are set up with.
_USUAL_PASSWORDS = frozenset(
    {"password", "postgres", "passwd", "letmein", "minioadmin", "admin123", "rootpass", "mypass"}
    | {"password123", "pass123", "mypassword", "mongodb", "rootpassword", "default", "changeit"}
)


def _is_placeholder(text: str) -> bool:
    """Whether a text is made up: it says so, or half of it is words and characters in a row.

    A random text may contain `test` or `1234` by chance, so that alone says nothing.
    """
    if _PLACEHOLDER_TEXT.search(text) or _PLACEHOLDER_WORD.search(text):
        return True
    filler = {place for match in _FILLER.finditer(text) for place in range(*match.span())}
    return 2 * len(filler | _sequence_places(text.lower())) >= len(text)


def _sequence_places(text: str) -> set[int]:
    """The places of characters that repeat or count up or down, as in `xxx`, `321` and `a1b2c3`."""
    found: set[int] = set()
    # In `a1b2c3`, every second character counts.
    for apart in (1, 2):
        for place in range(len(text) - 2 * apart):
            a, b, c = (ord(text[place + apart * n]) for n in range(3))
            if b - a == c - b and (abs(b - a) == 1 or (b == a and apart == 1)):
                found.update((place, place + apart, place + 2 * apart))
    return found


def _entropy(text: str) -> float:
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)
