"""CONFORMANCE.md is complete and up to date."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from lab import REPOSITORY

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def report() -> ModuleType:
    path = REPOSITORY / "requirements" / "report.py"
    spec = importlib.util.spec_from_file_location("requirements_report", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_requirement_is_shown_by_a_test(report: ModuleType) -> None:
    assert report.documents()
    assert report.problems() == []


def test_the_page_is_up_to_date(report: ModuleType) -> None:
    assert report.PAGE.read_text() == report.page(), "run `make conformance`"
