"""What a thread holds of a running value while a scan is computed, and how two such things are combined.

    + * min max …      the value itself                             block_scan.cu
    linear             a map: factor * y + summand                  block_recurrence.cu
    latest             for each variable of a group its value,      block_latest.cu
                       or which one of them it comes from

Invariant: what is held of consecutive iterations says all that they make of the values before them; `start` changes
nothing, and what is held of the initial values depends on nothing before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from warpsmith.emit.parts import Value, fill
from warpsmith.emit.words import Support, fresh
from warpsmith.tree.nodes import Expr
from warpsmith.tree.printing.precedence import level
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import Kernel, Scan
from warpsmith.tree.types import Scalar, is_float

__all__ = ["RunningText", "running_texts", "scan_helpers"]

_WORDS = {"+": "sum", "*": "product", "min": "min", "max": "max", "&": "and", "|": "or", "^": "xor"}


class RunningText(Struct, frozen=True):
    """The words for one running value, or for those of a group, which pass their values to each other: `own` is what a
    thread combines, `before` what stands before its tile, `earlier` what a helper gives, `total` the buffer with what
    is held of each part."""

    scans: tuple[Scan, ...]
    own: str
    before: str
    earlier: str
    total: str
    printer: Printer
    support: Support

    @property
    def first(self) -> Scan:
        """The running value; of a group, the first."""
        return self.scans[0]

    @property
    def is_ordered(self) -> bool:
        """Whether order matters to what is combined."""
        return self.is_map or self.is_latest

    @property
    def is_map(self) -> bool:
        """Whether what is combined are functions of the value."""
        return self.first.factor is not None

    @property
    def is_latest(self) -> bool:
        """Whether what is combined says where values come from."""
        return self.first.source is not None

    @property
    def type(self) -> str:
        """The type of what is held."""
        return _struct_name(self.first, self.support) if self.is_ordered else _type_text(_scalar(self.first))

    @property
    def initial(self) -> str:
        """What is held of the value before the first iteration."""
        texts = [self.printer.expr(scan.initial) for scan in self.scans]
        if self.is_latest:
            return self.latest(texts, ["-1"] * len(texts))
        return self.map("0", f"({_type_text(_composed(self.first))})({texts[0]})") if self.is_map else texts[0]

    @property
    def element(self) -> str:
        """What a thread holds of its own iteration."""
        texts = [self.printer.expr(scan.element) for scan in self.scans]
        scan = self.first
        if self.is_latest:
            return self.latest(texts, [self.printer.expr(s.source) for s in self.scans if s.source is not None])
        if scan.factor is not None:
            return self.map(self.printer.expr(scan.factor), texts[0])
        compared = scan.op in ("min", "max") and is_float(_scalar(scan)) and scan.compares
        return self.combine(self.before) if compared else texts[0]

    def parts(self) -> Iterator[Expr]:
        """Yield the expressions that `element` is made of."""
        for scan in self.scans:
            yield from (part for part in (scan.element, scan.factor, scan.source) if part is not None)

    def map(self, factor: str, summand: str) -> str:
        """Return the map with these parts, which are of its type."""
        return f"{self.type}{{{factor}, {summand}}}"

    def latest(self, values: Sequence[str], sources: Sequence[str]) -> str:
        """Return what gives the variables these values, or those of others."""
        return f"{self.type}{{{{{', '.join(values)}}}, {{{', '.join(sources)}}}}}"

    def values_of(self, text: str) -> list[str]:
        """Return the running values in what is held of them."""
        if self.is_latest:
            return [f"{text}.value[{k}]" for k in range(len(self.scans))]
        return [f"{text}.summand" if self.is_map else text]

    def helper(self) -> str:
        """Return the call that gives a thread what stands before its own value, and moves `before` on."""
        return f"{_helper_name(self.first, self.support)}({self.own}, &{self.before})"

    def start(self, otherwise: str) -> str:
        """Return a value that changes nothing; `otherwise` where combining twice is harmless."""
        if self.is_latest:
            return self.latest(["0"] * len(self.scans), [str(k) for k in range(len(self.scans))])
        if self.is_map:
            return f"{self.type}{{1, 0}}"
        return otherwise if self.first.neutral is None else self.printer.expr(self.first.neutral)

    def combine(self, left: str) -> str:
        """Return `left` combined with the thread's element."""
        expr = self.first.element
        text = self.printer.expr(expr)
        plain = level(expr) >= 14 or _calls(self.first)
        return _combination(self.first, left, text if plain else f"({text})")

    def declarations(self) -> list[str]:
        """Return the declarations of the thread's own variables, with what they are before its iteration."""
        alone = len(self.scans) == 1
        lines = [] if alone else [f"const {self.type} {self.earlier} = {self.helper()};"]
        values = self.values_of(self.helper() if alone else self.earlier)
        for scan, value in zip(self.scans, values, strict=True):
            lines.append(f"{_type_text(_scalar(scan))} {scan.variable.name} = {value};")
        return lines

    def results(self) -> Iterator[tuple[Expr, str]]:
        """Yield the places that get a value behind the last iteration, with what they get."""
        for scan, value in zip(self.scans, self.values_of(self.before), strict=True):
            if scan.target is not None:
                yield scan.target, value


def running_texts(kernel: Kernel, printer: Printer, support: Support, used: set[str]) -> tuple[RunningText, ...]:
    """Return the words for the running values of a kernel, none of them in `used`, which they are added to."""
    firsts = [k for k, scan in enumerate(kernel.scans) if not scan.group or scan.group[0] == k]
    found: list[RunningText] = []
    for k in firsts:
        head = kernel.scans[k]
        members = tuple(kernel.scans[at] for at in head.group) or (head,)
        wanted = ("own", "before", "earlier", "total")
        prefix = "" if len(firsts) == 1 else f"{head.variable.name}_"
        own, before, earlier, total = (fresh(prefix + word, used) for word in wanted)
        found.append(RunningText(members, own, before, earlier, total, printer, support))
    return tuple(found)


# --- the helpers


def scan_helpers(kernels: Iterable[Kernel], support: Support) -> list[str]:
    """Return the functions that scan the values of a block's threads, one for each operation and type in use."""
    found: dict[str, Scan] = {}
    for kernel in kernels:
        for scan in kernel.scans:
            found.setdefault(_helper_name(scan, support), scan)
    return [_helper_text(found[key], support) for key in sorted(found)]


def _helper_text(scan: Scan, support: Support) -> str:
    if scan.factor is not None or scan.source is not None:
        struct = _struct_name(scan, support)
        names: dict[str, Value] = {"WS_NAME": _helper_name(scan, support), "WS_AFTER": f"{struct}_after"}
        if scan.source is not None:
            more: dict[str, Value] = {"WS_TYPE": _type_text(_scalar(scan)), "WS_LATEST": struct}
            return fill("block_latest.cu", names | more | {"WS_COUNT": str(len(scan.group))})
        return fill("block_recurrence.cu", names | {"WS_TYPE": _type_text(_composed(scan)), "WS_MAP": struct})
    values: dict[str, Value] = {
        "WS_TYPE": _type_text(_scalar(scan)),
        "WS_NAME": _helper_name(scan, support),
        "WS_COMBINED": lambda earlier, later: _combination(scan, earlier, later),
    }
    return fill("block_scan.cu", values)


def _calls(scan: Scan) -> bool:
    return is_float(_scalar(scan)) and not scan.compares


def _combination(scan: Scan, earlier: str, later: str) -> str:
    """Return the C expression that combines two values as the user's updates do."""
    type = _scalar(scan)
    if scan.op not in ("min", "max"):
        return f"{earlier} {scan.op} {later}"
    if _calls(scan):
        return f"f{scan.op}{'f' if type.bits == 32 else ''}({earlier}, {later})"
    return f"{later} {'>' if scan.op == 'max' else '<'} {earlier} ? {later} : {earlier}"


def _composed(scan: Scan) -> Scalar:
    """Return the type of the parts of maps."""
    type = scan.element.type
    assert isinstance(type, Scalar), "the parts of a map are numbers"
    return type


def _struct_name(scan: Scan, support: Support) -> str:
    return f"{support.prefix}_{_struct_word(scan)}"


def _struct_word(scan: Scan) -> str:
    if scan.source is None:
        return f"map_{_type_text(_composed(scan))}".replace(" ", "_")
    count = f"{len(scan.group)}_" if len(scan.group) > 1 else ""
    return f"latest_{count}{_type_text(_scalar(scan))}".replace(" ", "_")


def _helper_name(scan: Scan, support: Support) -> str:
    if scan.factor is not None or scan.source is not None:
        return f"{support.prefix}_block_scan_{_struct_word(scan)}"
    word = f"f{scan.op}" if scan.op in ("min", "max") and _calls(scan) else _WORDS[scan.op]
    suffix = _type_text(_scalar(scan)).replace(" ", "_")
    return f"{support.prefix}_block_scan_{word}_{suffix}"


def _scalar(scan: Scan) -> Scalar:
    type = scan.variable.type
    assert isinstance(type, Scalar), "a running value is a number"
    return type


def _type_text(type: Scalar) -> str:
    return type.name
