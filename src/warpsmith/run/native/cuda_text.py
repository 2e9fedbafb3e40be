"""CUDA text becomes C++ text that the emulation's headers understand, line for line.

Invariant: the result has the same line ends at the same places, so that a line number of the compiled program is a
line number of the user's file; text without CUDA's own syntax is returned unchanged.

    k<T><<<g, b>>>(a, n);          ::ws::launch(g, b).of("k<T>", [=](auto... ws_x) { k<T>(ws_x...); })(a, n);
    extern __shared__ float s[];   float (&s)[] = *reinterpret_cast<float (*)[]>(ws_dynamic_shared());
    __device__ int count;          __device__ int count; static const ::ws::Registered ws_variable_count(count, ...);

Limits: a launch whose kernel is spelled with an operator other than `::`, `.`, `->`, `[]`, `()` or template arguments,
and device variables that a macro declares, are left as they stand.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.base.c_lexer import CUDA, GAPS, Token, lex
from warpsmith.base.c_text import mask_code

__all__ = ["has_cuda_syntax", "rewrite_cuda"]

_CUDA_WORDS = ("<<<", "__shared__", "__device__", "__constant__", "__managed__", "__noinline__", "cudaLaunch")
_KINDS = {"__device__": "device_variable", "__constant__": "constant_variable", "__managed__": "managed_variable"}
_OPEN = {")": "(", "]": "[", "}": "{"}
_CLOSE = {"(": ")", "[": "]", "{": "}"}
_WITH_PARENTHESES = {"__align__", "__builtin_align__", "__attribute__", "alignas", "decltype", "__launch_bounds__"}
_LAUNCH_CALLS = {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"}


class _Text(Struct):
    """The tokens of a file; `out`: what each becomes; `seen`: the indices of those that are no gap."""

    tokens: list[Token]
    out: list[str]
    seen: list[int]

    def at(self, place: int) -> str:
        """Return the token at a place among `seen`, or the empty string beyond the ends."""
        if not 0 <= place < len(self.seen):
            return ""
        token = self.tokens[self.seen[place]]
        return token.sign or token.spelling

    def is_word(self, place: int) -> bool:
        """Whether the token at `place` is an identifier or keyword."""
        return 0 <= place < len(self.seen) and self.tokens[self.seen[place]].kind == "word"

    def erase(self, first: int, last: int) -> None:
        """Remove the tokens from place `first` to place `last`, with what is between; line ends stay."""
        for index in range(self.seen[first], self.seen[last] + 1):
            self.out[index] = _line_ends(self.tokens[index])

    def source(self, first: int, last: int) -> str:
        """Return the text from place `first` to place `last` on one line, without comments."""
        return " ".join(self.at(place) for place in range(first, last + 1))

    def in_directive(self, place: int) -> bool:
        """Whether the token at `place` stands on a preprocessor line."""
        return self.tokens[self.seen[place]].directive


def has_cuda_syntax(text: str) -> bool:
    """Whether `text` has words that only CUDA's compiler understands, in its code: not in comments or strings."""
    if not any(word in text for word in _CUDA_WORDS):
        return False
    code = mask_code(text, CUDA)
    return any(word in code for word in _CUDA_WORDS)


def rewrite_cuda(text: str) -> str:
    """Return `text` as C++ for the emulation; every line keeps its number."""
    if not has_cuda_syntax(text):
        return text
    parts = _split(text)
    _rewrite_launches(parts)
    _rewrite_launch_calls(parts)
    _rewrite_shared(parts)
    _register_variables(parts)
    _rewrite_noinline(parts)
    return "".join(parts.out)


def _line_ends(token: Token) -> str:
    """Return the line ends in a token; those inside one are splices, so that a preprocessor line goes on."""
    return token.text if token.kind == "newline" else "\\\n" * token.text.count("\n")


def _split(text: str) -> _Text:
    tokens = list(lex(text, CUDA))
    seen = [index for index, token in enumerate(tokens) if token.kind not in GAPS]
    return _Text(tokens, [token.text for token in tokens], seen)


def _match_back(parts: _Text, place: int) -> int:
    """Return the place of the bracket that the closing one at `place` answers, or -1."""
    close = parts.at(place)
    depth = 0
    while place >= 0:
        token = parts.at(place)
        if token == close:
            depth += 1
        elif token == _OPEN[close]:
            depth -= 1
            if depth == 0:
                return place
        place -= 1
    return -1


def _match_on(parts: _Text, place: int) -> int:
    """Return the place of the bracket that answers the opening one at `place`, or the last place."""
    open_ = parts.at(place)
    depth = 0
    while place < len(parts.seen):
        token = parts.at(place)
        depth += (token == open_) - (token == _CLOSE[open_])
        if depth == 0:
            return place
        place += 1
    return len(parts.seen) - 1


def _angle_back(parts: _Text, place: int) -> int:
    """Return the place of the `<` that opens the template arguments ending at `place`, or -1."""
    depth = 0
    while place >= 0:
        token = parts.at(place)
        if token in (">", ">>", ">>>"):
            depth += len(token)
        elif token == "<":
            depth -= 1
            if depth == 0:
                return place
        elif token in (")", "]"):
            place = _match_back(parts, place)
        elif token in (";", "{", "}"):
            return -1
        place -= 1
    return -1


def _postfix_back(parts: _Text, place: int) -> int:
    """Return where the name or bracketed piece that ends at `place` starts, or -1."""
    token = parts.at(place)
    if parts.is_word(place):
        return place
    if token in (">", ">>", ">>>"):
        opened = _angle_back(parts, place)
        return opened - 1 if opened > 0 and parts.is_word(opened - 1) else -1
    if token in (")", "]"):
        opened = _match_back(parts, place)
        before = opened - 1
        named = parts.is_word(before) and parts.at(before) not in ("return", "else", "do")
        return before if opened >= 0 and (named or token == "]") else opened
    return -1


def _kernel_start(parts: _Text, last: int) -> int:
    """Return the place where the kernel expression that ends at place `last` starts, or -1."""
    start = _postfix_back(parts, last)
    while start > 0 and parts.at(start - 1) in ("::", ".", "->", "##"):
        before = _postfix_back(parts, start - 2)
        if before < 0 or parts.at(before) in ("return", "else", "do"):
            return start - 1 if parts.at(start - 1) == "::" else -1
        start = before
    return start


def _launch_end(parts: _Text, place: int) -> int:
    """Return the place of the `>>>` that closes the launch opened at `place`, or -1."""
    place += 1
    while place < len(parts.seen):
        token = parts.at(place)
        if token == ">>>":
            return place
        if token in _CLOSE:
            place = _match_on(parts, place)
        elif token in (";", "}"):
            return -1
        place += 1
    return -1


def _rewrite_launches(parts: _Text) -> None:
    for place in range(len(parts.seen)):
        if parts.at(place) != "<<<":
            continue
        start, end = _kernel_start(parts, place - 1), _launch_end(parts, place)
        if start < 0 or end < 0:
            continue
        kernel = parts.source(start, place - 1)
        name = kernel.replace(" ", "").replace("\\", "\\\\").replace('"', '\\"')
        call = f'"{name}", [=](auto... ws_x) {{ {kernel}(ws_x...); }}'
        parts.erase(start, place - 1)
        parts.out[parts.seen[place]] = "::ws::launch("
        parts.out[parts.seen[end]] = f").of({call})"
        if parts.at(end + 1) == "(":
            _null_pointers(parts, end + 1)


def _null_pointers(parts: _Text, opened: int) -> None:
    """Arguments are passed by their own types, so NULL must be a pointer."""
    for place in range(opened, _match_on(parts, opened)):
        if parts.at(place) == "NULL":
            parts.out[parts.seen[place]] = "nullptr"


def _rewrite_launch_calls(parts: _Text) -> None:
    """`cudaLaunchKernel((void *)k, ...)`: the cast hides the parameters that the emulation needs."""
    for place in range(len(parts.seen)):
        if parts.at(place) not in _LAUNCH_CALLS or parts.at(place + 1) != "(":
            continue
        first = place + 2
        if parts.at(first) == "(" and parts.at(_match_on(parts, first) - 1) == "*":
            parts.erase(first, _match_on(parts, first))


def _rewrite_shared(parts: _Text) -> None:
    for place in range(len(parts.seen)):
        if parts.at(place) != "__shared__":
            continue
        for near in (place - 1, place + 1):
            if parts.at(near) == "static":
                parts.erase(near, near)
        start = _declaration_start(parts, place)
        if any(parts.at(p) == "extern" for p in range(start, place + 3)):
            _rewrite_dynamic(parts, start, place)


def _declaration_start(parts: _Text, place: int) -> int:
    """Return the place of the first token of the declaration that holds `place`."""
    while place > 0 and parts.at(place - 1) not in (";", "{", "}", ":", "") and not parts.in_directive(place - 1):
        place -= 1
    return place


def _rewrite_dynamic(parts: _Text, start: int, place: int) -> None:
    """`extern __shared__ T name[][n];` becomes a reference to the launch's dynamic shared memory."""
    end = place
    while end < len(parts.seen) and parts.at(end) not in (";", "["):
        end += 1
    bracket = end
    while end < len(parts.seen) and parts.at(end) != ";":
        end += 1
    if parts.at(bracket) != "[" or end >= len(parts.seen):
        return
    kept: list[str] = []
    position = start
    while position < bracket - 1:
        token = parts.at(position)
        if token in _WITH_PARENTHESES and parts.at(position + 1) == "(":
            position = _match_on(parts, position + 1)
        elif token not in ("extern", "__shared__"):
            kept.append(token)
        position += 1
    type_, name, extents = " ".join(kept), parts.at(bracket - 1), parts.source(bracket, end - 1)
    parts.erase(start, end)
    text = f"{type_} (&{name}){extents} = *reinterpret_cast<{type_} (*){extents}>(ws_dynamic_shared());"
    index = parts.seen[start]
    parts.out[index] = text + parts.out[index]


def _outside_functions(parts: _Text) -> Iterator[int]:
    """Yield the places that stand at namespace scope and on no preprocessor line."""
    inner = 0
    scopes: list[bool] = []
    for place in range(len(parts.seen)):
        token = parts.at(place)
        if parts.in_directive(place):
            continue
        if token == "{":
            outer = "namespace" in (parts.at(place - 1), parts.at(place - 2)) or (
                parts.at(place - 2) == "extern" and parts.at(place - 1).startswith('"')
            )
            scopes.append(outer)
            inner += not outer
        elif token == "}" and scopes:
            inner -= not scopes.pop()
        elif inner == 0:
            yield place


def _register_variables(parts: _Text) -> None:
    last_end = -1
    for place in list(_outside_functions(parts)):
        kind = _KINDS.get(parts.at(place))
        if kind is None or place < last_end:
            continue
        start = _declaration_start(parts, place)
        end = _variable_end(parts, place)
        if end < 0:
            continue
        last_end = end
        words = {parts.at(p) for p in range(start, end)}
        if "template" in words or ("extern" in words and "=" not in words and '"C"' not in words):
            continue
        if "__managed__" in words:
            kind = _KINDS["__managed__"]
        elif "__constant__" in words:
            kind = _KINDS["__constant__"]
        notes = [
            f' static const ::ws::Registered ws_variable_{name}({name}, "{name}", ::ws::{kind});'
            for name in _declared_names(parts, place, end)
        ]
        parts.out[parts.seen[end]] += "".join(notes)


def _variable_end(parts: _Text, place: int) -> int:
    """Return the place of the `;` that ends the variable declared from `place`, or -1 for a function or type."""
    decided = False
    while place < len(parts.seen):
        token = parts.at(place)
        if token == ";":
            return place
        if not decided and token in ("struct", "class", "enum", "operator", "using", "typedef"):
            return -1
        if token in _WITH_PARENTHESES and parts.at(place + 1) == "(":
            place = _match_on(parts, place + 1)
        elif token == "(" and not decided:
            return -1
        elif token in _CLOSE:
            decided = True
            place = _match_on(parts, place)
        elif token == "=":
            decided = True
        elif token == "}":
            return -1
        place += 1
    return -1


def _declared_names(parts: _Text, place: int, end: int) -> list[str]:
    """Return the names that a declaration declares, between its qualifier and its `;`."""
    names: list[str] = []
    latest, angle, open_ = "", 0, True
    while place < end:
        token = parts.at(place)
        if token in _WITH_PARENTHESES and parts.at(place + 1) == "(":
            place = _match_on(parts, place + 1)
        elif token in _CLOSE:
            open_ = False
            place = _match_on(parts, place)
        elif open_ and token in ("<", ">", ">>", ">>>"):
            angle += 1 if token == "<" else -len(token)
        elif token == "=":
            open_ = False
        elif token == "," and angle == 0:
            names.append(latest)
            open_ = True
        elif open_ and angle == 0 and parts.is_word(place):
            latest = token
        place += 1
    return [*names, latest]


def _rewrite_noinline(parts: _Text) -> None:
    """The word cannot be a macro: system headers use it inside __attribute__."""
    for place in range(len(parts.seen)):
        if parts.at(place) == "__noinline__" and parts.at(place - 1) not in ("(", ","):
            parts.out[parts.seen[place]] = "__attribute__((noinline))"
