"""The fields of a profile, and how its file becomes them.

A profile is a folder with a `config.toml` or a single Markdown file with a header. `AGENTS` finds
the profiles of an `agents` folder and `read` makes a document of one. The stages then keep text as
text, fold the two keys for a model into one, bring in the prompt and prepare the hooks. After them
nothing depends on the variant.

The settings share the limits and the sampling parameters.
"""

# Annotations are evaluated, not kept as text: msgspec would compile each one at first use.
import math
import os
import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from equipage.core import codes as core_codes
from equipage.core.frozen import StrictTable
from equipage.files import Entry as FolderEntry
from equipage.files import entries_of, leads_to_folder
from equipage.formats.defect import codes, hooks
from equipage.formats.defect.discovery import Entry, LayeredFolder, resolve_parent_links
from equipage.formats.defect.hooks import Hooks, Layer
from equipage.loading.header import HeaderStyle, body_of, keep_as_written, read_header
from equipage.loading.session import Parsed
from equipage.loading.tree import attach
from equipage.plugin import (
    HOLE,
    ROOT,
    Also,
    Document,
    Fact,
    FileProblem,
    Origin,
    Origins,
    Path,
    PathPolicy,
    Session,
    Shown,
    Source,
    System,
    Tree,
    Via,
    entries_at,
    get,
    move,
    remove,
)

U32 = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
RequestLimitMode = Literal["fixed", "adaptive", "unbounded"]
Variant = Literal["folder", "file"]

#: The tools of an agent whose profile has no `tools.allow`: it can read and search.
READ_ONLY_TOOLS = ("read_file", "search")


class Default(StrictTable, frozen=True):
    """The table that the settings also have; a profile may name its model here."""

    model: str | None = None
    """The model, as an alternative to the key `model`."""


class Prompt(StrictTable, frozen=True):
    """The system prompt. A loaded profile always has `text`, wherever it came from."""

    text: str | None = None
    """The prompt itself."""
    file: str | None = None
    """The file that holds the prompt, in the folder of the profile; `system.md` by default."""


class Tools(StrictTable, frozen=True):
    """The tools an agent may use."""

    allow: tuple[str, ...] = READ_ONLY_TOOLS
    """Names and patterns; an empty list allows no tool, no list allows reading and searching."""


class Sampling(StrictTable, frozen=True):
    """Sampling parameters of the model. The table replaces the caller's table as a whole."""

    max_tokens: U32 | None = None
    """The longest answer, in tokens."""
    temperature: float | None = None
    """How random the answer is, from 0 to 2."""
    top_p: float | None = None
    """Sample only from the most likely tokens up to this probability."""
    top_k: U32 | None = None
    """Sample only from this many of the most likely tokens."""


class AgentProfile(StrictTable, frozen=True):
    """One agent."""

    TITLE: ClassVar[str] = "a profile"

    description: str
    """When to use the agent; other agents choose it by this text."""
    model: str | None = None
    """The model to use; by default the caller's."""
    default: Default | None = None
    """The table of the settings; only its `model` is allowed."""
    prompt: Prompt = Prompt()
    """The system prompt of a folder; a single file has it below the header."""
    tools: Tools = Tools()
    """The tools the agent may use."""
    sampling: Sampling | None = None
    """Sampling parameters; by default the caller's."""
    inherit_project_prompt: bool = False
    """Whether the project's own instructions come before the agent's prompt."""
    request_limit: U32 | None = None
    """How many requests to the model one turn may make."""
    request_limit_mode: RequestLimitMode | None = None
    """Whether the limit is fixed, grows with each tool call, or does not exist."""
    hooks: Hooks = Hooks()
    """What runs at certain events; an agent inherits no hooks."""


class ProfileOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of a load."""

    layer: Literal["user", "project"] | None = None
    """The layer of the file; by default its path says."""


class RequestLimit(msgspec.Struct, frozen=True):
    """How many requests to its model an agent may make in one turn.

    An adaptive limit grows with each tool call.
    """

    mode: RequestLimitMode
    number: int | None = None


def request_limit(number: int | None, mode: RequestLimitMode | None) -> RequestLimit | None:
    """The limit that the two keys describe together; None leaves it to the program."""
    if mode == "unbounded":
        return RequestLimit("unbounded")
    return None if number is None else RequestLimit(mode or "adaptive", number)


#: The values that models accept; a provider refuses others or clips them.
_SAMPLING_RANGES: dict[str, tuple[float, float]] = {"temperature": (0, 2), "top_p": (0, 1)}


def limit_facts(table: Any, path: Path) -> Iterator[Fact]:
    """The two keys of a request limit must make sense together."""
    if not isinstance(table, dict):
        return
    mode, number = table.get("request_limit_mode"), table.get("request_limit")
    if mode in ("fixed", "adaptive") and number is None:
        yield codes.REQUEST_LIMIT_MISSING.at((*path, "request_limit_mode"), mode=mode)
    if mode == "unbounded" and number is not None:
        yield codes.REQUEST_LIMIT_IGNORED.at((*path, "request_limit"), number=number)
    if number == 0 and not isinstance(number, bool) and mode != "unbounded":
        yield codes.REQUEST_LIMIT_ZERO.at((*path, "request_limit"))


def sampling_facts(config: Any, path: Path) -> Iterator[Fact]:
    """Sampling parameters at `path` that no model accepts; parsing has reported the infinite."""
    for key, (low, high) in _SAMPLING_RANGES.items():
        value = get(config, (*path, key))
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and (value < low or high < value < math.inf):
            place, found = (*path, key), Shown(value)
            yield codes.SAMPLING_RANGE.at(place, key=key, found=found, low=low, high=high)


# The `agents` folder.

#: Bytes of a name that are not UTF-8, as Python shows them.
NOT_UTF8 = re.compile("[\udc80-\udcff]")
#: Extensions that people write instead of `.md`.
_NEARLY_MARKDOWN = frozenset({".markdown", ".mdown", ".mkd", ".mdx", ".md"})


def _find_profile(entry: FolderEntry, system: System) -> Entry | Fact | None:
    """The profile in an entry of an `agents` folder; a finding if the entry is nearly one."""
    # Not `splitext`, which sees no extension in `..md`: the profile named `.`.
    stem, dot, extension = entry.name.rpartition(".")
    stem, extension = (stem, dot + extension) if stem else (entry.name, "")
    # A link counts as what it leads to; `AGENTS.outside` is for those that leave the project.
    is_folder = leads_to_folder(entry)
    if NOT_UTF8.search(entry.name):
        return (
            _overlooked_profile("its name is not valid UTF-8")
            if is_folder or extension == ".md"
            else None
        )
    if is_folder:
        config = os.path.join(entry.path, "config.toml")
        if system.is_file(config):
            is_linked = entry.is_symlink() or system.is_link(config)
            return Entry(entry.name, config, is_linked)
        if system.status(config, follow_links=False) is not None:
            return _overlooked_profile("its `config.toml` is not a regular file")
        return _check_near_profile(entry.path, system)
    if extension == ".md":
        return Entry(stem, entry.path, entry.is_symlink())
    if entry.name.lower() in _NEARLY_MARKDOWN:  # a hidden file without an extension
        return _overlooked_profile(f"there is no name before `{entry.name}`")
    is_near = extension.lower() in _NEARLY_MARKDOWN
    return _overlooked_profile("its name does not end in `.md`") if is_near else None


def _check_near_profile(folder: str, system: System) -> Fact | None:
    """A finding about a folder without a `config.toml` that was meant to be a profile."""
    names = [each.name for each in entries_of(folder, system)]
    other = next((name for name in names if name.lower() == "config.toml"), None)
    if other is not None:
        return _overlooked_profile(f"the folder has `{other}`, but no `config.toml`")
    has_prompt = DEFAULT_PROMPT_FILE in names
    return _overlooked_profile("the folder has no `config.toml`") if has_prompt else None


def _overlooked_profile(reason: str) -> Fact:
    return codes.PROFILE_OVERLOOKED.at(reason=reason)


DEFAULT_PROMPT_FILE = "system.md"
AGENTS = LayeredFolder(
    "agents", r"[^/]+\.md|[^/]+/config\.toml", _find_profile, outside=codes.PROFILE_LINK_OUTSIDE
)


def identity(path: str, system: System) -> str:
    """A profile is an entry of its `agents` folder: a link there is an agent of its own."""
    return resolve_parent_links(path, 2 if path.endswith(".toml") else 1, system)


def variant_of(path: str) -> Variant:
    """Which of the two variants the file at `path` is."""
    return "folder" if path.endswith(".toml") else "file"


def layer_of(source: Source, session: Session) -> Layer | None:
    """The layer of a profile: the caller's option, else the one its path says.

    The path is the one that the caller named: a link to a file elsewhere keeps its place.
    """
    given: Layer | None = session.options.layer
    return given if given is not None or source.filename is None else AGENTS.layer_of(session.path)


# Reading.

_STYLE = HeaderStyle("single-file profile", known=AgentProfile.__struct_fields__)


def read(source: Source, session: Session) -> Parsed:
    """The document of a profile: a whole TOML file, or the header of a Markdown file."""
    if variant_of(source.filename or source.name) == "folder":
        return session.parse(source, "toml")
    return read_header(source, session, _STYLE)


_TEXT_FIELDS: tuple[Path, ...] = (("description",), ("model",), ("default", "model"))


def keep_text(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """In a YAML header, replace a number where text belongs by the text the author wrote."""
    allowed = entries_at(tree.value, ("tools", "allow"))
    paths = (*_TEXT_FIELDS, *(path for path, _ in allowed))
    return keep_as_written(tree, paths, codes.TEXT_NOT_QUOTED, how="kept as written")


def fold_model(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Move `[default] model` to `model`, which means the same; only one of the two may be set."""
    default = tree.value.get("default") if isinstance(tree.value, dict) else None
    if not isinstance(default, dict):
        return tree, []
    facts: list[Fact] = []
    if default.get("model") is not None:
        if tree.value.get("model") is not None:
            also = Also("and here", part="key", origin=tree.provenance(("model",)).origin)
            origin = tree.provenance(("default", "model")).origin
            facts.append(codes.MODEL_GIVEN_TWICE.at(part="key", origin=origin, also=(also,)))
            tree = remove(tree, ("default", "model"))
        else:
            # A `model` that is null makes room for the other one.
            tree = remove(tree, ("model",)) if "model" in tree.value else tree
            tree = move(tree, ("default", "model"), ("model",))
    if all(value is None for value in tree.value["default"].values()):
        tree = remove(tree, ("default",))
    return tree, facts


def prepare_hooks(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Remove unknown events and stamp each hook with the layer of its profile."""
    if not isinstance(get(tree.value, hooks.HOOKS), dict):
        return tree, []  # nearly always
    source = tree.provenance(ROOT).origin.document.source
    return hooks.prepare(tree, layer_of(source, session), may_disable=False)


# The prompt.

#: A profile reads files in its own folder only.
PROMPT_POLICY = PathPolicy(parents="inside", text=True)
_PROMPT_PATH: Path = ("prompt",)
_TEXT_PATH: Path = ("prompt", "text")
_FILE_PATH: Path = ("prompt", "file")
#: Why the profile may not read a file that may well exist: a copy in its folder would be fine.
_REFUSED_REASONS = {
    core_codes.REFERENCE_ABSOLUTE: "the path is absolute",
    core_codes.REFERENCE_ESCAPES: "it leads outside the folder of the profile",
}
#: Why a path cannot be the path of a prompt, wherever it leads.
_UNUSABLE_REASONS = {
    core_codes.REFERENCE_EMPTY: "the path is empty",
    core_codes.REFERENCE_NUL: "the path contains a NUL character",
    core_codes.FILE_IS_DIRECTORY: "it is a directory, expected a file",
    core_codes.FILE_LINK_LOOP: "it leads through too many links",
    core_codes.FILE_NOT_REGULAR: "it is not a regular file",
    core_codes.FILE_TOO_LARGE: "it is too large: {size} bytes (limit: {limit})",
    core_codes.FILE_UNREADABLE: "{reason}",
    core_codes.NOT_UTF8: "it is not valid UTF-8: byte {byte} at offset {offset}",
}


def bring_prompt(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Bring the prompt to `prompt.text`, wherever the author wrote it."""
    if not isinstance(tree.value, dict):
        return tree, []
    prompt = tree.value.get("prompt")
    if prompt is None and "prompt" in tree.value:
        tree = remove(tree, _PROMPT_PATH)  # a null is as good as no key
    document = tree.provenance(ROOT).origin.document
    if variant_of(document.source.filename or document.source.name) == "folder":
        return _from_folder(tree, prompt, session)
    if prompt is not None:
        misplaced = codes.PROMPT_IN_SINGLE_FILE.at(
            part="key", origin=tree.provenance(_PROMPT_PATH).origin
        )
        hole = Tree(HOLE, tree.subtree(_PROMPT_PATH).origins)
        return attach(tree, _PROMPT_PATH, hole), [misplaced]
    return _put_prompt(tree, body_of(document), ()), []


def _from_folder(tree: Tree, prompt: object, session: Session) -> tuple[Tree, list[Fact]]:
    """`prompt.text`, or the content of `prompt.file`, or that of `system.md`."""
    text, file = get(prompt, ("text",)), get(prompt, ("file",))
    if text is not None and file is not None:
        also = Also("and here", part="key", origin=tree.provenance(_FILE_PATH).origin)
        origin = tree.provenance(_TEXT_PATH).origin
        return tree, [codes.PROMPT_GIVEN_TWICE.at(part="key", origin=origin, also=(also,))]
    if text is not None or not isinstance(file, str | None) or not isinstance(prompt, dict | None):
        return tree, []  # the model reports what does not fit
    origin = tree.provenance(ROOT if file is None else _FILE_PATH).origin
    try:
        source = _read_prompt(DEFAULT_PROMPT_FILE if file is None else file, session)
    except FileProblem as problem:
        hole = attach(tree, _TEXT_PATH, Tree(HOLE, Origins(origin)))
        return hole, [_prompt_problem(problem, file, origin)]
    document = Document(source, "text", source.text, window=(0, len(source.text)))
    return _put_prompt(tree, document, () if file is None else (Via("read from here", origin),)), []


def _read_prompt(reference: str, session: Session) -> Source:
    if session.embedded:
        raise FileProblem(core_codes.FILE_MISSING)  # there is no disk
    here = (session.base,)
    return session.refer(reference, PROMPT_POLICY, bases=here, roots=here).source


def _prompt_problem(problem: FileProblem, file: str | None, origin: Origin) -> Fact:
    """Why the prompt file `file`, or the default one, cannot be read."""
    reference = Shown(DEFAULT_PROMPT_FILE if file is None else file)
    values = {"file": reference, **problem.values, "reference": reference}
    if problem.code == core_codes.FILE_MISSING:
        code = codes.PROMPT_MISSING if file is None else codes.PROMPT_FILE_MISSING
    elif problem.code in _REFUSED_REASONS:
        code, values["reason"] = codes.PROMPT_FILE_REFUSED, _REFUSED_REASONS[problem.code]
    else:
        code = codes.PROMPT_FILE_UNUSABLE
        values["reason"] = _UNUSABLE_REASONS[problem.code].format_map(problem.values)
    return Fact(code, values=values, origin=origin)


def _put_prompt(tree: Tree, document: Document, via: tuple[Via, ...]) -> Tree:
    # A prompt from elsewhere has its own document, so that findings in it point there.
    text = Origins(Origin(document), via)
    if "prompt" not in tree.value:
        return attach(
            tree, _PROMPT_PATH, Tree({"text": document.value}, Origins(below={"text": text}))
        )
    return attach(tree, _TEXT_PATH, Tree(document.value, text))
