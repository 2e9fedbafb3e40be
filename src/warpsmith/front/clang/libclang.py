"""The part of libclang's C interface that we use, through ctypes.

The wheel's own Python layer costs 20 us a node and lacks operator kinds (they are in the library since LLVM 17), so
the few functions needed are declared here. Only the worker process loads the library: it can crash.
"""

from __future__ import annotations

import ctypes
import re
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_longlong, c_uint, c_ulong, c_void_p

__all__ = [
    "CURSOR_VISITOR",
    "FIELD_VISITOR",
    "ClangType",
    "Cursor",
    "Library",
    "Location",
    "SourceRange",
    "load_library",
]

_SAME_FOLDER = re.compile(r"(?<![^/])(?:\./+)+")


class Cursor(Structure):
    """CXCursor."""

    _fields_ = (("kind", c_int), ("xdata", c_int), ("first", c_void_p), ("second", c_void_p), ("third", c_void_p))


class ClangType(Structure):
    """CXType."""

    _fields_ = (("kind", c_int), ("first", c_void_p), ("second", c_void_p))


class Location(Structure):
    """CXSourceLocation."""

    _fields_ = (("first", c_void_p), ("second", c_void_p), ("data", c_uint))


class SourceRange(Structure):
    """CXSourceRange; `begin` and `end` hold clang's own encoding, bit 31 marks a place inside a macro expansion."""

    _fields_ = (("first", c_void_p), ("second", c_void_p), ("begin", c_uint), ("end", c_uint))


class RangeList(Structure):
    """CXSourceRangeList."""

    _fields_ = (("count", c_uint), ("ranges", POINTER(SourceRange)))


class String(Structure):
    """CXString."""

    _fields_ = (("data", c_void_p), ("flags", c_uint))


class UnsavedFile(Structure):
    """CXUnsavedFile."""

    _fields_ = (("name", c_char_p), ("contents", c_char_p), ("length", c_ulong))


FIELD_VISITOR = ctypes.CFUNCTYPE(c_int, Cursor, c_void_p)
CURSOR_VISITOR = ctypes.CFUNCTYPE(c_int, Cursor, Cursor, c_void_p)

_PLACE = [Location, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)]

_FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "createIndex": (c_void_p, [c_int, c_int]),
    "disposeIndex": (None, [c_void_p]),
    "parseTranslationUnit2": (
        c_int,
        [c_void_p, c_char_p, POINTER(c_char_p), c_int, POINTER(UnsavedFile), c_uint, c_uint, POINTER(c_void_p)],
    ),
    "saveTranslationUnit": (c_int, [c_void_p, c_char_p, c_uint]),
    "disposeTranslationUnit": (None, [c_void_p]),
    "getTranslationUnitCursor": (Cursor, [c_void_p]),
    "visitChildren": (c_uint, [Cursor, CURSOR_VISITOR, c_void_p]),
    "getNumDiagnostics": (c_uint, [c_void_p]),
    "getDiagnostic": (c_void_p, [c_void_p, c_uint]),
    "disposeDiagnostic": (None, [c_void_p]),
    "getDiagnosticSeverity": (c_int, [c_void_p]),
    "getDiagnosticSpelling": (String, [c_void_p]),
    "getChildDiagnostics": (c_void_p, [c_void_p]),
    "getNumDiagnosticsInSet": (c_uint, [c_void_p]),
    "getDiagnosticInSet": (c_void_p, [c_void_p, c_uint]),
    "getDiagnosticLocation": (Location, [c_void_p]),
    "getFile": (c_void_p, [c_void_p, c_char_p]),
    "getFileName": (String, [c_void_p]),
    "getFileContents": (c_void_p, [c_void_p, c_void_p, POINTER(ctypes.c_size_t)]),
    "getLocationForOffset": (Location, [c_void_p, c_void_p, c_uint]),
    "getExpansionLocation": (None, _PLACE),
    "getSkippedRanges": (POINTER(RangeList), [c_void_p, c_void_p]),
    "disposeSourceRangeList": (None, [POINTER(RangeList)]),
    "Location_isInSystemHeader": (c_int, [Location]),
    "getRangeStart": (Location, [SourceRange]),
    "getRangeEnd": (Location, [SourceRange]),
    "getCursor": (Cursor, [c_void_p, Location]),
    "getCursorLocation": (Location, [Cursor]),
    "getCursorExtent": (SourceRange, [Cursor]),
    "getCursorSpelling": (String, [Cursor]),
    "getCursorReferenced": (Cursor, [Cursor]),
    "getCursorDefinition": (Cursor, [Cursor]),
    "getCanonicalCursor": (Cursor, [Cursor]),
    "isCursorDefinition": (c_uint, [Cursor]),
    "isInvalidDeclaration": (c_uint, [Cursor]),
    "getCursorSemanticParent": (Cursor, [Cursor]),
    "getCursorLinkage": (c_int, [Cursor]),
    "Cursor_getStorageClass": (c_int, [Cursor]),
    "Cursor_getMangling": (String, [Cursor]),
    "Cursor_isAnonymous": (c_uint, [Cursor]),
    "Cursor_isBitField": (c_uint, [Cursor]),
    "getFieldDeclBitWidth": (c_int, [Cursor]),
    "Cursor_isMacroFunctionLike": (c_uint, [Cursor]),
    "Cursor_getOffsetOfField": (c_longlong, [Cursor]),
    "Cursor_hasAttrs": (c_uint, [Cursor]),
    "getCursorDisplayName": (String, [Cursor]),
    "getSpecializedCursorTemplate": (Cursor, [Cursor]),
    "Cursor_getNumTemplateArguments": (c_int, [Cursor]),
    "Cursor_getTemplateArgumentKind": (c_int, [Cursor, c_uint]),
    "Cursor_getTemplateArgumentType": (ClangType, [Cursor, c_uint]),
    "Cursor_getTemplateArgumentValue": (c_longlong, [Cursor, c_uint]),
    "CXXMethod_isVirtual": (c_uint, [Cursor]),
    "isVirtualBase": (c_uint, [Cursor]),
    "CXXMethod_isDefaulted": (c_uint, [Cursor]),
    "CXXMethod_isConst": (c_uint, [Cursor]),
    "CXXMethod_isStatic": (c_uint, [Cursor]),
    "Type_visitFields": (c_uint, [ClangType, FIELD_VISITOR, c_void_p]),
    "getCXXAccessSpecifier": (c_int, [Cursor]),
    "isPODType": (c_uint, [ClangType]),
    "Type_getNumTemplateArguments": (c_int, [ClangType]),
    "Type_getTemplateArgumentAsType": (ClangType, [ClangType, c_uint]),
    "getCursorBinaryOperatorKind": (c_int, [Cursor]),
    "getCursorUnaryOperatorKind": (c_int, [Cursor]),
    "getIncludedFile": (c_void_p, [Cursor]),
    "getCursorType": (ClangType, [Cursor]),
    "getCanonicalType": (ClangType, [ClangType]),
    "getTypeSpelling": (String, [ClangType]),
    "getTypeDeclaration": (Cursor, [ClangType]),
    "getPointeeType": (ClangType, [ClangType]),
    "getArrayElementType": (ClangType, [ClangType]),
    "getArraySize": (c_longlong, [ClangType]),
    "getElementType": (ClangType, [ClangType]),
    "getResultType": (ClangType, [ClangType]),
    "getNumArgTypes": (c_int, [ClangType]),
    "getArgType": (ClangType, [ClangType, c_uint]),
    "isFunctionTypeVariadic": (c_uint, [ClangType]),
    "isConstQualifiedType": (c_uint, [ClangType]),
    "isVolatileQualifiedType": (c_uint, [ClangType]),
    "isRestrictQualifiedType": (c_uint, [ClangType]),
    "Type_getSizeOf": (c_longlong, [ClangType]),
    "Type_getNamedType": (ClangType, [ClangType]),
    "Type_getAlignOf": (c_longlong, [ClangType]),
    "getNumElements": (c_longlong, [ClangType]),
    "getAddressSpace": (c_uint, [ClangType]),
    "Cursor_getVarDeclInitializer": (Cursor, [Cursor]),
    "getCursorPrintingPolicy": (c_void_p, [Cursor]),
    "PrintingPolicy_setProperty": (None, [c_void_p, c_int, c_uint]),
    "PrintingPolicy_dispose": (None, [c_void_p]),
    "getCursorPrettyPrinted": (String, [Cursor, c_void_p]),
    "getEnumDeclIntegerType": (ClangType, [Cursor]),
    "getEnumConstantDeclValue": (c_longlong, [Cursor]),
    "Cursor_Evaluate": (c_void_p, [Cursor]),
    "EvalResult_getKind": (c_int, [c_void_p]),
    "EvalResult_getAsLongLong": (c_longlong, [c_void_p]),
    "EvalResult_isUnsignedInt": (c_uint, [c_void_p]),
    "EvalResult_getAsUnsigned": (ctypes.c_ulonglong, [c_void_p]),
    "EvalResult_getAsDouble": (c_double, [c_void_p]),
    "EvalResult_dispose": (None, [c_void_p]),
    "getCString": (c_char_p, [String]),
    "disposeString": (None, [String]),
}


class Library:
    """libclang with its functions declared; `call` gives one by its name without `clang_`."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self._library, f"clang_{name}")
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> ctypes._NamedFuncPointer:
        raise AttributeError(name)  # only for the type checker: every function was set in __init__

    def text(self, string: object) -> str:
        """Return a CXString's text, one character a byte, and free it."""
        data = self.getCString(string)
        result = data.decode("latin-1") if data is not None else ""
        self.disposeString(string)
        return result

    def path(self, file: int) -> str:
        """Return the name of a file of clang's as Python names files, without `./`: clang itself leaves it out of some
        names, and keeps it in others."""
        name = self.text(self.getFileName(file)).encode("latin-1").decode("utf-8", "surrogateescape")
        return _SAME_FOLDER.sub("", name)

    def place(self, location: object) -> tuple[int, int, int]:
        """Return (file handle or 0, line, offset) of a location; a macro expansion counts as its use."""
        file, line, column, offset = c_void_p(), c_uint(), c_uint(), c_uint()
        self.getExpansionLocation(
            location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), ctypes.byref(offset)
        )
        return file.value or 0, line.value, offset.value

    def size(self, unit: int, file: int) -> int:
        """Return the length of a file in bytes, -1 where clang does not hold it."""
        size = ctypes.c_size_t()
        return size.value if self.getFileContents(unit, file, ctypes.byref(size)) else -1

    def parse(self, index: object, path: str, arguments: list[str], options: int, text: bytes | None) -> int | None:
        """Return a translation unit handle, or None where clang gives none; `text` replaces the file's content."""
        words = (c_char_p * len(arguments))(*[a.encode("utf-8", "surrogateescape") for a in arguments])
        name = path.encode("utf-8", "surrogateescape")
        unsaved = (UnsavedFile * 1)(UnsavedFile(name, text, len(text))) if text is not None else None
        unit = c_void_p()
        self.parseTranslationUnit2(
            index, name, words, len(arguments), unsaved, int(unsaved is not None), options, ctypes.byref(unit)
        )
        return unit.value


def load_library(path: str) -> Library:
    """Load libclang from `path`; raises OSError as the loader gives it."""
    return Library(path)
