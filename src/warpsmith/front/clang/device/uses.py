"""What clang takes in a CUDA file and a device does not: reported as diagnostics, in the worker process only.

    static const double tab[2];   kernel: tab[i]          a constant of the host is there as a value, not in memory
    __global__ void k(int &n)                             what it refers to is memory of the host
    k<<<1, 1>>>(f), auto p = &device_function;            a function has another address on the device
    k<<<1, 1>>>([=] { … })                                a lambda of the host has no code on the device

Source: CUDA C++ Programming Guide, "Const-qualified variables", "__global__ Function Parameters", "Function Pointers",
"Extended Lambdas", "Operators", "RTTI". nvcc 13.0 also takes members of constant structures by value, and constants
that only constant expressions use: so does this walk.
Limits: a function's address is followed through one variable, not through memory; constants in constexpr functions for
devices are not judged, since the call may be evaluated when the program is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.dump import Walk
from warpsmith.front.clang.libclang import ClangType, Cursor

__all__ = ["UseWalk"]

_CLASSES: Final = frozenset({
    kinds.STRUCT_DECL, kinds.CLASS_DECL, kinds.UNION_DECL, kinds.CLASS_TEMPLATE, kinds.PARTIAL_SPECIALIZATION,
})  # fmt: skip
_AROUND: Final = frozenset({
    kinds.LINKAGE_SPEC, kinds.NAMESPACE, kinds.STRUCT_DECL, kinds.CLASS_DECL, kinds.UNION_DECL, kinds.UNEXPOSED_DECL,
})  # fmt: skip
_SPACES: Final = frozenset({kinds.CUDA_CONSTANT, kinds.CUDA_DEVICE, kinds.CUDA_SHARED})
_CASTS: Final = frozenset({
    kinds.CAST, kinds.STATIC_CAST, kinds.REINTERPRET_CAST, kinds.CONST_CAST, kinds.FUNCTIONAL_CAST,
})  # fmt: skip
_UNEVALUATED: Final = frozenset({kinds.SIZEOF, kinds.STATIC_ASSERT})
_REFERENCES: Final = frozenset({kinds.T_LVALUE_REFERENCE, kinds.T_RVALUE_REFERENCE})
_ARRAYS: Final = frozenset({kinds.T_CONSTANT_ARRAY, kinds.T_INCOMPLETE_ARRAY, kinds.T_VARIABLE_ARRAY})
_TERSE: Final = 17
_COMMA: Final = kinds.BINARY_OPERATORS.index(",")
_CONFIGURES: Final = "cudaConfigureCall"
_NOT_ON_DEVICES: Final = {kinds.DYNAMIC_CAST: "dynamic_cast", kinds.TYPEID: "typeid"}


@dataclass(frozen=True, slots=True)
class _Task:
    """An expression or statement that is to be looked at.

    `device`: device code runs it; `folds`: that may be evaluated when the program is compiled; `value`: only its value
    is used; `called`: it is what a call calls; `launched`: a kernel gets it.
    """

    cursor: Cursor
    device: bool
    folds: bool = False
    value: bool = False
    called: bool = False
    launched: bool = False


class UseWalk(Walk):
    """The walk; what it finds is in `said`."""

    despite_errors = True

    def run(self, unit: int) -> None:
        """Look through the functions of the user's, and through the instances of templates that they name."""
        self._functions: list[Cursor] = []
        self._queued: set[int | None] = set()
        for top in self.places.children(self.library.getTranslationUnitCursor(unit)):
            if self._is_users(top):
                self._walk_declarations(top)
        while self._functions and self._count < self.limit:
            self._function(self._functions.pop())
        self.said = list(dict.fromkeys(self.said))

    def _walk_declarations(self, cursor: Cursor) -> None:
        """Queue the functions of a declaration."""
        if cursor.kind in _AROUND:
            for part in self.places.children(cursor):
                self._walk_declarations(part)
        elif cursor.kind in kinds.FUNCTIONS:
            self._queue(cursor)

    def _queue(self, cursor: Cursor) -> None:
        definition = self.library.getCursorDefinition(cursor)
        if definition.kind in kinds.FUNCTIONS and definition.first not in self._queued and self._is_users(definition):
            self._queued.add(definition.first)
            self._functions.append(Cursor.from_buffer_copy(definition))

    def _function(self, function: Cursor) -> None:
        parts = self.places.children(function)
        marked = {part.kind for part in parts}
        device = bool(marked & {kinds.CUDA_DEVICE, kinds.CUDA_GLOBAL})
        if kinds.CUDA_GLOBAL in marked:
            self._kernel(function, [part for part in parts if part.kind == kinds.PARM_DECL])
        folds = device and "constexpr" in self._print_cursor(function)
        stack = [_Task(part, device, folds) for part in parts if part.kind != kinds.PARM_DECL]
        while stack:
            self._count += 1
            stack += self._below(stack.pop())

    # --- kernels

    def _kernel(self, kernel: Cursor, parameters: list[Cursor]) -> None:
        name = self._name(kernel)
        for parameter in parameters:
            if self._type(parameter).kind in _REFERENCES:
                self._say(
                    parameter,
                    f"the kernel '{name}' takes '{self._name(parameter)}' by reference: it would be memory of the host",
                )
        for number in range(self.library.Cursor_getNumTemplateArguments(kernel)):
            if self.library.Cursor_getTemplateArgumentKind(kernel, number) == kinds.ARGUMENT_TYPE:
                for closure in self._closures(self.library.Cursor_getTemplateArgumentType(kernel, number)):
                    self._say(closure, f"a lambda of the host is a template argument of the kernel '{name}'")

    def _closures(self, type: ClangType, depth: int = 0) -> Iterator[Cursor]:
        """Yield the lambdas of host code among a type and its template arguments."""
        canonical = self.library.getCanonicalType(type)
        declared = Cursor.from_buffer_copy(self.library.getTypeDeclaration(canonical))
        if self.library.text(self.library.getTypeSpelling(canonical)).removeprefix("const ").startswith("(lambda at "):
            methods = [part for part in self.places.children(declared) if part.kind == kinds.CXX_METHOD]
            marked = {kind for method in methods for kind in self._attributes(method)}
            if kinds.CUDA_DEVICE not in marked and not self._in_device_code(declared):
                yield declared
        for number in range(self.library.Type_getNumTemplateArguments(canonical) if depth < 8 else 0):
            yield from self._closures(self.library.Type_getTemplateArgumentAsType(canonical, number), depth + 1)

    def _in_device_code(self, closure: Cursor) -> bool:
        parent = self.library.getCursorSemanticParent(closure)
        while parent.kind not in (*kinds.FUNCTIONS, kinds.TRANSLATION_UNIT) and parent.first:
            parent = self.library.getCursorSemanticParent(parent)
        return bool(self._attributes(parent) & {kinds.CUDA_DEVICE, kinds.CUDA_GLOBAL})

    # --- expressions and statements

    def _below(self, task: _Task) -> Iterator[_Task]:
        """Say what is wrong with an expression by itself, and yield what is below it."""
        cursor, kind = task.cursor, task.cursor.kind
        plain = _Task(cursor, task.device, task.folds, launched=task.launched)
        if kind in _UNEVALUATED or kinds.FIRST_ATTRIBUTE <= kind <= kinds.LAST_ATTRIBUTE:
            return
        if kind in (kinds.DECL_REF, kinds.MEMBER_REF_EXPR):
            self._check_name(task)
        if kind == kinds.DECL_REF:
            return
        if task.device and kind in _NOT_ON_DEVICES:
            self._say(cursor, f"device code has no {_NOT_ON_DEVICES[kind]}")
            return
        if kind == kinds.VAR_DECL:
            yield from self._walk_initializers(plain)
        elif kind == kinds.CALL:
            yield from self._call(plain)
        elif kind == kinds.SUBSCRIPT and task.device and self._is_folded(cursor):
            return
        elif kind == kinds.CASE:
            yield from (replace(plain, cursor=part) for part in self.places.children(cursor)[1:])
        else:
            value = self._passes_value(task)
            for part in self.places.children(cursor):
                called = task.called and kind in (kinds.UNEXPOSED_EXPR, kinds.PAREN)
                yield replace(plain, cursor=part, value=value, called=called)

    def _passes_value(self, task: _Task) -> bool:
        """Whether of the operands of an expression only the values are used."""
        kind = task.cursor.kind
        if kind in _CASTS:
            return self._type(task.cursor).kind not in _REFERENCES
        if kind in (kinds.PAREN, kinds.CONDITIONAL, kinds.MEMBER_REF_EXPR):
            return task.value
        if kind == kinds.BINARY and int(self.library.getCursorBinaryOperatorKind(task.cursor)) == _COMMA:
            return task.value
        return bool(kind == kinds.UNEXPOSED_EXPR)

    def _is_folded(self, element: Cursor) -> bool:
        """Whether an element of a class's constant array is a constant."""
        parts = self.places.children(element)
        while parts and parts[0].kind in (kinds.UNEXPOSED_EXPR, kinds.PAREN):
            parts[:1] = self.places.children(parts[0])
        if len(parts) != 2 or not self._is_constant(parts[1]):
            return False
        array = Cursor.from_buffer_copy(self.library.getCursorReferenced(parts[0]))
        return self._type(array).kind in _ARRAYS and self._is_static_member(array)

    def _is_static_member(self, variable: Cursor) -> bool:
        return int(self.library.getCursorSemanticParent(variable).kind) in _CLASSES

    def _walk_initializers(self, plain: _Task) -> Iterator[_Task]:
        """Yield a variable's initializer, but that of a constant: it is evaluated when the program is compiled."""
        variable = plain.cursor
        init = self.library.Cursor_getVarDeclInitializer(variable)
        if not init.second:
            return
        type = self._type(variable)
        constant = bool(self.library.isConstQualifiedType(type)) and type.kind in kinds.ARITHMETIC
        if constant and self._is_constant(init):
            return
        yield replace(plain, cursor=Cursor.from_buffer_copy(init))

    def _is_constant(self, expression: Cursor) -> bool:
        number = self._evaluate_constant(expression)
        return self.values[number] is not None

    def _call(self, plain: _Task) -> Iterator[_Task]:
        call = plain.cursor
        parts = self.places.children(call)
        referenced = Cursor.from_buffer_copy(self.library.getCursorReferenced(call))
        if referenced.kind in kinds.FUNCTIONS:
            self._queue(referenced)
        launch = len(parts) > 1 and parts[1].kind == kinds.CALL and self._name(parts[1]) == _CONFIGURES
        if launch:
            self._queue(referenced)
            yield replace(plain, cursor=parts[1], launched=False)
            yield from (replace(plain, cursor=part, launched=True) for part in parts[2:])
            return
        # a constructor has arguments only; what copies an object uses its value
        made = referenced.kind == kinds.CONSTRUCTOR
        for place, part in enumerate(parts):
            called = place == 0 and not made
            value = called or (made and self._is_record(part))
            yield _Task(part, plain.device, plain.folds, value=value, called=called, launched=plain.launched and made)

    def _is_record(self, expression: Cursor) -> bool:
        return int(self._type(expression).kind) == kinds.T_RECORD

    def _check_name(self, task: _Task) -> None:
        """Judge a name that stands for a function or a variable."""
        named = Cursor.from_buffer_copy(self.library.getCursorReferenced(task.cursor))
        if named.kind in kinds.FUNCTIONS:
            self._queue(named)
            self._check_function(task, named)
        elif named.kind == kinds.VAR_DECL and task.device and self._is_constant_of_host(named):
            self._check_constant(task, named)
        elif named.kind == kinds.VAR_DECL and task.launched:
            self._check_argument(task, named)

    def _check_argument(self, task: _Task, variable: Cursor) -> None:
        """Judge what a variable that a kernel gets was made from."""
        init = Cursor.from_buffer_copy(self.library.Cursor_getVarDeclInitializer(variable))
        while init.second and init.kind in (kinds.UNEXPOSED_EXPR, kinds.UNARY, kinds.PAREN):
            parts = self.places.children(init)
            if len(parts) != 1:
                return
            init = parts[0]
        if not init.second or init.kind != kinds.DECL_REF:
            return
        function = Cursor.from_buffer_copy(self.library.getCursorReferenced(init))
        if function.kind in kinds.FUNCTIONS:
            self._check_function(replace(task, called=False), function)

    def _check_function(self, task: _Task, function: Cursor) -> None:
        if task.device or function.kind not in (kinds.FUNCTION_DECL, kinds.CXX_METHOD) or not self._is_users(function):
            return
        marked = self._attributes(function)
        name = self._name(function)
        if task.launched and not task.called and kinds.CUDA_GLOBAL not in marked:
            self._say(task.cursor, f"the kernel gets the address that the function '{name}' has on the host")
        elif kinds.CUDA_DEVICE in marked and kinds.CUDA_HOST not in marked:
            what = "calls" if task.called else "takes the address of"
            self._say(task.cursor, f"host code {what} the device function '{name}'")

    def _is_constant_of_host(self, variable: Cursor) -> bool:
        """Whether a variable is one of the host's that never changes; clang judges the others."""
        parent = self.library.getCursorSemanticParent(variable).kind
        if parent not in (*_AROUND, kinds.TRANSLATION_UNIT) or not self._is_users(variable):
            return False
        type = self._type(variable)
        constant = bool(self.library.isConstQualifiedType(type))
        while not constant and type.kind in _ARRAYS:
            type = self.library.getArrayElementType(type)
            constant = bool(self.library.isConstQualifiedType(type))
        return constant and not self._attributes(variable) & _SPACES

    def _check_constant(self, task: _Task, variable: Cursor) -> None:
        if task.folds:
            return
        type = self._type(variable)
        name = self._name(variable)
        if type.kind in _ARRAYS:
            self._say(task.cursor, f"device code uses the array '{name}' of constants, which the host has")
        elif type.kind == kinds.T_POINTER:
            init = self.library.Cursor_getVarDeclInitializer(variable)
            if not task.value or (init.second and self._has_address(Cursor.from_buffer_copy(init))):
                self._say(task.cursor, f"device code uses the constant pointer '{name}', which the host has")
        elif not task.value:
            self._say(task.cursor, f"device code uses the address of the constant '{name}', which the host has")

    def _has_address(self, expression: Cursor) -> bool:
        """Whether an expression names an object: a null pointer has none."""
        stack = [expression]
        while stack:
            part = stack.pop()
            if part.kind in (kinds.DECL_REF, kinds.STRING, kinds.CALL):
                return True
            stack += self.places.children(part)
        return False

    # --- what clang knows

    def _print_cursor(self, cursor: Cursor) -> str:
        policy = self.library.getCursorPrintingPolicy(cursor)
        self.library.PrintingPolicy_setProperty(policy, _TERSE, 1)
        text = self.library.text(self.library.getCursorPrettyPrinted(cursor, policy))
        self.library.PrintingPolicy_dispose(policy)
        return text

    def _attributes(self, cursor: Cursor) -> set[int]:
        kept = Cursor.from_buffer_copy(cursor)
        found = {part.kind for part in self.places.children(kept)}
        return {kind for kind in found if kinds.FIRST_ATTRIBUTE <= kind <= kinds.LAST_ATTRIBUTE}

    def _type(self, cursor: Cursor) -> ClangType:
        type: ClangType = self.library.getCanonicalType(self.library.getCursorType(cursor))
        return type

    def _name(self, cursor: Cursor) -> str:
        return self.library.text(self.library.getCursorSpelling(cursor))

    def _is_users(self, cursor: Cursor) -> bool:
        file, _ = self.places.place(self.library.getCursorLocation(cursor))
        return file >= 0 and self.places.user[file]

    def _say(self, cursor: Cursor, message: str) -> None:
        handle, line, offset = self.library.place(self.library.getCursorLocation(cursor))
        path = self.library.path(handle) if handle else ""
        self.said.append((kinds.SEVERITY_ERROR, message, path, line, offset))
