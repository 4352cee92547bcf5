"""Skills, commands and agents of one project, as several clients have them: from offers alone."""

from __future__ import annotations

from equipage.clients import codes
from equipage.clients.references import commands_are_not_hidden, copies_agree, listing_fits
from equipage.loading.format import Offer


def skill(path: str, size: int = 100, said: int = 1) -> Offer:
    return Offer("skill", f"/p/{path}/SKILL.md", ("any", path.rpartition("/")[2]), (size, said))


def many(count: int, size: int, folder: str = ".claude/skills") -> list[Offer]:
    return [skill(f"{folder}/s{number}", size) for number in range(count)]


def test_a_list_that_fits_is_not_named() -> None:
    assert list(listing_fits(many(20, 300))) == []


def test_a_list_beyond_the_smallest_budget_is_a_note_where_it_is_cut() -> None:
    ((path, fact),) = listing_fits(many(30, 398))
    assert (fact.code, fact.severity) == (codes.LISTING_TOO_LONG, "note")
    # 8,000 characters take twenty entries of 400.
    assert path == "/p/.claude/skills/s19/SKILL.md"


def test_a_list_beyond_every_budget_is_a_warning() -> None:
    ((_, fact),) = listing_fits(many(100, 400))
    assert fact.severity == "warning"


def test_each_project_has_a_list_of_its_own_and_other_clients_none() -> None:
    offers = [*many(15, 400, "a/.claude/skills"), *many(15, 400, "b/.claude/skills")]
    assert list(listing_fits([*offers, *many(60, 400, ".agents/skills")])) == []


def test_skills_that_lie_too_deep_are_not_listed() -> None:
    assert list(listing_fits(many(60, 400, ".claude/skills/group"))) == []


def test_a_command_with_the_name_of_a_skill_is_named_unless_a_folder_is_part_of_its_name() -> None:
    command = Offer("claude-command", "/p/.claude/commands/review.md", ("review",), (10, 3))
    below = Offer("claude-command", "/p/.claude/commands/git/review.md", ("review",), (10, 3))
    found = list(commands_are_not_hidden([skill(".claude/skills/review"), command, below]))
    assert [(path, fact.code) for path, fact in found] == [(command.path, codes.COMMAND_HIDDEN)]


def test_copies_are_compared_within_one_project_and_sort() -> None:
    same = [skill(".claude/skills/a"), skill(".agents/skills/a")]
    other = [skill(".claude/skills/b", said=1), skill(".gemini/skills/b", said=2)]
    apart = [skill("x/.claude/skills/c", said=1), skill("y/.agents/skills/c", said=2)]
    agent = Offer("claude-agent", "/p/.claude/agents/b.md", ("b",), (0, 9))
    copilot = Offer("copilot-agent", "/p/.github/agents/b.agent.md", ("b",), (0, 8))
    found = list(copies_agree([*same, *other, *apart, agent, copilot]))
    assert [path for path, _ in found] == [other[1].path, copilot.path]
    assert {fact.code for _, fact in found} == {codes.COPIES_DIFFER}
