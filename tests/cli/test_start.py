"""How the command starts: what it imports in a cheaper way is the same as always."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path
from shlex import quote

import pytest

from equipage.cli import Instead, LateExpressions, Later
from lab import python, write

#: Compares what the command imported with what a plain import gives, in a process that starts cold.
LEAN = """\
import sys
from equipage.cli import import_msgspec
import_msgspec()
print("platform" in sys.modules, "textwrap" in sys.modules, "typing_extensions" in sys.modules)
import datetime, decimal, platform, uuid
import msgspec
assert platform.system() and platform.__file__
assert (uuid._AIX, uuid._LINUX) == (platform.system() == "AIX", platform.system() == "Linux")
class Model(msgspec.Struct):
    a: uuid.UUID
    b: decimal.Decimal
    c: datetime.datetime
text = '{"a":"12345678-1234-5678-1234-567812345678","b":"1.5","c":"2024-01-02T03:04:05"}'
value = msgspec.json.decode(text, type=Model)
assert (value.a, value.b) == (uuid.UUID("12345678-1234-5678-1234-567812345678"), decimal.Decimal("1.5"))
assert value.c == datetime.datetime(2024, 1, 2, 3, 4, 5)
assert msgspec.json.encode(value).decode() == text
assert msgspec.inspect.type_info(Model).cls is Model
assert "components" not in msgspec.json.schema(Model)
import msgspec.yaml, msgspec.toml, msgspec.msgpack
assert msgspec.msgpack.decode(msgspec.msgpack.encode([1])) == [1]
assert type(msgspec.json) is type(sys) and msgspec.json.__spec__.loader is msgspec.json.__loader__
"""


def test_msgspec_is_whole() -> None:
    """Every type and module of it works, though less is imported."""
    done = python("-c", LEAN)
    assert (done.code, done.err) == (0, "")
    assert done.out == "False False False\n"


def test_a_program_is_left_alone() -> None:
    code = "import sys, equipage; equipage.load; print(type(sys.modules['msgspec.inspect']) is type(sys))"
    done = python("-c", code)
    assert (done.code, done.out) == (0, "True\n")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module that counts how often it is executed."""
    write(
        tmp_path, {"counted_module.py": "import sys\nsys.counted = sys.counted + 1\nNAME = 'x'\n"}
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "counted", 0, raising=False)
    monkeypatch.delitem(sys.modules, "counted_module", raising=False)
    return "counted_module"


def counted() -> int:
    return vars(sys)["counted"]  # type: ignore[no-any-return]


def test_a_module_is_executed_when_it_is_used(module: str) -> None:
    with Later(module):
        imported = __import__(module)
    assert counted() == 0
    assert imported.NAME == "x"
    assert imported.NAME == "x"
    assert counted() == 1
    with pytest.raises(AttributeError, match="OTHER"):
        imported.OTHER  # noqa: B018


def test_threads_execute_it_once(module: str) -> None:
    with Later(module):
        imported = __import__(module)
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(imported.NAME)) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (found, counted()) == (["x"] * 8, 1)


def test_a_failure_is_raised_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"failing_module.py": "raise OSError('no')\n"})
    monkeypatch.syspath_prepend(tmp_path)
    with Later("failing_module"):
        imported = __import__("failing_module")
    for _ in range(2):
        with pytest.raises(OSError, match="no"):
            imported.NAME  # noqa: B018
    monkeypatch.delitem(sys.modules, "failing_module")


def test_what_is_imported_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    import json

    with Later("json"), Instead(json={"dumps": None}):
        assert __import__("json") is json
    assert sys.modules["json"] is json
    assert not any(isinstance(each, Later) for each in sys.meta_path)


def test_a_missing_module_is_missing() -> None:
    with Later("no_such_module_at_all"), pytest.raises(ModuleNotFoundError):
        __import__("no_such_module_at_all")


@pytest.fixture
def with_expression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module with expressions, one of which is wrong."""
    text = "import re\nWORD = re.compile('[a-z]+', re.I)\nWRONG = re.compile('(')\n"
    write(tmp_path, {"expressive_module.py": f"{text}def found(): return re.search('b', 'abc')\n"})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "expressive_module", raising=False)
    return "expressive_module"


def test_an_expression_is_compiled_when_it_is_used(with_expression: str) -> None:
    with pytest.raises(re.error):
        __import__(with_expression)
    with LateExpressions(with_expression):
        imported = __import__(with_expression)
    assert imported.WORD.fullmatch("Word")[0] == "Word"
    assert (imported.WORD.groups, imported.found()[0]) == (0, "b")
    with pytest.raises(re.error):
        imported.WRONG.search("")
    assert imported.__loader__ is imported.__spec__.loader
    assert not any(isinstance(each, LateExpressions) for each in sys.meta_path)


def test_other_modules_keep_their_expressions(with_expression: str, tmp_path: Path) -> None:
    write(tmp_path, {"eager_module.py": "import re\nWORD = re.compile('[a-z]+')\n"})
    with LateExpressions(with_expression):
        imported = __import__("eager_module")
    assert type(imported.WORD) is re.Pattern
    del sys.modules["eager_module"]


def test_pyyaml_reads_the_same_with_late_expressions() -> None:
    code = (
        "from equipage.cli import LateExpressions, _WITH_EXPRESSIONS\n"
        "import sys\n"
        "with LateExpressions(*_WITH_EXPRESSIONS): import yaml\n"
        "text = 'a: 2020-01-01\\nb: [1, 0x1f, yes, ~, 1.5]\\n'\n"
        "print(type(yaml.reader.Reader.NON_PRINTABLE).__name__, yaml.safe_load(text))\n"
        "try: yaml.load('a: \\x01', yaml.SafeLoader)\n"
        "except yaml.reader.ReaderError as error: print(error.reason)\n"
    )
    done = python("-c", code)
    assert done.out.splitlines() == [
        "_Expression {'a': datetime.date(2020, 1, 1), 'b': [1, 31, True, None, 1.5]}",
        "special characters are not allowed",
    ]


@pytest.mark.parametrize("start", ["-m equipage", "started"])
@pytest.mark.parametrize(("arguments", "code"), [("check", 2), ("check /", 2), ("--version", 0)])
def test_a_working_directory_that_was_removed(
    tmp_path: Path, start: str, arguments: str, code: int
) -> None:
    """As the module, and as a script such as pip installs."""
    installed = tmp_path / "started"
    installed.write_text("from equipage.__main__ import main\nraise SystemExit(main())\n")
    what = start if start.startswith("-m") else quote(str(installed))
    begun = f"exec {quote(sys.executable)} {what} {arguments}"
    script = f"mkdir gone && cd gone && rmdir ../gone && {begun}"
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert (b"there is no working directory" in done.stderr) is (code == 2)
