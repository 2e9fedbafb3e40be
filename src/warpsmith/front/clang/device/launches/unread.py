"""What host code may do that the parser could not read, by its text: what it may change, and what it names.

    file >> n;                     `file` is of a type that is not known: n may be changed
    config.read(n, w + 1);         config and n may be
    auto v = config.rows();        v, which is read no more: so may be what other statements with v change
    std::cout << n + m;            nothing
    std::vector<float> h(n);       h

The parser leaves out expressions with an error, and in silence all that have a part of such a declaration. A name is
taken for changed where its place in the text lets it be: assigned to, counted up, behind `>>` or `&`, an object whose
method is called, an argument by itself of a function that is not known to take values. Limits: names stand for all
variables that are called so and no constants; macros are not looked into. Runs in the worker process only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.libclang import Cursor, Library
from warpsmith.front.clang.wire import Diagnostic

__all__ = ["AsRead", "Unread", "UnreadNames", "find_unread", "unread_by"]

_BLANKED: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#[^\n]*", re.DOTALL | re.M
)
_BOUND: Final = re.compile(r"[(){};\[\]]")
_TOKEN: Final = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|<<=|>>=|<<|>>|->|\+\+|--|[-+*/%&|^]=|[=!<>]=|&&|\|\||::|\S")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_ASSIGNS: Final = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"})
_ENDS_VALUE: Final = re.compile(r"[\w)\]]$")
_BLOCKS: Final = frozenset({"else", "do", "try", "const", "noexcept", "override", "final"})
_CONTROLS: Final = frozenset(
    {"if", "for", "while", "switch", "do", "else", "try", "catch", "struct", "class", "namespace"}
)
_VALUES: Final = re.compile(
    r"(?:if|while|for|switch|return|sizeof|alignof|(?:static|const|reinterpret|dynamic)_cast|u?int(?:\d+_t)?|unsigned|"
    r"signed|long|short|char|bool|float|double|size_t|dim3|(?:cuda|cublas|cufft|curand|cusparse)[A-Z]\w*|"
    r"make_(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|f?printf|puts|exit|free|malloc|min|max|abs|"
    r"(?:ceil|floor|sqrt|pow|log|log2|log10|exp)f?)$"
)
"""Words before brackets whose contents are values."""
_MOST_LOOKS: Final = 2
_SHORT: Final = 4000
"""How often a text, and so many characters more, is looked through, a statement at a time."""
_ASKS: Final = re.compile("cudaFunc|cudaOccupancy|cuFunc|cuOccupancy")
"""Functions that ask for properties of a kernel, or set them."""
_CHANGES: Final = frozenset(
    {"swap", "exchange", "tie", "ref", "advance", "getline", "from_chars", "iter_swap", "modf", "frexp", "get", "read"}
)
"""Functions of the C++ library that change a number that they get."""
_WORDS: Final = re.compile(
    r"(?:auto|bool|break|case|catch|char|class|const|constexpr|continue|default|delete|do|double|else|enum|extern|false|"
    r"float|for|goto|if|inline|int|long|namespace|new|nullptr|operator|private|protected|public|return|short|signed|"
    r"sizeof|static|std|struct|switch|template|this|throw|true|try|typedef|typename|union|unsigned|using|void|volatile|"
    r"while)$"
)
_TYPES: Final = frozenset({"auto", "bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned"})


@dataclass(frozen=True, slots=True)
class Unread:
    """The names of variables that may be changed in statements that could not be read, and where all names in them
    stand: in which file, at which character."""

    changed: frozenset[str] = frozenset()
    named: Mapping[str, frozenset[tuple[str, int]]] = field(default_factory=dict)


def unread_by(library: Library, unit: int, diagnostics: Iterable[Diagnostic], main: tuple[str, bytes | None]) -> Unread:
    """Return what the statements may do that diagnostics of a unit are about; `main`: the path of the file that was
    parsed, and its text where the file's own does not count."""
    offsets: dict[str, set[int]] = {}
    for _, _, file, _, offset in diagnostics:
        offsets.setdefault(file, set()).add(offset)
    changed: set[str] = set()
    named: dict[str, set[tuple[str, int]]] = {}
    for file, places in offsets.items():
        read = AsRead(partial(_is_lost, library, unit, file), partial(_is_body, library, unit, file))
        for found in find_unread(_read(file, main), places, read):
            changed |= found.changed
            for name, at in found.named:
                named.setdefault(name, set()).add((file, at))
    return Unread(frozenset(changed), {name: frozenset(at) for name, at in named.items()})


def _read(file: str, main: tuple[str, bytes | None]) -> str:
    path, text = main
    if file == path.removeprefix("./") and text is not None:
        return text.decode("latin-1")
    try:
        return Path(file).read_bytes().decode("latin-1")
    except OSError:
        return ""


def _cursor_at(library: Library, unit: int, file: str, offset: int) -> Cursor | None:
    names = [name.encode("utf-8", "surrogateescape") for name in (file, f"./{file}")]
    handle = next((found for name in names if (found := library.getFile(unit, name))), None)
    return library.getCursor(unit, library.getLocationForOffset(unit, handle, offset)) if handle is not None else None


def _is_lost(library: Library, unit: int, file: str, offset: int) -> bool:
    """Whether a variable is declared at a place that the parser could make nothing of: it is silent about its uses."""
    cursor = _cursor_at(library, unit, file, offset)
    return cursor is not None and cursor.kind == kinds.VAR_DECL and bool(library.isInvalidDeclaration(cursor))


def _is_body(library: Library, unit: int, file: str, offset: int) -> bool:
    """Whether a block of code that begins at a place was read."""
    cursor = _cursor_at(library, unit, file, offset)
    return cursor is not None and cursor.kind == kinds.COMPOUND


@dataclass(frozen=True, slots=True)
class AsRead:
    """What the parser made of places: whether it is silent about the uses of a variable that is declared there; whether
    it has read the block of code that begins there."""

    is_lost: Callable[[int], bool]
    is_body: Callable[[int], bool]


def find_unread(text: str, offsets: Iterable[int], read: AsRead) -> Collection[UnreadNames]:
    """Return the names in the statements of a file at which errors are; `offsets`: where these are, in characters."""
    statements = _Statements(text)
    pending = {offset for offset in offsets if not statements.is_blank(offset)}
    looked: dict[tuple[int, int], UnreadNames] = {}
    lost: set[str] = set()
    spent = 0
    while pending:
        offset = pending.pop()
        start, end = region = statements.around(offset)
        spent += end - start
        if spent > _MOST_LOOKS * (len(text) + _SHORT):
            # as if nothing of it had been read
            return [UnreadNames(list(_TOKEN.finditer(statements.text)))]
        body = statements.body(start, end)
        if body is not None and offset < body and read.is_body(body):
            start, end = region = start, body
        if region not in looked:
            looked[region] = UnreadNames(list(_TOKEN.finditer(statements.text, start, end)))
        for name, at in looked[region].declared_at(offset):
            if name not in lost and read.is_lost(at):
                lost.add(name)
                pending |= {one.start() for one in re.finditer(rf"\b{re.escape(name)}\b", statements.text)}
    return looked.values()


class _Statements:
    """The statements of a text, in which comments, strings and directives are blank."""

    def __init__(self, text: str) -> None:
        self.text = _BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self.starts = [(0, 0)]
        """From which place on statements begin where."""
        depths, begun = [0], [0]
        """Brackets that are open in each block of code, and where its statement begins."""
        lists: list[bool] = []
        for found in _BOUND.finditer(self.text):
            mark, end = found[0], found.end()
            if mark in "([":
                depths[-1] += 1
            elif mark in ")]":
                depths[-1] = max(0, depths[-1] - 1)
            elif mark == "{":
                lists.append(self._is_list(found.start()))
                if not lists[-1]:
                    depths.append(0)
                    begun.append(end)
                    self.starts.append((end, end))
            elif mark == "}":
                if lists and not lists.pop():
                    depths, begun = depths[:-1] or [0], begun[:-1] or [0]
                    # behind the body of a closure the statement goes on that it is in
                    begun[-1] = begun[-1] if depths[-1] else end
                    self.starts.append((end, begun[-1]))
            elif not depths[-1]:
                begun[-1] = end
                self.starts.append((end, end))

    def _is_list(self, at: int) -> bool:
        before = self.text[max(0, at - 80) : at].rstrip()
        word = re.search(r"[A-Za-z_]\w*$", before)
        return before.endswith(("=", ",", "(", "{", ">")) or (word is not None and word[0] not in _BLOCKS)

    def is_blank(self, offset: int) -> bool:
        """Whether there is no code at a place: an error of a directive is about none."""
        return not self.text[offset : offset + 1].strip()

    def around(self, offset: int) -> tuple[int, int]:
        """Return where the statement begins and ends that has a place in it; with the block of code that follows it."""
        start = self.starts[bisect_right(self.starts, (offset, len(self.text))) - 1][1]
        depth = 0
        for found in _BOUND.finditer(self.text, start):
            mark = found[0]
            depth += (mark in "([{") - (mark in ")]}")
            if depth < 0 or (depth == 0 and mark == ";" and found.start() >= offset):
                return start, found.start()
            if depth == 0 and mark == "}" and not self._goes_on(found.end()):
                return start, found.end()
        return start, len(self.text)

    def body(self, start: int, end: int) -> int | None:
        """Return where the body of the function begins that is defined there; None where none is."""
        first = _NAME.search(self.text, start, end)
        if first is None or first[0] in _CONTROLS:
            return None
        depth = 0
        for found in _BOUND.finditer(self.text, start, end):
            if found[0] == "{" and not depth:
                return found.start() if not self._is_list(found.start()) else None
            depth += (found[0] in "([{") - (found[0] in ")]}")
        return None

    def _goes_on(self, at: int) -> bool:
        return re.match(r"\s*(else\b|while\b|catch\b|[;,).\]])", self.text[at:]) is not None


class UnreadNames:
    """The names in one statement: those that it may change, and all, with their places."""

    def __init__(self, found: Sequence[re.Match[str]]) -> None:
        self.tokens = [one[0] for one in found]
        self.places = [one.start() for one in found]
        self.changed: set[str] = set()
        self.declared: list[int] = []
        auto = next((at for at, token in enumerate(self.tokens) if token == "auto"), len(self.tokens))
        self.bindings = next((at for at in range(auto, len(self.tokens)) if self.tokens[at] == "["), None)
        """Where the brackets may begin of `auto [a, b] = …`."""
        self.named: list[tuple[str, int]] = []
        callees: list[str | None] = []
        around: list[str] = []
        for at, token in enumerate(self.tokens):
            if token in ("(", "{"):
                callees.append(self._callee(at))
                around.append(self._token(at - 1))
            elif token in (")", "}"):
                callees[-1:], around[-1:] = [], []
            elif _is_name(token):
                self._look(at, callees[-1] if callees else None)
                if not any(map(_ASKS.match, around)):
                    self.named.append((token, self.places[at]))

    def declared_at(self, offset: int) -> list[tuple[str, int]]:
        """Return the names in whose declaration there is a place, with theirs."""
        return [(self.tokens[at], self.places[at]) for at in self.declared if self._holds(at, offset)]

    def _holds(self, at: int, offset: int) -> bool:
        """Whether a place is between the marks that end what stands before a declaration, and the declaration."""
        first = next((n for n in range(at, -1, -1) if self.tokens[n] in (";", "(", "{", "}")), -1)
        last = next((n for n in range(at, len(self.tokens)) if self.tokens[n] == ";"), len(self.tokens))
        start = self.places[first] if first >= 0 else -1
        return start < offset and (last == len(self.tokens) or offset < self.places[last])

    def _token(self, at: int) -> str:
        return self.tokens[at] if 0 <= at < len(self.tokens) else ""

    def _look(self, at: int, callee: str | None) -> None:
        """Take note of a name; `callee`: what the brackets around it are of, None where they take values."""
        name, before = self.tokens[at], self._token(at - 1)
        after, method = self._behind(at)
        follows = self._token(after)
        if before in (".", "->", "::"):
            return
        taken = before == "&" and not _ENDS_VALUE.search(self._token(at - 2))
        whole = callee is not None and before in ("(", ",", "{") and follows in (")", ",", "}")
        if follows in _ASSIGNS or before in ("++", "--", ">>") or taken or whole or method:
            self.changed.add(name)
        if self._is_declared(at, before):
            self.declared.append(at)
            self.changed.add(name)
            if before == "&" and self._token(at + 1) == "=" and _is_name(self._token(at + 2)):
                self.changed.add(self._token(at + 2))

    def _is_declared(self, at: int, before: str) -> bool:
        """Whether a name is declared: a type stands before it, and behind it what makes a variable."""
        by = self._token(at - 2)
        pointed = before in ("&", "*") and (by in _TYPES or by == ">" or (_is_name(by) and self._begins(at - 2)))
        in_list = before in ("[", ",") and self.bindings is not None and at > self.bindings
        typed = _is_name(before) or before == ">" or before in _TYPES or pointed
        return in_list or (typed and self._token(at + 1) in ("=", "(", "{", ";", ",", "[", "", ":"))

    def _begins(self, at: int) -> bool:
        return self._token(at - 1) in ("", "const", "(", ";", "{", "::")

    def _behind(self, at: int) -> tuple[int, bool]:
        """Return the place behind a name and its subscripts and members; whether a method of it is called."""
        place = at + 1
        while True:
            token = self._token(place)
            if token == "[":
                place = self._close(place)
            elif token in (".", "->"):
                if self._token(place + 2) == "(":
                    return place, True
                place += 2
            else:
                return place, False

    def _close(self, at: int) -> int:
        depth = 0
        for place in range(at, len(self.tokens)):
            depth += (self.tokens[place] == "[") - (self.tokens[place] == "]")
            if not depth:
                return place + 1
        return len(self.tokens)

    def _callee(self, at: int) -> str | None:
        """Return what brackets are of, None where what is in them are values."""
        before = self._token(at - 1)
        if not _is_name(before) and not _WORDS.match(before):
            # <<<grid, block>>>(…) and brackets of sums; a function with arguments of a template is not known
            return "" if before == ">" and self._token(at - 2) not in (">>", ">") else None
        if _VALUES.match(before):
            return None
        if self._token(at - 2) == "::" and self._token(at - 3) in ("std", "chrono", "this_thread"):
            return before if before in _CHANGES else None
        first, type = (
            next((token for token in self.tokens if token not in ("const", "static")), ""),
            self._token(at - 2),
        )
        of_library = type in ("dim3", *_TYPES) or (first == "std" and (type == ">" or self._token(at - 3) == "::"))
        return None if of_library and "ref" not in self.tokens else before


def _is_name(token: str) -> bool:
    return _NAME.fullmatch(token) is not None and not _WORDS.match(token)
