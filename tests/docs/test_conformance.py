"""CONFORMANCE.md is complete and up to date."""

from __future__ import annotations

from types import ModuleType

import pytest

from lab import REPOSITORY, module_at


@pytest.fixture(scope="module")
def report() -> ModuleType:
    return module_at(REPOSITORY / "requirements" / "report.py")


def test_every_requirement_is_shown_by_a_test(report: ModuleType) -> None:
    assert report.documents()
    assert report.problems() == []


def test_the_page_is_up_to_date(report: ModuleType) -> None:
    assert report.PAGE.read_text() == report.page(), "run `make conformance`"


def test_the_site_has_every_requirement_and_the_page_every_deviation(report: ModuleType) -> None:
    tables = "\n".join(text for _, text in report.tables())
    for document in report.documents():
        for row in document.get("requirement", []):
            assert f"\n| {row['id']} |" in tables
        for row in document.get("deviation", []):
            assert f"\n| {row['id']} |" in report.page()
