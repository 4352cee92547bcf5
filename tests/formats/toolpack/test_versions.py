"""What `version` may be: the judge is `packaging.Version`, as the seed says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import InvalidVersion, Version

import equipage
from formats.toolpack.making import pack

_PARTS = st.sampled_from(
    [*"0123456789.-+_!vrcabxX \n", "1.2.3", "rc", "dev", "post", "alpha", "¹", "é"]
)


def _is_accepted_by_the_judge(text: str) -> bool:
    try:
        return len(Version(text).release) == 3
    except InvalidVersion:
        return False


@pytest.mark.requirement("TP-08", "TP-29")
@given(st.lists(_PARTS, min_size=1, max_size=9).map("".join))
def test_what_loads_is_a_version_for_packaging(text: str) -> None:
    report = equipage.check_files({"a.tool.yaml": json.dumps(pack(version=text))}, env={})
    assert report.ok == _is_accepted_by_the_judge(text), text
