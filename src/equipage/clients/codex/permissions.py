"""What the rules of Codex allow: `.codex/rules/*.rules`, as far as they are plain calls.

A rule is `prefix_rule(pattern = […], decision = …)` about commands that begin with the words of the
pattern; of several that match, the strictest counts. The language can say more: a file with
anything else is not understood, and then any change of it counts.
"""

from __future__ import annotations

import ast
import hashlib
import io
import itertools
import json
import re
import shlex
import tokenize
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from equipage.clients.codes import RULE_NEVER_MATCHES
from equipage.clients.grants import EVERYTHING, Effect, Grant, Reach
from equipage.core.diagnostics import Fact, Shown
from equipage.core.source import Source, Span
from equipage.loading.result import canonical_json

#: The kind of such a file in a lock. No load is of it: a check only names the file.
KIND = "codex-rules"
_DECISIONS: dict[str, Effect] = {"allow": "allows", "prompt": "asks", "forbidden": "denies"}
_FIELDS = frozenset({"pattern", "decision", "justification", "match", "not_match"})
#: Words that need no quotes; any other could look like two, or like the end of a pattern.
_PLAIN = re.compile(r"[\w./@%+=,-]+", re.ASCII)
#: The most commands that the alternatives of one pattern may mean.
_MAX_ALTERNATIVES = 256


class _NotUnderstood(Exception):
    """A file says more than rules in the plain form."""


class PrefixRule(msgspec.Struct, frozen=True, order=True):
    """One decision about the commands that begin with some words."""

    words: tuple[str, ...]
    decision: str

    @property
    def name(self) -> str:
        """As the patterns of other clients are written, so that one can cover another."""
        shown = (word if _PLAIN.fullmatch(word) else json.dumps(word) for word in self.words)
        return f"shell({' '.join(shown)} *)"


def rules_in(data: bytes) -> tuple[PrefixRule, ...] | None:
    """The rules of a file, sorted: their order does not count. None if it is not understood."""
    try:
        text = data.decode("utf-8")
        _refuse_odd_strings(text)
        statements = ast.parse(text).body
        return tuple(sorted({rule for each in statements for rule in _rules_of_statement(each)}))
    except (_NotUnderstood, SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return None


def find_dead_rules(source: Source) -> Iterator[Fact]:
    """The rules that match no command: a word of a pattern is compared with one word, as it is."""
    try:
        calls = [each for each in ast.walk(ast.parse(source.text)) if isinstance(each, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # Codex does not start with it
    for call in calls:
        fields = {each.arg: each.value for each in call.keywords}
        pattern, decision = fields.get("pattern"), fields.get("decision")
        words = pattern.elts if isinstance(pattern, ast.List) else []
        allows = not isinstance(decision, ast.Constant) or decision.value == "allow"
        for number, word in enumerate(words):
            for each in word.elts if isinstance(word, ast.List) else [word]:
                text = each.value if isinstance(each, ast.Constant) else None
                if not isinstance(text, str) or not _is_dead(text, is_first=number == 0):
                    continue
                kept = re.sub(r":?\*+\Z", "", text).split()
                yield RULE_NEVER_MATCHES.at(
                    span=_span_of(each, source),
                    severity="warning" if allows else "error",
                    rule=Shown(text),
                    reason="Codex compares it with one word of a command, letter by letter",
                    better=", ".join(json.dumps(one) for one in kept) or None,
                )


def _is_dead(word: str, *, is_first: bool) -> bool:
    """Whether no command has such a word; an argument in quotes may have blanks and stars."""
    return word.endswith(":*") or (is_first and not {" ", "*"}.isdisjoint(word))


def _span_of(node: ast.expr, source: Source) -> Span:
    lines = source.text.split("\n")[: node.lineno]
    above = sum(len(each) + 1 for each in lines[:-1])
    line, ends = lines[-1].encode(), (node.col_offset, node.end_col_offset)
    start, end = (above + len(line[:each].decode("utf-8", "ignore")) for each in ends)
    return Span(source, start, end)


def digest_of_rules(rules: Sequence[PrefixRule]) -> str:
    return hashlib.sha256(canonical_json(msgspec.to_builtins(rules))).hexdigest()


def reach_of_rules(rules: Sequence[PrefixRule], file: str) -> Reach:
    """What a file of rules allows. Where no rule matches, Codex asks, or its sandbox decides."""
    grants = [Grant("tool", EVERYTHING, "asks", file, base=True, default=True)]
    for rule in rules:
        if _is_dead(rule.words[0], is_first=True):
            continue
        effect = _DECISIONS[rule.decision]
        grants.append(Grant("tool", rule.name, effect, file))
        if effect != "allows":
            # Without the rule, the sandbox may let the command run: that is more, too.
            grants.append(Grant("guard", rule.name, "denies", file))
    name = file.rpartition("/")[2]
    return Reach(name, "policy", KIND, "Codex", file, tuple(grants))


def _refuse_odd_strings(text: str) -> None:
    """Python joins texts beside each other, and knows prefixes and escapes that Codex does not."""
    before = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_plain = token.string[:1] in ('"', "'") and "\\" not in token.string
        if token.type == tokenize.STRING and (before == tokenize.STRING or not is_plain):
            raise _NotUnderstood
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


def _rules_of_statement(statement: ast.stmt) -> Iterator[PrefixRule]:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise _NotUnderstood
    fields = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    if call.func.id != "prefix_rule" or call.args or not _FIELDS.issuperset(fields):
        raise _NotUnderstood
    decision = fields.get("decision", "allow")
    if not isinstance(decision, str) or decision not in _DECISIONS:
        raise _NotUnderstood
    if not isinstance(fields.get("justification", ""), str):
        raise _NotUnderstood
    patterns = _alternatives(fields.get("pattern"))
    _check_examples(patterns, fields)
    yield from (PrefixRule(words, decision) for words in patterns)


def _alternatives(pattern: Any) -> list[tuple[str, ...]]:
    """Every list of words that a pattern matches."""
    if not isinstance(pattern, list) or not pattern:
        raise _NotUnderstood
    parts = [each if isinstance(each, list) else [each] for each in pattern]
    count = 1
    for part in parts:
        count *= len(part)
        # A star is an ordinary letter to Codex, and not to those who compare patterns.
        if not all(isinstance(word, str) and word and "*" not in word for word in part):
            raise _NotUnderstood
    if not 0 < count <= _MAX_ALTERNATIVES:
        raise _NotUnderstood
    return list(itertools.product(*parts))


def _check_examples(patterns: Sequence[tuple[str, ...]], fields: dict[str, Any]) -> None:
    """Codex refuses a file whose examples do not hold, and then none of its rules counts."""
    for name, expected in (("match", True), ("not_match", False)):
        examples = fields.get(name, [])
        if not isinstance(examples, list):
            raise _NotUnderstood
        for each in examples:
            words = shlex.split(each) if isinstance(each, str) else each
            if not isinstance(words, list):
                raise _NotUnderstood
            if any(tuple(words[: len(one)]) == one for one in patterns) is not expected:
                raise _NotUnderstood
