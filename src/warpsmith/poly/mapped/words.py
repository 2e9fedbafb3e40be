"""What a walk finds wrong with data directives, in the user's words: the two places that show it, and what to do.

b is written on the device in line 8, and line 11 reads it on the host: nothing copies it back in between
"""

from __future__ import annotations

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.poly.mapped.copies import CopyPair, Stale
from warpsmith.poly.mapped.extents import Extent
from warpsmith.tree.program import Assumption

__all__ = ["Words", "Wrong"]


class Wrong(Struct, frozen=True):
    """One thing that is wrong (`sure`), or may be. `span`: the directive or statement that it is about, `seen`: the
    other one."""

    text: str
    span: Span
    sure: bool
    name: str
    seen: Span | None = None
    helps: tuple[str, ...] = ()


class Words(Struct):
    """The findings of one walk, each once; what is `assumed` rests on a clause's word. `granted`: what the user said
    that made a difference; `settled`: what might make one."""

    found: dict[tuple[str, int, str], Wrong] = field(default_factory=dict)
    assumed_: dict[tuple[str, int], Wrong] = field(default_factory=dict)
    granted: list[Assumption] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)

    def _note(self, kind: str, one: Wrong) -> None:
        key = (kind, one.span.start, f"{one.name}{one.seen.start if one.seen is not None else ''}")
        known = self.found.get(key)
        if known is None or (one.sure and not known.sure):
            self.found[key] = one

    def doubt(self, span: Span | None, name: str, text: str) -> None:
        """Something is not modelled."""
        if span is not None:
            self._note("doubt", Wrong(text, span, sure=False, name=name))

    def host_reads(self, stale: Stale, name: str, span: Span, copies: CopyPair, *, sure: bool) -> None:
        """The host reads what is right on the device only."""
        read = f"line {span.line} {'reads' if sure else 'may read'} it on the host"
        if stale.cause == "device":
            head = f"{name} is written on the device in line {stale.span.line}"
            text = f"{head}, and {read}: nothing copies it back in between"
        elif stale.cause == "nothing":
            text = (
                f"the device copy of {stale.name} that line {stale.span.line} makes is copied back with elements that "
                f"were never given a value there, and {read}"
            )
        else:
            head = f"{name} is written on the host in line {stale.span.line}"
            text = f"{head}, then the older device copy is copied over it, and {read}"
        helps = (f"map(tofrom: {name}…), or 'target update from({name}…)' behind the construct",)
        self._note("host", Wrong(text, stale.span, sure, name, span, helps))

    def device_reads(self, stale: Stale, name: str, span: Span, copies: CopyPair, *, sure: bool) -> None:
        """A construct reads what is not right on the device."""
        read = f"line {span.line} {'reads' if sure else 'may read'} it on the device"
        if stale.cause == "host":
            head = f"{name} is written on the host in line {stale.span.line} while the device has a copy of it"
            text = f"{head}, and {read}: nothing copies it there in between"
            helps: tuple[str, ...] = (f"'target update to({name}…)' before the construct",)
        elif stale.cause == "nothing":
            head = f"{copies.clause or 'the clause'} in line {stale.span.line} copies nothing of {name} to the device"
            text = f"{head}, and {read}"
            helps = (f"map(to: {name}…) or map(tofrom: {name}…)",)
        else:
            head = f"{name} is written on the device in line {stale.span.line}"
            text = f"{head}, then the older host copy is copied over it, and {read}"
            helps = (f"'target update from({name}…)' before the copy to the device",)
        self._note("device", Wrong(text, stale.span, sure, name, span, helps))

    def absent(self, span: Span, name: str, pragma: Span, *, sure: bool) -> None:
        """A construct uses a pointer to memory that is not on the device."""
        head = f"line {span.line} uses {name} on the device"
        text = f"{head}, where what it points to {'is' if sure else 'may be'} not mapped"
        self._note("absent", Wrong(text, pragma, sure, name, span, (f"map the elements: map(tofrom: {name}[0:…])",)))

    def host_touches(self, span: Span, name: str, *, sure: bool) -> None:
        """The host reads or writes memory of the device's own."""
        text = (
            f"{name} leads to the device's memory, and line {span.line} {'uses' if sure else 'may use'} it on the host"
        )
        helps = ("copy it with omp_target_memcpy (acc_memcpy_from_device) to memory of the host's first",)
        self._note("own", Wrong(text, span, sure, name, span, helps))

    def other_memory(self, span: Span, name: str, *, device: bool, sure: bool) -> None:
        """The runtime, or a clause, is given memory of the one for memory of the other."""
        one, other = ("the device", "the host") if device else ("the host", "the device")
        text = f"{name} is memory of {one}, and line {span.line} takes it for memory of {other}"
        self._note("other", Wrong(text, span, sure, name, span))

    def absent_update(self, span: Span, name: str, clause: str) -> None:
        """An update of what is not on the device: it does nothing."""
        text = f"{clause} in line {span.line} copies nothing: {name} is not on the device there"
        self._note("update", Wrong(text, span, sure=False, name=name, helps=(f"map {name} before",)))

    def early(self, held: Span, name: str, span: Span, clause: str, *, sure: bool) -> None:
        """The host's memory ends while the device has a copy."""
        holder = f"{clause or 'a data region'} of line {held.line}"
        text = f"{name} is freed in line {span.line} while {holder} still holds a copy of it"
        helps = ("end the data region, or 'target exit data', before the memory is freed",)
        self._note("early", Wrong(text, held, sure, name, span, helps))

    def running(self, span: Span, name: str, use: Span) -> None:
        """Something is used while a construct that nobody waited for runs."""
        head = f"the construct in line {span.line} has nowait"
        text = f"{head}, and line {use.line} uses {name} before anything waits for it"
        self._note(
            "running", Wrong(text, span, sure=True, name=name, seen=use, helps=("remove nowait, or add a taskwait",))
        )

    def short(self, copies: CopyPair, name: str, span: Span, extent: Extent, *, sure: bool) -> None:
        """A construct touches more than the clause names."""
        part = copies.part.text if copies.part is not None else "a part"
        held = copies.held or span
        head = f"{copies.clause} in line {held.line} maps the elements {part} of {name}"
        text = f"{head}, and line {span.line} {'touches' if sure else 'may touch'} {extent.text}"
        self._note("short", Wrong(text, held, sure, name, span, (f"map all of {extent.text}",)))

    def larger(self, span: Span, name: str, clause: str, copies: CopyPair, *, sure: bool) -> None:
        """A clause names more than the part that is there already."""
        text = f"{clause} in line {span.line} names more of {name} than {copies.clause} has brought to the device"
        self._note("larger", Wrong(text, span, sure, name, copies.held, (f"map all of {name} in the outer region",)))

    def assumed(self, copies: CopyPair, name: str, span: Span) -> None:
        """Whether a construct stays in the part that a clause names rests on the clause's word."""
        held = copies.held or span
        part = copies.part.text if copies.part is not None else "its part"
        text = f"that line {span.line} touches no more than the elements {part} of {name}"
        self.assumed_.setdefault((name, held.start), Wrong(text, held, sure=False, name=name, seen=span))
