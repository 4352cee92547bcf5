"""The registry of codes: every finding equipage can make, its words, and the page that explains it.

A code's `message` and `help` are templates over the values of its facts. Kinds bring their own codes;
`all_codes` collects them when somebody asks for the whole list.
"""

from __future__ import annotations

import msgspec

from equipage.core.diagnostics import Severity


class Code(msgspec.Struct, frozen=True):
    """One sort of finding."""

    name: str
    severity: Severity
    message: str  #: one line, names the thing at fault, no final period
    about: str  #: what it means, why it matters, how to mend it
    help: str | None = None  #: shown only when every value it names is present


_FILES = (
    Code(
        "file-missing",
        "error",
        "file not found: {file}",
        "The file that was named does not exist. Check the spelling, and what the path is relative to.",
        "check the path; it is looked up from {base}",
    ),
    Code(
        "file-unreadable",
        "error",
        "cannot read {file}: {reason}",
        "The operating system refused to open the file. Check its permissions.",
    ),
    Code(
        "folder-unreadable",
        "warning",
        "cannot look into {folder}: {reason}",
        "The operating system refused to list the folder, so nothing in it was checked.",
        "check its permissions, or list it in .gitignore",
    ),
    Code(
        "file-is-directory",
        "error",
        "{file} is a directory, expected a file",
        "A path that must name a file names a directory.",
    ),
    Code(
        "file-not-regular",
        "error",
        "{file} is not a regular file",
        "Pipes, sockets and devices are never read: opening one can block for ever. Nor is a link to what the system "
        "tells about itself, in `/proc` and `/sys`: that may be the environment. Name a regular file.",
    ),
    Code(
        "link-outside",
        "warning",
        "not checked: the link leads to a file outside the project",
        "A walk found a link in the place of a configuration, and it leads out of the project: out of the repository, "
        "or where there is none, out of the folder that was named. Whoever checks a project does not ask for the files "
        "beside it, and a report must not show them, so it was not read. On another machine it may lead nowhere.",
        "copy the file into the project, or name the link to check it",
    ),
    Code(
        "file-link-loop",
        "error",
        "{file} leads through too many links",
        "The path leads through a loop of symbolic links, or through more than forty of them.",
    ),
    Code(
        "file-too-large",
        "error",
        "{file} is too large: {size} bytes (limit: {limit})",
        "The size of a file is checked before it is read, so that a wrong path cannot exhaust memory.",
        "split the file, or raise {variable}",
    ),
    Code(
        "not-utf8",
        "error",
        "{file} is not valid UTF-8: byte {byte} at offset {offset}",
        "Configuration is text in UTF-8. The offset is that of the first byte that is not.",
        "save the file as UTF-8",
    ),
    Code(
        "reference-empty",
        "error",
        "the path is empty",
        "A directive that names a file got an empty path.",
    ),
    Code(
        "reference-nul",
        "error",
        "the path contains a NUL character",
        "No file name contains a NUL character; systems cut the name there and would open another file.",
    ),
    Code(
        "reference-absolute",
        "error",
        "absolute path not allowed: {reference}",
        "References are relative, so that a configuration works on every machine and cannot pull in files "
        "from elsewhere.",
        "write the path relative to {base}",
    ),
    Code(
        "reference-parent",
        "error",
        "path traversal not allowed: `..` in {reference} (parent-dir escape)",
        "A `..` component could lead out of the allowed folder, so it is refused before the disk is looked at.",
        "move the file below {base}, or name it from there",
    ),
    Code(
        "reference-escapes",
        "error",
        "{reference} leads outside the allowed folders",
        "After following symbolic links the target lies outside every folder this kind of reference may read.",
        "copy the file into the project, or allow its folder",
    ),
    Code(
        "absolute-path",
        "warning",
        "absolute path outside the library: {reference}",
        "The file was read, but the configuration now depends on this machine.",
        "move the file into the library and name it from there",
    ),
)

_ENVIRONMENT = (
    Code(
        "env-missing",
        "warning",
        "environment variable {name} is not set, using an empty string",
        "`${{NAME}}` without a default becomes nothing when the variable is not set. If the text is meant for a "
        "template at run time, escape it as `$${{…}}`.",
        "set it, or give a default: `${{{name}:-…}}`; for a run-time template write `{template}`",
    ),
    Code(
        "env-required",
        "error",
        "Required environment variable: {name}",
        "The file says `${{NAME:?…}}`: without the variable it must not load.",
        "set it and try again: export {name}=… ({why})",
    ),
    Code(
        "env-unclosed",
        "error",
        "`${{` is never closed",
        "A variable starts here and no `}}` follows. Everything behind it would be swallowed.",
        "close it with `}}`, or write `$${{` for the two characters themselves",
    ),
    Code(
        "env-ambiguous-colon",
        "warning",
        "`${{{name}}}` looks up a variable with a colon in its name",
        "Only `:-` and `:?` are operators. Any other colon is part of the name, which is rarely meant.",
        "write `:-` for a default or `:?` for a required variable",
    ),
    Code(
        "env-changes-structure",
        "warning",
        "the value of {name} does not stay inside one scalar: it changes the structure of the file",
        "Variables are replaced before the text is parsed. This value contains characters that end the scalar it "
        "stands in, start another key, or begin a comment, so whoever sets the variable decides what the file says.",
        'quote the place: "${{{name}}}"; keep structured text in files',
    ),
)

_TEXT = (
    Code(
        "yaml-syntax",
        "error",
        "not valid YAML: {problem}",
        "The parser could not make sense of the text here. Later top-level blocks are still checked.",
        "{hint}",
    ),
    Code("json-syntax", "error", "not valid JSON: {problem}", "The text is not JSON.", "{hint}"),
    Code("toml-syntax", "error", "not valid TOML: {problem}", "The text is not TOML.", "{hint}"),
    Code(
        "lone-surrogate",
        "error",
        "a lone surrogate is not a character",
        "`\\ud800` to `\\udfff` only mean something in pairs. Text that contains a lone one cannot be encoded.",
        "write the character itself",
    ),
    Code(
        "toml-date",
        "error",
        "a date stands here, where the configuration takes no dates: {found}",
        "TOML reads an unquoted date as a date, not as text.",
        "put quotes around it",
    ),
    Code(
        "control-character",
        "error",
        "control character {character} is not allowed",
        "YAML text may not contain control characters other than tab and line breaks. A NUL usually means the file "
        "is binary.",
        "remove the character, or write it as an escape in double quotes",
    ),
    Code(
        "nesting-too-deep",
        "error",
        "nested too deep: more than {limit} levels",
        "No real configuration nests this deep; deeper input is refused while it is being parsed.",
    ),
    Code(
        "invisible-character",
        "warning",
        "invisible character {character}",
        "Nobody who reviews the file sees it, but a model reads it. Text can be hidden this way, or shown in another "
        "order than it is read.",
        "remove it, or write it as an escape",
    ),
    Code(
        "composed-too-large",
        "error",
        "put together, the files come to more than {limit} values beyond what they hold",
        "What is included or read several times is counted each time, a long text for its length. A dozen small files "
        "that include each other can stand for more than any machine holds, so it is refused before it is written out.",
        "include large files once, or split the configuration",
    ),
    Code(
        "alias-bomb",
        "error",
        "aliases add more than {limit} nodes",
        "Aliases that repeat aliases grow without bound. What they add is counted while parsing; the plain size of "
        "a file is not.",
        "write out what is repeated, or split the file",
    ),
    Code(
        "recursive-alias",
        "error",
        "`*{name}` stands inside the node it names",
        "A value cannot contain itself.",
        "remove the alias, or anchor another node",
    ),
    Code(
        "undefined-alias",
        "error",
        "`*{name}` names an anchor that is not defined before it",
        "An alias repeats a node marked with `&` earlier in the same file. A value that merely starts with `*` must "
        "be quoted.",
        'define `&{name}` first, or quote the text: "*{name}"',
    ),
    Code(
        "duplicate-key",
        "warning",
        "Duplicate key '{key}' at line {line}, using last value",
        "The key stands twice in one mapping. The last value counts; the earlier one has no effect.",
        "remove one of the two",
    ),
    Code(
        "extra-document",
        "warning",
        "only the first document of the file is used",
        "A `---` line starts another YAML document. Whatever follows it is not read.",
        "put it into a file of its own",
    ),
    Code(
        "unknown-tag",
        "warning",
        "the tag {tag} {problem} and is dropped",
        "Tags never construct anything. The value is used as if the tag were not there.",
        "remove the tag",
    ),
    Code(
        "merge-key",
        "warning",
        "`<<` is not applied: it is an ordinary key here",
        "Merge keys are not part of YAML 1.2.",
        "write the entries out, or use a directive if this kind of file has one",
    ),
    Code(
        "non-string-key",
        "error",
        "the key {key} is not a string",
        "Keys are strings. An unquoted number, `true`, `null` or a list is none.",
        'quote it: "{key}"',
    ),
    Code(
        "not-finite",
        "error",
        "{found} is not a finite number",
        "Configuration is exchanged as JSON, which has no infinity and no NaN.",
        "write a number, or quote the text",
    ),
    Code(
        "number-too-long",
        "error",
        "a number with {digits} digits",
        "Numbers keep any reasonable size, but converting this one would take a long time.",
        "quote it if it is text",
    ),
    Code(
        "document-empty",
        "error",
        "{what} is empty",
        "The file holds nothing, or only comments.",
        "`equipage new {kind} NAME` writes a good first file",
    ),
)

_SHAPE = (
    Code(
        "missing-field",
        "error",
        "missing required field `{field}` in {owner}",
        "The field must be there. The place shown is where it would belong.",
        "add `{field}` with {expected}",
    ),
    Code(
        "unknown-field",
        "warning",
        "`{field}` is not a field of {owner}",
        "Nobody reads this key. A misspelt key is the commonest mistake there is: the value has no effect.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "wrong-type",
        "error",
        "expected {expected}, found {found}",
        'The value has another type than the field. Nothing is converted silently: `"5"` is not a number, and an '
        "unquoted `1.0` is no text.",
        "{hint}",
    ),
    Code(
        "invalid-value",
        "error",
        "`{found}` is not a valid value, expected one of {allowed}",
        "The field takes one of a few words.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "out-of-range",
        "error",
        "{found} is out of range, expected {expected}",
        "The number is too small or too large for the field.",
    ),
    Code(
        "wrong-length",
        "error",
        "expected {expected}, found {found}",
        "The text or list has the wrong length for the field.",
    ),
    Code(
        "pattern-mismatch",
        "error",
        "`{found}` does not match {expected}",
        "The text must have a certain form.",
    ),
)

_EQUIPAGE = (
    Code(
        "unrecognised",
        "error",
        "no kind of configuration recognises this file",
        "equipage recognises a file by its name, its place or its content, in that order.",
        "name its kind with --kind, or map it in [tool.equipage]",
    ),
    Code(
        "unused-ignore",
        "warning",
        "`equipage: ignore[{code}]` silences nothing here",
        "The finding it was written for is gone, or stands on another line; or it is an error that keeps the "
        "configuration from existing, which nothing silences. Stale comments hide future mistakes.",
        "{instead}",
    ),
    Code(
        "unknown-code",
        "warning",
        "`{code}` is not a code equipage knows",
        "The comment, or the setting, has no effect. `equipage rule` lists every code.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "unknown-kind",
        "error",
        "there is no kind `{kind}`",
        "The settings map files to a kind that is neither built in nor installed. A project cannot bring code of its "
        "own: kinds of others come with a package that you install.",
        "did you mean `{nearest}`?; known: {known}",
    ),
    Code(
        "root-outside",
        "error",
        "`{root}` lies outside the project",
        "Settings come with the files that are checked, so they may only open folders of their own project. Name "
        "other folders on the command line with --root.",
        "move the folder into the project, or use --root",
    ),
    Code(
        "root-missing",
        "warning",
        "there is no folder `{root}`",
        "The settings allow references into a folder that does not exist.",
        "check the spelling; it is looked up from the project root",
    ),
    Code(
        "settings-twice",
        "warning",
        "`[tool.equipage]` in pyproject.toml has no effect: this file stands beside it",
        "Settings are read from one file; `equipage.toml` comes before `pyproject.toml`.",
        "move everything into one of the two",
    ),
    Code(
        "internal-error",
        "error",
        "equipage failed on this file: {problem}",
        "A bug in equipage: no input should lead here. The other files were checked all the same. Please report it "
        "with the file.",
    ),
)

CORE_CODES: tuple[Code, ...] = (*_FILES, *_ENVIRONMENT, *_TEXT, *_SHAPE, *_EQUIPAGE)

#: Errors of reading, parsing and types: with one of them there is no configuration, whatever anybody silences.
BLOCKING: frozenset[str] = frozenset(code.name for code in CORE_CODES if code.severity == "error")
