"""Variables of host code, their members and elements, and what an expression is worth where these are known.

    bs                 (bs, "")                  cfg.block.x        (cfg, ".block.x")
    local[1]           (local, "[1]")            p->n, a[i]         no place: what it is, is not known

Runs in the worker process only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.device.launches.numbers import (
    UNKNOWN,
    Number,
    Numbers,
    call_function,
    fit_type,
    join,
    operate,
    operate_one,
)
from warpsmith.front.clang.libclang import ClangType, Cursor, Library
from warpsmith.front.clang.places import FilePlaces

__all__ = [
    "AXES",
    "CONDITION",
    "CONFIGURES",
    "CREATES",
    "LAUNCHERS",
    "ONES",
    "HostFacts",
    "HostPlaces",
    "Place",
    "Shape",
    "Values",
]

Place = tuple[int, str]
"""A variable, by the address of its declaration, and the way to a member or an element of it."""
Values = dict[Place, Numbers]
Shape = tuple[Numbers, Numbers, Numbers]

AXES: Final = (".x", ".y", ".z")
CONFIGURES: Final = "cudaConfigureCall"
CREATES: Final = "clCreateKernel"
"""The function of OpenCL that gives the handle of a kernel: program, name, address of an error."""
LAUNCHERS: Final = frozenset({"cudaLaunchKernel", "cudaLaunchCooperativeKernel"})
"""Functions that launch their first argument: grid, block, addresses of the arguments, bytes of shared memory, stream
(CUDA Runtime API, "Execution Control")."""
CONDITION: Final = -1
"""The number of the places that stand for conditions, which are no variables: `states.py` has them."""
ONES: Final[Shape] = (frozenset({1}),) * 3
_NOTHING: Final[Shape] = (UNKNOWN,) * 3
_VARIABLES: Final = frozenset({kinds.VAR_DECL, kinds.PARM_DECL})
_REFERENCES: Final = frozenset({kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE})
_CASTS: Final = frozenset({
    kinds.UNEXPOSED_EXPR, kinds.PAREN, kinds.CAST, kinds.STATIC_CAST, kinds.FUNCTIONAL_CAST,
})  # fmt: skip
_OPENCL: Final = "/warpsmith/front/headers/opencl_host/"
_OF_EVERY_DEVICE: Final = {"maxThreadsPerBlock": 1024, "warpSize": 32}
"""Members of cudaDeviceProp that are the same for all GPUs that CUDA 11 and later know."""


@dataclass(slots=True)
class HostFacts:
    """What is known of a file's host code as a whole. `escaped`: variables that something else may change; `shared`:
    what variables of files and static ones may be; `parameters`: what functions get; `asked`: variables whose values
    were asked for and are not known here."""

    escaped: set[int] = field(default_factory=set)
    shared: Values = field(default_factory=dict)
    parameters: Values = field(default_factory=dict)
    asked: dict[int, Cursor] = field(default_factory=dict)


class HostPlaces:
    """Reads expressions of host code; `constant` evaluates a constant expression, `decide` says what a condition is
    worth where it was asked before. `kernels`: names of OpenCL's kernels; a handle is the place in it, from 1."""

    def __init__(self, library: Library, places: FilePlaces, constant: Callable[[Cursor], Number | None]) -> None:
        self.library = library
        self.places = places
        self.constant = constant
        self.facts = HostFacts()
        self.kernels: list[str] = []
        self.decide: Callable[[Cursor, Mapping[Place, Numbers]], bool | None] = lambda _condition, _known: None
        self._children: dict[tuple[int, int | None, int | None], list[Cursor]] = {}

    # --- cursors

    def below(self, cursor: Cursor) -> list[Cursor]:
        """Return the direct children of a cursor."""
        key = cursor.kind, cursor.first, cursor.second
        if key not in self._children:
            self._children[key] = self.places.children(cursor)
        return self._children[key]

    def expressions(self, cursor: Cursor) -> list[Cursor]:
        """Return the children of a cursor that are expressions."""
        return [part for part in self.below(cursor) if kinds.UNEXPOSED_EXPR <= part.kind <= kinds.LAST_EXPR]

    def name(self, cursor: Cursor) -> str:
        """Return the name of what a cursor declares or names."""
        return self.library.text(self.library.getCursorSpelling(cursor))

    def referenced(self, cursor: Cursor) -> Cursor:
        """Return what a cursor names."""
        return Cursor.from_buffer_copy(self.library.getCursorReferenced(cursor))

    def type(self, cursor: Cursor) -> ClangType:
        """Return the type of a cursor, names of types written out."""
        type: ClangType = self.library.getCanonicalType(self.library.getCursorType(cursor))
        return type

    def is_reference(self, variable: Cursor) -> bool:
        """Whether a variable is another name of something."""
        return self.type(variable).kind in _REFERENCES

    def is_shared(self, variable: Cursor) -> bool:
        """Whether a variable outlives its function, or belongs to the file."""
        if variable.kind == kinds.PARM_DECL:
            return False
        inside = self.library.getCursorSemanticParent(variable).kind in kinds.FUNCTIONS
        return not inside or int(self.library.Cursor_getStorageClass(variable)) == kinds.STORAGE_STATIC

    def is_of_opencl(self, function: Cursor) -> bool:
        """Whether our header of OpenCL's host API declares a function."""
        file, _ = self.places.place(self.library.getCursorLocation(function))
        return file >= 0 and _OPENCL in self.places.files[file]

    def is_dim3(self, cursor: Cursor) -> bool:
        """Whether an expression or a variable is a shape."""
        return self.library.text(self.library.getTypeSpelling(self.type(cursor))).removeprefix("const ") == "dim3"

    def init(self, variable: Cursor) -> Cursor | None:
        """Return what a variable is made from."""
        if variable.kind != kinds.VAR_DECL:
            return None
        init = self.library.Cursor_getVarDeclInitializer(variable)
        return Cursor.from_buffer_copy(init) if init.first or init.second else None

    def root(self, cursor: Cursor) -> Cursor | None:
        """Return the variable that an expression leads to by its first operands."""
        target: Cursor | None = cursor
        while target is not None and target.kind != kinds.DECL_REF:
            target = next(iter(self.below(target)), None)
        named = self.referenced(target) if target is not None else None
        return named if named is not None and named.kind in _VARIABLES else None

    # --- places

    def place(self, cursor: Cursor, known: Mapping[Place, Numbers]) -> Place | None:
        """Return the place that an expression names."""
        kind = cursor.kind
        if kind == kinds.DECL_REF:
            variable = self.referenced(cursor)
            return (int(variable.first or 0), "") if variable.kind in _VARIABLES else None
        parts = self.expressions(cursor)
        if kind in (kinds.PAREN, kinds.UNEXPOSED_EXPR) and len(parts) == 1:
            return self.place(parts[0], known)
        if kind == kinds.MEMBER_REF_EXPR and len(parts) == 1 and self.type(parts[0]).kind == kinds.T_RECORD:
            base = self.place(parts[0], known)
            return (base[0], f"{base[1]}.{self.name(cursor)}") if base is not None else None
        if kind == kinds.SUBSCRIPT and len(parts) == 2 and self._is_array(parts[0]):
            base, index = self.place(parts[0], known), self.value(parts[1], known)
            if base is not None and len(index) == 1 and None not in index:
                return base[0], f"{base[1]}[{next(iter(index))}]"
        return None

    def _is_array(self, cursor: Cursor) -> bool:
        while self.type(cursor).kind != kinds.T_CONSTANT_ARRAY:
            parts = self.expressions(cursor)
            if cursor.kind not in (kinds.UNEXPOSED_EXPR, kinds.PAREN) or len(parts) != 1:
                return False
            cursor = parts[0]
        return True

    def read(self, place: Place, variable: Cursor | None, known: Mapping[Place, Numbers]) -> Numbers:
        """Return what a place may hold."""
        if place[0] in self.facts.escaped:
            return UNKNOWN
        for values in (known, self.facts.shared):
            if place in values:
                return values[place]
        if variable is not None and (variable.kind == kinds.PARM_DECL or self.is_shared(variable)):
            self.facts.asked.setdefault(place[0], variable)
        return UNKNOWN

    # --- values

    def value(self, cursor: Cursor, known: Mapping[Place, Numbers]) -> Numbers:
        """Return what an expression may be worth."""
        constant = self.constant(cursor) if cursor.kind != kinds.DECL_REF or self._is_const(cursor) else None
        if constant is not None:
            return frozenset({constant})
        return self.fit(self._computed(cursor, known), self.type(cursor))

    def _is_const(self, name: Cursor) -> bool:
        named = self.referenced(name)
        return named.kind not in _VARIABLES or bool(self.library.isConstQualifiedType(self.type(named)))

    def _computed(self, cursor: Cursor, known: Mapping[Place, Numbers]) -> Numbers:
        kind = cursor.kind
        parts = self.expressions(cursor)
        if kind in _CASTS:
            return self.value(parts[0], known) if len(parts) == 1 else UNKNOWN
        if kind in (kinds.DECL_REF, kinds.MEMBER_REF_EXPR, kinds.SUBSCRIPT):
            return self._stored(cursor, known)
        if kind == kinds.UNARY and len(parts) == 1:
            symbol = kinds.UNARY_OPERATORS[int(self.library.getCursorUnaryOperatorKind(cursor))]
            return operate_one(symbol, self.value(parts[0], known))
        if kind == kinds.BINARY and len(parts) == 2:
            symbol = kinds.BINARY_OPERATORS[int(self.library.getCursorBinaryOperatorKind(cursor))]
            if symbol in (",", "="):
                return self.value(parts[1], known)
            return operate(symbol, *(self.value(part, known) for part in parts))
        if kind == kinds.CONDITIONAL and len(parts) == 3:
            return join(*(self.value(part, known) for part in self.taken(parts[0], parts[1:], known)))
        if kind == kinds.CALL and len(parts) > 1:
            return self._called(cursor, parts, known)
        return UNKNOWN

    def _called(self, call: Cursor, parts: list[Cursor], known: Mapping[Place, Numbers]) -> Numbers:
        function = self.referenced(call)
        file, _ = self.places.place(self.library.getCursorLocation(function))
        own = file >= 0 and self.places.user[file]
        if function.kind not in kinds.FUNCTIONS or own:
            return UNKNOWN
        if self.name(call) == CREATES and len(parts) > 2:
            return self._number_kernel(parts[2])
        return call_function(self.name(call), [self.value(part, known) for part in parts[1:]])

    def _number_kernel(self, name: Cursor) -> Numbers:
        """Return the handle of a kernel that is made by its name."""
        while name.kind in _CASTS and len(self.below(name)) == 1:
            name = self.below(name)[0]
        if name.kind != kinds.STRING:
            return UNKNOWN
        text = self.name(name).strip('"')
        if text not in self.kernels:
            self.kernels.append(text)
        return frozenset({self.kernels.index(text) + 1})

    def taken(self, condition: Cursor, arms: list[Cursor], known: Mapping[Place, Numbers]) -> list[Cursor]:
        """Return which of the two arms of a condition may be taken."""
        decided = self.decide(condition, known)
        if decided is not None:
            return arms[:1] if decided else arms[1:]
        truths = {None if value is None else bool(value) for value in self.value(condition, known)}
        if truths == {True}:
            return arms[:1]
        return arms[1:] if truths == {False} else arms

    def _stored(self, cursor: Cursor, known: Mapping[Place, Numbers]) -> Numbers:
        if cursor.kind == kinds.MEMBER_REF_EXPR and self.name(cursor) in _OF_EVERY_DEVICE:
            record = self.library.getCursorSemanticParent(self.referenced(cursor))
            if self.name(record) == "cudaDeviceProp":
                return frozenset({_OF_EVERY_DEVICE[self.name(cursor)]})
        place = self.place(cursor, known)
        return self.read(place, self.root(cursor), known) if place is not None else UNKNOWN

    def fit(self, numbers: Numbers, type: ClangType) -> Numbers:
        """Return numbers as values of a type."""
        bare = self.library.getPointeeType(type) if type.kind in _REFERENCES else type
        bare = self.library.getCanonicalType(bare)
        if bare.kind not in kinds.ARITHMETIC:
            return numbers if bare.kind == kinds.T_ENUM else UNKNOWN
        _, bits, kind = kinds.ARITHMETIC[bare.kind]
        return fit_type(numbers, bits, kind) if kind != "void" and bits <= 64 else UNKNOWN

    # --- shapes

    def shape(self, cursor: Cursor, known: Mapping[Place, Numbers]) -> Shape:
        """Return the three numbers of an expression that is a dim3, or is made one."""
        while self.is_dim3(cursor) or cursor.kind in _CASTS:
            place = self.place(cursor, known) if self.is_dim3(cursor) else None
            if place is not None:
                variable = self.root(cursor)
                x, y, z = (self.read((place[0], place[1] + axis), variable, known) for axis in AXES)
                return x, y, z
            parts = self.expressions(cursor)
            if cursor.kind == kinds.CONDITIONAL and len(parts) == 3:
                arms = [self.shape(part, known) for part in self.taken(parts[0], parts[1:], known)]
                x, y, z = (join(*sets) for sets in zip(*arms, strict=True))
                return x, y, z
            if len(parts) == 3:
                x, y, z = (self._size(part, known) for part in parts)
                return x, y, z
            if len(parts) != 1 or (cursor.kind == kinds.CALL and self.referenced(cursor).kind != kinds.CONSTRUCTOR):
                return _NOTHING
            cursor = parts[0]
        return _NOTHING

    def _size(self, part: Cursor, known: Mapping[Place, Numbers]) -> Numbers:
        """Return an argument of dim3's constructor; what is left out is 1."""
        numbers = self.value(part, known)
        return frozenset({1}) if numbers == UNKNOWN and self._is_left_out(part) else numbers

    def _is_left_out(self, part: Cursor) -> bool:
        return part.kind == kinds.UNEXPOSED_EXPR and not self.below(part)

    # --- what a variable holds first

    def first_values(self, variable: Cursor, known: Mapping[Place, Numbers]) -> Iterator[tuple[str, Numbers]]:
        """Yield what is known of a variable where it is made: the way to a member or an element, and its values."""
        init = self.init(variable)
        if self.is_dim3(variable):
            shape = ONES if init is None or not self._has_arguments(init) else self.shape(init, known)
            yield from zip(AXES, shape, strict=True)
        elif self.type(variable).kind in kinds.ARITHMETIC or self.type(variable).kind == kinds.T_ENUM:
            if init is not None:
                yield "", self.fit(self.value(init, known), self.type(variable))
        elif init is not None:
            yield from self._aggregate(variable, init, known)

    def _has_arguments(self, init: Cursor) -> bool:
        return init.kind != kinds.CALL or bool(self.expressions(init))

    def _aggregate(
        self, variable: Cursor, init: Cursor, known: Mapping[Place, Numbers]
    ) -> Iterator[tuple[str, Numbers]]:
        """Yield the values of an array or a struct, by the braces that it is made from, or as a copy."""
        source = self.place(init, known) if init.kind != kinds.CALL else self._copied(init, known)
        if source is not None and source[0] not in self.facts.escaped:
            yield from ((way, known[source[0], source[1] + way]) for way in self.ways(source, known))
        if init.kind == kinds.CALL and not self._has_arguments(init):
            yield from self._defaults(self.type(variable), known)
        if init.kind != kinds.INIT_LIST:
            return
        type = self.type(variable)
        if type.kind == kinds.T_CONSTANT_ARRAY:
            names = [f"[{number}]" for number in range(int(self.library.getArraySize(type)))]
        else:
            names = [f".{self.name(part)}" for part in self._fields(type)]
        for name, part in zip(names, self.expressions(init), strict=False):
            if self.type(part).kind in kinds.ARITHMETIC:
                yield name, self.value(part, known)

    def _defaults(self, type: ClangType, known: Mapping[Place, Numbers]) -> Iterator[tuple[str, Numbers]]:
        """Yield the values that a struct's members have by themselves, where no constructor gives others."""
        declared = Cursor.from_buffer_copy(self.library.getTypeDeclaration(type))
        if any(part.kind in (kinds.CONSTRUCTOR, kinds.BASE_SPECIFIER) for part in self.below(declared)):
            return
        for part in self._fields(type):
            given = self.expressions(part)
            if self.is_dim3(part):
                shape = self.shape(given[-1], known) if given else ONES
                yield from ((f".{self.name(part)}{axis}", one) for axis, one in zip(AXES, shape, strict=True))
            elif given and self.type(part).kind in kinds.ARITHMETIC:
                yield f".{self.name(part)}", self.fit(self.value(given[-1], known), self.type(part))

    def _copied(self, call: Cursor, known: Mapping[Place, Numbers]) -> Place | None:
        parts = self.expressions(call)
        made = self.referenced(call).kind == kinds.CONSTRUCTOR
        return self.place(parts[0], known) if made and len(parts) == 1 else None

    def _fields(self, type: ClangType) -> list[Cursor]:
        declared = Cursor.from_buffer_copy(self.library.getTypeDeclaration(type))
        return [part for part in self.below(declared) if part.kind == kinds.FIELD_DECL]

    def ways(self, place: Place, known: Mapping[Place, Numbers]) -> list[str]:
        """Return the ways to what is known in a place."""
        ways = [way[len(place[1]) :] for root, way in known if root == place[0] and way.startswith(place[1])]
        return [way for way in ways if not way or way[0] in ".["]
