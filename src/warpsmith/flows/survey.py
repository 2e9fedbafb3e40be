"""SURVEY, a straight line: a project goes in, every loop of its text comes out in exactly one category, ranked.

    commands ─► remembered? ─► read ─► linked ─► verdicts ─► joined by place ─► ranked ─► blockers by construct
                                 └ one file at a time, in several processes ┘

No process holds all trees: files tell each other what their functions do (survey/link.py), in plain lists that also lie
in the cache. A loop is one place of the text: a header's loop counts once, whatever files include it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

from msgspec import Struct, field

from warpsmith.base.clock import Clock
from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.progress import Activity, Progress, ignore_progress
from warpsmith.flows.profiling import report_not_counted
from warpsmith.front.inputs import Source
from warpsmith.project.model import Project
from warpsmith.project.profile.model import Profile
from warpsmith.report.model import Status
from warpsmith.report.survey.constructs import blockers
from warpsmith.report.survey.model import SurveyReport
from warpsmith.survey.cache import Cache, FileRecord
from warpsmith.survey.limits import SurveyLimits
from warpsmith.survey.link import ROUNDS, OutsideFacts, ProgramLink
from warpsmith.survey.places import FileAnswers, joined_loops
from warpsmith.survey.plain import decode_finding
from warpsmith.survey.texts import Texts, fingerprint
from warpsmith.survey.workers import Crew, FileJob
from warpsmith.tree.plain import Plain

__all__ = ["SurveyOptions", "survey"]


class SurveyOptions(Struct, frozen=True):
    """`jobs`: processes; `cache`: where records lie (None: nothing is kept); `profile`: what a run has shown."""

    limits: SurveyLimits = field(default_factory=SurveyLimits)
    jobs: int = 1
    cache: Path | None = None
    profile: Profile | None = None
    progress: Progress = ignore_progress


def survey(project: Project, options: SurveyOptions) -> SurveyReport:
    """Return every loop of the project in its category, those with the most work first.

    Raises InputError where not a single file can be read.
    """
    clock = Clock()
    # The files that our parser can read; the others are named.
    sources, commands, findings = _sources(project)
    cache = Cache(options.cache, options.limits)
    with Crew(options.limits, sources, max(1, min(options.jobs, len(sources)))) as crew:
        # What an earlier survey found, where nothing that it was found from has changed.
        records: list[FileRecord] = []
        for number, source in enumerate(sources):
            records.append(cache.load(source))
            if records[-1].exports is None:
                crew.hurry(number)
        clock.lap("remember")
        state = _Survey(cache, records, crew, sources, options.progress)
        # The other files, each by itself.
        findings += state.read()
        clock.lap("read")
        if not any(record.exports for record in records):
            raise InputError(*(findings or [_nothing(project)]))
        # What each tells the others, until nothing new is said.
        programs = _programs(project, commands)
        link = ProgramLink([record.exports for record in records], programs, not (findings or _hides_code(project)))
        state.settle(link)
        clock.lap("link")
        # The verdicts, each with what is known of all.
        answers = state.verdicts(link)
        clock.lap("analyze")
    for record in records:
        cache.save(record)
    # One entry a place, with its share of the work, and the blockers.
    loops = joined_loops(answers, project.root, options.profile)
    said = (*project.findings, *findings, *state.failures, *report_not_counted(loops, options.profile, project.root))
    status: Status = "incomplete" if any(f.severity == "error" for f in said) else "ok"
    clock.lap("rank")
    return SurveyReport(
        inputs=tuple(source.path for source in sources),
        status=status,
        root=project.root,
        units=len(sources),
        late=tuple(dict.fromkeys(sources[number].path for number in sorted(state.late))),
        read=len(state.again),
        lines=sum(_line_counts(sources, records).values()),
        loops=loops,
        blockers=blockers(loops),
        findings=said,
        timing_s=clock.laps,
    )


def _sources(project: Project) -> tuple[list[Source], list[int], list[Finding]]:
    """Return what is parsed, the numbers of the commands, and a note on what is of another language."""
    sources: list[Source] = []
    numbers: list[int] = []
    others: list[str] = []
    seen: set[Source] = set()
    for number, command in enumerate(project.commands):
        if command.language is None:
            others.append(command.file)
            continue
        source = Source(command.file, command.arguments, command.language)
        if source not in seen and Path(command.file).is_file():
            seen.add(source)
            sources.append(source)
            numbers.append(number)
    findings = []
    if others:
        named = ", ".join(sorted({Path(path).name for path in others})[:3])
        count = "1 file is" if len(others) == 1 else f"{len(others)} files are"
        message = f"{count} not C, C++ or CUDA ({named}): their loops are not listed"
        findings.append(Finding("PRJ005", "warning", message, None, ("nothing: calls of them count as unknown",)))
    return sources, numbers, findings


def _line_counts(sources: Sequence[Source], records: Sequence[FileRecord]) -> dict[str, int]:
    """Return the lines of each file that could be read; one that is compiled several times counts once."""
    return {s.path: int(str(r.exports["lines"])) for s, r in zip(sources, records, strict=True) if r.exports}


def _programs(project: Project, numbers: Sequence[int]) -> list[frozenset[int]]:
    """Return for each file the numbers of the programs that it goes into."""
    inside: list[set[int]] = [set() for _ in numbers]
    used = {name for link in project.links for name in link.inputs}
    for program, link in enumerate(project.links):
        if link.output in used:
            continue
        members = set(project.target(link.output))
        for place, number in enumerate(numbers):
            if project.commands[number] in members:
                inside[place].add(program)
    return [frozenset(found) for found in inside]


def _hides_code(project: Project) -> bool:
    """Whether a finding on the project tells of code that nobody has read; those on a run do not."""
    return any(not f.rule.startswith("PRF") and f.rule != "PRJ007" for f in project.findings)


def _nothing(project: Project) -> Finding:
    message = f"the build of {project.root} compiles no C, C++ or CUDA file"
    return Finding("PRJ001", "error", message, None, ("name the files themselves: warpsmith survey FILE...",))


class _Arguments(Struct, frozen=True):
    """What a file is given; plain data only where somebody is to read it."""

    outside: OutsideFacts
    others: tuple[Plain, ...] = ()

    @property
    def plain(self) -> tuple[Plain, ...]:
        return (self.outside.plain, *self.others)


class _Survey(Struct):
    """The files of one survey; `again` were read in this one, `failures` say what could not be done; for `late` ones
    there was no time; `passes` over them were made after reading."""

    cache: Cache
    records: list[FileRecord]
    crew: Crew
    sources: Sequence[Source]
    progress: Progress = ignore_progress
    again: set[int] = field(default_factory=set)
    failures: list[Finding] = field(default_factory=list)
    late: set[int] = field(default_factory=set)
    passes: int = 0

    def read(self) -> list[Finding]:
        """Read the files of which nothing is remembered; return why some cannot be read."""
        findings: list[tuple[int, list[Finding]]] = []
        missing = [n for n, record in enumerate(self.records) if record.exports is None]
        for done, (number, exports) in enumerate(self.crew.read(missing), start=1):
            self.progress(Activity("reading", self.sources[number].path, done, len(missing)))
            self.again.add(number)
            match exports:
                case {"failed": list(failed)}:
                    findings.append((number, self._decode_failures(number, failed)))
                case {"files": list()} if isinstance(exports, dict):
                    self.cache.renew(self.records[number], exports)
                case _:
                    findings.append((number, [self._report_crash(number, exports)]))
        return [finding for _, found in sorted(findings, key=lambda f: f[0]) for finding in found]

    def settle(self, link: ProgramLink) -> None:
        """Work out what functions do that call those of other files, until nothing changes."""
        waiting = link.waiting()
        for _ in range(ROUNDS):
            outsides = {number: link.outside(number) for number in waiting}
            asked = {number: f"summaries {fingerprint(outside.question)}" for number, outside in outsides.items()}
            news: list[list[int]] = []
            for number, answer in list(
                self._answers("summarize", asked, {n: _Arguments(o) for n, o in outsides.items()})
            ):
                match answer:
                    case {"functions": dict(functions)}:
                        news.append(link.update(number, cast(Texts, functions)))
                    case {"failed": list(failed)}:
                        # its entries promise less: who calls its functions can do without more
                        self.failures += self._decode_failures(number, failed)
                    case _:
                        pass
            waiting = sorted({number for numbers in news for number in numbers} - self.late)

    def verdicts(self, link: ProgramLink) -> list[FileAnswers]:
        """Return every file's verdicts with its exports."""
        asked: dict[int, str] = {}
        arguments: dict[int, _Arguments] = {}
        for number, record in enumerate(self.records):
            if record.exports is not None and number not in self.late:
                outside, known = link.outside(number), link.export_known(number)
                asked[number] = f"verdicts {fingerprint([outside.question, known])}"
                arguments[number] = _Arguments(outside, (known,))
        found = dict(self._answers("analyze", asked, arguments))
        answers: list[FileAnswers] = []
        for number, record in enumerate(self.records):
            answer = found.get(number)
            if record.exports is None:
                continue
            known = self._judged(number, answer)
            answers.append(FileAnswers(record.exports, known, link.programs[number], number in self.late))
            self.failures += [decode_finding(f) for f in cast(list[Plain], record.exports["warnings"])]
        return answers

    def _judged(self, number: int, answer: Plain | None) -> Mapping[str, Plain]:
        """Return the verdicts on a file's loops; none where they could not be found, of which a finding tells."""
        match answer:
            case {"verdicts": list()} if isinstance(answer, dict):
                return answer
            case {"failed": list(failed)}:
                self.failures += self._decode_failures(number, failed)
            case _ if number not in self.late:
                self.failures.append(self._report_crash(number, answer))
            case _:
                pass
        return {"verdicts": [], "efforts": []}

    def _decode_failures(self, number: int, failed: Sequence[Plain]) -> list[Finding]:
        """Return the findings of an answer that failed, and note where time was what it lacked."""
        findings = [decode_finding(plain) for plain in failed]
        if any(finding.rule == "INP009" for finding in findings):
            self.late.add(number)
        return findings

    def _answers(
        self, task: Literal["summarize", "analyze"], asked: Mapping[int, str], arguments: Mapping[int, _Arguments]
    ) -> Iterator[tuple[int, Plain]]:
        """Yield answers to questions, remembered ones first. Each pass over the files begins where the one before it
        ended: of a large project only those that were at hand last are still in memory."""
        jobs: list[FileJob] = []
        for number, question in asked.items():
            remembered = self.records[number].get(question)
            if remembered is not None:
                yield number, remembered
            else:
                jobs.append(FileJob(task, (number,), arguments[number].plain))
        self.passes += bool(jobs)
        if self.passes % 2:
            jobs.reverse()
        stage = "linking" if task == "summarize" else "analyzing"
        for done, (job, answer) in enumerate(self.crew.run(jobs), start=1):
            self.progress(Activity(stage, self.sources[job.numbers[0]].path, done, len(jobs)))
            (number,) = job.numbers
            self.again.add(number)
            if isinstance(answer, dict) and answer.keys().isdisjoint({"crashed", "failed"}):
                self.records[number].put(asked[number], answer)
            yield number, answer

    def _report_crash(self, number: int, answer: Plain | None) -> Finding:
        """Return the finding on a file whose analysis went wrong; its loops are listed all the same."""
        path = self.sources[number].path
        details = answer.get("crashed") if isinstance(answer, dict) else None
        where = f"the details are in {details}" if details else "its process ended; more memory may help"
        return Finding("INT070", "error", f"internal error: the analysis of {path} ended", None, (where,))
