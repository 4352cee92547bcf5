"""Images that a `$file` brings: base64 by their extension, with a warning where text belongs."""

from __future__ import annotations

from pathlib import Path

import equipage

PNG = b"\x89PNG\r\n\x1a\n"


def codes(folder: Path, server: str) -> list[tuple[str, str, str | None]]:
    (folder / "a.png").write_bytes(PNG)
    (folder / "a.PNG").write_bytes(PNG)
    (folder / "s.yaml").write_text(f"server: {server}\ntools: []\n")
    try:
        found = equipage.load(folder / "s.yaml", kind="server", env={}).warnings
    except equipage.LoadError as error:
        found = error.diagnostics
    return [(each.code, each.path, each.help) for each in found]


def test_image_in_any_field_for_text_is_warned_about(tmp_path: Path) -> None:
    [(code, path, _)] = codes(tmp_path, "{name: {$file: a.png}}")
    assert (code, path) == ("binary-as-text", "server.name.$file")


def test_extension_in_upper_case_gets_the_right_advice(tmp_path: Path) -> None:
    [(code, _, advice)] = codes(tmp_path, "{name: {$file: a.PNG}}")
    assert code == "image-extension"
    assert advice is not None
    assert "`.png`, in lower case" in advice
