"""Many files: a workspace is what a system holds for a request, found, loaded and reported.

Everything that looks at many files is a function of a workspace: a check is its report, a lock is
made of its loads, a comparison is one of two workspaces, and after an edit there is another one,
which shares every load that looked at nothing that changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import Any

import msgspec

from equipage.core import codes
from equipage.files import Stamp, System, display_name
from equipage.files.recording import Changes, Record, Recording
from equipage.loading.format import Format
from equipage.loading.session import Request, Run
from equipage.project.recognise import surroundings_of, unrecognised_finding
from equipage.project.registry import (
    built_in_kinds,
    codes_for_comments,
    format_named,
    installed_formats,
)
from equipage.project.settings import SELECT_ALL, Selection, project_of
from equipage.workspace.find import File, Found, find, find_around
from equipage.workspace.load import (
    CHUNK,
    FileLoad,
    Summarise,
    Summary,
    drop_overruled_loads,
    identity_of,
    load_chunk,
    load_file,
    summary_of,
    summary_with_digest,
)
from equipage.workspace.report import Gathering, Report

#: Fewer files than this are loaded as fast by one process.
WORTH_IT = 2_000
#: Called with how many files are done and how many there are.
Progress = Callable[[int, int], None]


class Workspace:
    """The files at and below some paths, each with its load.

    Of a load only a summary is kept, unless `keeps` asks for all of it. With `recording`, a
    workspace remembers what it looked at, so that `after` can share what did not change.
    """

    def __init__(
        self,
        paths: Sequence[str],
        request: Request,
        *,
        kind: str | Format | None = None,
        selection: Selection = SELECT_ALL,
        digests: bool = False,
        jobs: int = 1,
        keeps: Callable[[File], bool] | None = None,
        recording: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Raises `UsageError` for an unknown kind.

        `jobs` processes do the work, as many as are worth it if it is 0; what they find is the
        same, whatever the number.
        """
        if kind is not None:
            named = format_named(kind)  # raises for one that there is not
            # Those that are not built in are recognised by what they say themselves.
            if isinstance(kind, str) and kind not in built_in_kinds():
                kind = named if ":" in kind or kind in installed_formats() else kind
        self.paths = tuple(dict.fromkeys(paths))
        self.kind, self.selection = kind, selection
        self.digests, self.jobs, self.keeps = digests, jobs, keeps
        self.progress = progress
        self.system = request.system
        system = request.system
        self.request = msgspec.structs.replace(
            request,
            system=Recording(system) if recording else system,
            # The folders that the caller named: each is the root of what has no other.
            folders=tuple(system.absolute(path) for path in paths if system.is_folder(path)),
            confined=True,
            known_codes=codes_for_comments,
        )
        self.run = self.request.new_run()
        self._found: Found | None = None
        self._walked_around: list[str] | None = None  #: the files of the projects around the paths
        self._summaries: dict[File, Summary | None] = {}
        self._records: dict[File, Record] = {}  #: what each load looked at, if that is recorded
        self._loads: dict[File, FileLoad] = {}

    # Files and loads.

    @property
    def contents(self) -> Found:
        """What is at and below the paths."""
        if self._found is None:
            self._found = find(self.paths, self.run, self.selection)
        return self._found

    def files(self) -> Sequence[File]:
        """The files at and below the paths, those that the caller named first."""
        return self.contents.files

    def load(self, file: File) -> FileLoad:
        """The load of a file, as a whole."""
        if self.keeps is not None and self.keeps(file):
            list(self.summaries([file]))
        if file in self._loads:
            return self._loads[file]
        return load_file(file, self.request.new_run(self.run), kind=self.kind)

    def loads(self, *, every_path: bool = False, unread: bool = False) -> list[FileLoad]:
        """The load of each file, as a whole; the files share what they read and parse.

        A file below a folder that is not recognised is left out; one that the caller named is not.
        So is a file that another load reads as its own and knows better. With `unread`, files that
        a tool reads and equipage does not are given, too, and with `every_path` also agents by
        their header that another load reads, and each path by which a tool finds a file.
        """
        loads = list(self._all_loads(every_path=every_path, unread=unread))
        return drop_overruled_loads(loads, self.system, only_parts=every_path)

    def _all_loads(self, *, every_path: bool, unread: bool) -> Iterator[FileLoad]:
        said = {codes.INTERNAL_ERROR, codes.CHECK_ENDED, codes.LINK_OUTSIDE}
        if every_path:
            said.add(codes.LINK_BROKEN)
        run = self.request.new_run(self.run)
        seen: set[Hashable] = set()
        for number, file in enumerate(self.files()):
            if self.progress is not None:
                self.progress(number, len(self.files()))
            load = self._loads.get(file) or load_file(file, run, kind=self.kind)
            if load.outcome is not None:
                same = identity_of(load, load.outcome)
                if every_path or same not in seen:
                    seen.add(same)
                    yield load
            elif file.named:
                # A caller that names a file must hear what became of it.
                problem = load.problem or unrecognised_finding(file.path, self.system)
                yield msgspec.structs.replace(load, problem=problem)
            elif load.unread is not None:
                if every_path or unread:
                    yield load
            elif load.problem is not None and load.problem.code in said:
                yield load

    def summarise(self, files: Sequence[File], summarise: Summarise) -> Iterator[Any]:
        """What a function makes of the load of each file, in order, by as many processes as asked.

        The function and what it returns are sent to and by other processes.
        """
        chunks = [files[start : start + CHUNK] for start in range(0, len(files), CHUNK)]
        jobs = self.jobs or (_processors() if len(files) >= WORTH_IT else 1)
        if self.keeps is not None or self._is_recording:
            jobs = 1  # what is kept stays here
        if jobs > 1 and chunks:
            # Importing it takes longer than checking a small file.
            from equipage.workspace.parallel import Work, can_share, share_among_processes

            if can_share():
                work = Work(self.request, summarise, self.kind, self.run)
                yield from share_among_processes(chunks, work, min(jobs, len(chunks)))
                return
        for chunk in chunks:
            yield from load_chunk(chunk, self.request, self.run, summarise, self.kind)

    def summaries(self, files: Sequence[File]) -> Iterator[Summary | None]:
        """What is kept of each file, in order; None for a file that is not ours."""
        unknown = [each for each in files if each not in self._summaries]
        summarise = summary_with_digest if self.digests else summary_of
        if self.keeps is not None or self._is_recording:
            summaries = self._summarise_and_keep(unknown, summarise)
        else:
            summaries = self.summarise(unknown, summarise)
        waiting = zip(unknown, summaries, strict=True)
        for number, file in enumerate(files):
            if self.progress is not None:
                self.progress(number, len(files))
            while file not in self._summaries:
                each, summary = next(waiting)
                self._summaries[each] = summary
            yield self._summaries[file]

    @property
    def _is_recording(self) -> bool:
        return self.request.system is not self.system

    def _summarise_and_keep(
        self, files: Sequence[File], summarise: Summarise
    ) -> Iterator[Summary | None]:
        def keep(file: File, load: FileLoad, run: Run) -> Summary | None:
            if load.record is not None:
                self._records[file] = load.record
            if self.keeps is not None and self.keeps(file):
                self._loads[file] = load
            summary: Summary | None = summarise(file, load, run)
            return summary

        return self.summarise(files, keep)

    # The report.

    def report(
        self,
        about: Collection[File] = (),
        *,
        extra: Collection[File] = (),
        only_known: bool = False,
    ) -> Report:
        """What was found in all files; or `about` some of them, as the report on all says it.

        `extra` files count although they may not be among those below the paths. With
        `only_known`, the other files are those that have been loaded already.
        """
        # What a report looks at is looked at again for the next one, so it is not recorded.
        request = msgspec.structs.replace(self.request, system=self.system)
        run = request.new_run(self.run)
        found = (self._found or Found()) if only_known else self.contents
        files = found.files
        if only_known:
            files = [each for each in files if each in self._summaries]
        files = [*dict.fromkeys([*files, *extra])] if extra else files
        summaries = list(self.summaries(files))
        gathering = Gathering(run, found, self.selection, self.kind)
        if about:
            gathering.asked = self._names_of(about)
            names = {each.name for each in summaries if each is not None}
            gathering.context = names - gathering.asked
        for each in summaries:
            gathering.take(each)
        if self.kind is None and not only_known and gathering.concerns_others():
            self._gather_context(gathering)
        return gathering.report()

    def _names_of(self, files: Collection[File]) -> set[str]:
        """The names by which findings may call files: links may lead to them from elsewhere."""
        system = self.system
        here, paths = system.real(system.cwd), [each.path for each in files]
        real = {system.real(path) for path in paths}
        names = {system.name_of(path) for path in paths}
        names |= {display_name(path, here) for path in real}
        others = (each for each in self._summaries.values() if each is not None)
        # The file itself may be of no kind although a link that leads to it is.
        return names | {
            each.name
            for each in others
            if (each.real if isinstance(each.real, str) else system.real(each.path)) in real
        }

    def _gather_context(self, gathering: Gathering) -> None:
        """Take the files around those that were asked for: the report says about a file what that
        on the whole project says.
        """
        system = self.system
        folders = tuple(os.path.join(each, "") for each in self.request.folders)
        # The usual check, of whole projects: every file in them was taken.
        if all(os.path.join(each.root, "").startswith(folders) for each in self.contents.projects):
            return
        known = {system.absolute(each.path) for each in self.files()}
        if self._walked_around is None:
            self._walked_around = list(find_around(self.paths, self.files(), self.run))
        walked = self._walked_around
        # What a load read is a part of that file, and was looked at with it.
        around = [
            File(path)
            for path in walked
            if system.absolute(path) not in known and system.name_of(path) not in gathering.used
        ]
        if around:
            gathering.order = {system.absolute(path): number for number, path in enumerate(walked)}
            gathering.asked = gathering.asked or {
                system.name_of(each.path) for each in self.files()
            }
            gathering.context |= {system.name_of(each.path) for each in around}
            for each in self.summaries(around):
                gathering.take(each)

    # Changes.

    def after(
        self, changed: Collection[str] = (), *, system: System | None = None, look: bool = True
    ) -> Workspace:
        """The workspace as it is now, with every load that looked at nothing that changed.

        `changed` are paths that certainly did; with `look`, all others that loads looked at are
        compared with their stamps, too. The report is exactly that of a new workspace.
        """
        new = Workspace(
            self.paths,
            msgspec.structs.replace(self.request, system=system or self.system),
            kind=self.kind,
            selection=self.selection,
            digests=self.digests,
            keeps=self.keeps,
            recording=True,
        )
        changes = Changes(changed, new.system, look=look)
        folders = self.run.files.record
        is_same = folders is not None and folders.is_current(changes)
        if is_same:
            new.run.inherit(self.run)
            new._found, new._walked_around = self._found, self._walked_around
        # A report that was interrupted may have left records of loads without a summary.
        for file, summary in [*self._summaries.items()]:
            record = self._records.get(file)
            if record is None or not (is_same or self._looks_alike(file, new)):
                continue
            if record.is_current(changes):
                new._summaries[file], new._records[file] = summary, record
                if file in self._loads:
                    new._loads[file] = self._loads[file]
        return new

    def _looks_alike(self, file: File, new: Workspace) -> bool:
        """Whether a file is in the same surroundings as before."""
        before, after = (
            surroundings_of(file.path, project_of(file.path, run), run)
            for run in (self.run, new.run)
        )
        return before is after or before == after

    def stamps(self) -> dict[str, Stamp | None]:
        """Every path that was looked at, and what was there."""
        found: dict[str, Stamp | None] = {}
        for each in (self.run.files.record, *self._records.values()):
            found.update({} if each is None else each.paths)
        return found

    def shares_all_of(self, before: Workspace) -> bool:
        """Whether nothing has to be loaded that was not loaded before."""
        return self._found is before._found and len(self._records) == len(before._records)

    def changed_since(self, before: Workspace, touched: Collection[str]) -> set[str]:
        """The files that changed, came or went, as far as they matter for either workspace."""
        was, now = before.stamps(), self.stamps()
        changed = {path for path in was.keys() & now.keys() if was[path] != now[path]}
        moved = {self.system.absolute(each.path) for each in {*before.files()} ^ {*self.files()}}
        return changed | moved | (was.keys() & touched)

    def known_summaries(self) -> Iterator[Summary]:
        """What is kept of the files that were loaded so far and are of a kind."""
        known, found = self._summaries, self._found or Found()
        summaries = (known.get(each) for each in dict.fromkeys([*found.files, *known]))
        return (each for each in summaries if each is not None)

    def readers_of(self, path: str) -> Iterator[File]:
        """The files whose loads looked at a path."""
        return (file for file, record in self._records.items() if path in record.paths)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
