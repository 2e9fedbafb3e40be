"""libclang's numbers for cursors, types and the like that we tell apart (clang-c/Index.h, LLVM 18).

They are those of clang's own module (`clang.cindex`), with which `tests/front/clang/test_kinds.py` compares each of
them. It is not imported here: the worker process runs without site packages, so that it starts at once, and where trees
are built nothing else needs the module. Nowhere else does front have numbers of clang's.
"""

from __future__ import annotations

from typing import Final

UNEXPOSED_DECL: Final = 1
STRUCT_DECL: Final = 2
UNION_DECL: Final = 3
CLASS_DECL: Final = 4
ENUM_DECL: Final = 5
FIELD_DECL: Final = 6
ENUM_CONSTANT: Final = 7
FUNCTION_DECL: Final = 8
VAR_DECL: Final = 9
PARM_DECL: Final = 10
TYPEDEF_DECL: Final = 20
CXX_METHOD: Final = 21
NAMESPACE: Final = 22
LINKAGE_SPEC: Final = 23
CONSTRUCTOR: Final = 24
DESTRUCTOR: Final = 25
CONVERSION: Final = 26
VALUE_PARAMETER: Final = 28
FUNCTION_TEMPLATE: Final = 30
CLASS_TEMPLATE: Final = 31
PARTIAL_SPECIALIZATION: Final = 32
TYPE_ALIAS: Final = 36
TYPES: Final = frozenset({STRUCT_DECL, UNION_DECL, CLASS_DECL, ENUM_DECL, TYPEDEF_DECL, TYPE_ALIAS})
"""What declares a type."""
TYPE_REF: Final = 43
BASE_SPECIFIER: Final = 44
MEMBER_REF: Final = 47
UNEXPOSED_EXPR: Final = 100
DECL_REF: Final = 101
MEMBER_REF_EXPR: Final = 102
CALL: Final = 103
INTEGER: Final = 106
FLOATING: Final = 107
IMAGINARY: Final = 108
STRING: Final = 109
CHARACTER: Final = 110
PAREN: Final = 111
UNARY: Final = 112
SUBSCRIPT: Final = 113
BINARY: Final = 114
COMPOUND_ASSIGN: Final = 115
CONDITIONAL: Final = 116
CAST: Final = 117
COMPOUND_LITERAL: Final = 118
INIT_LIST: Final = 119
ADDRESS_OF_LABEL: Final = 120
STATEMENT_EXPR: Final = 121
GENERIC: Final = 122
GNU_NULL: Final = 123
STATIC_CAST: Final = 124
DYNAMIC_CAST: Final = 125
REINTERPRET_CAST: Final = 126
CONST_CAST: Final = 127
FUNCTIONAL_CAST: Final = 128
TYPEID: Final = 129
CXX_BOOL: Final = 130
NULLPTR: Final = 131
THIS: Final = 132
THROW: Final = 133
NEW: Final = 134
DELETE: Final = 135
SIZEOF: Final = 136
LAMBDA: Final = 144
LAST_EXPR: Final = 199
UNEXPOSED_STMT: Final = 200
LABEL: Final = 201
COMPOUND: Final = 202
CASE: Final = 203
DEFAULT: Final = 204
IF: Final = 205
SWITCH: Final = 206
WHILE: Final = 207
DO: Final = 208
FOR: Final = 209
GOTO: Final = 210
INDIRECT_GOTO: Final = 211
CONTINUE: Final = 212
BREAK: Final = 213
RETURN: Final = 214
ASM: Final = 215
CATCH: Final = 223
TRY: Final = 224
RANGE_FOR: Final = 225
NULL_STMT: Final = 230
DECL_STMT: Final = 231
TRANSLATION_UNIT: Final = 350
STATIC_ASSERT: Final = 602
LAST_STMT: Final = 399
FIRST_ATTRIBUTE: Final = 400
ANNOTATION: Final = 406
LAST_ATTRIBUTE: Final = 499
MACRO_DEFINITION: Final = 501
MACRO_USE: Final = 502
INCLUSION: Final = 503

FUNCTIONS: Final = frozenset({FUNCTION_DECL, CXX_METHOD, CONSTRUCTOR, DESTRUCTOR, CONVERSION})
TEMPLATES: Final = frozenset({FUNCTION_TEMPLATE, CLASS_TEMPLATE, PARTIAL_SPECIALIZATION})

CUDA_CONSTANT: Final = 412
CUDA_DEVICE: Final = 413
CUDA_GLOBAL: Final = 414
CUDA_HOST: Final = 415
CUDA_SHARED: Final = 416
DEVICE_ATTRIBUTES: Final = {
    CUDA_CONSTANT: "constant", CUDA_DEVICE: "device", CUDA_GLOBAL: "kernel", CUDA_HOST: "host", CUDA_SHARED: "shared",
}  # fmt: skip

# --- type kinds
T_VOID: Final = 2
T_BOOL: Final = 3
T_CHAR_U: Final = 4
T_UCHAR: Final = 5
T_USHORT: Final = 8
T_UINT: Final = 9
T_ULONG: Final = 10
T_ULONGLONG: Final = 11
T_UINT128: Final = 12
T_CHAR_S: Final = 13
T_SCHAR: Final = 14
T_WCHAR: Final = 15
T_SHORT: Final = 16
T_INT: Final = 17
T_LONG: Final = 18
T_LONGLONG: Final = 19
T_INT128: Final = 20
T_FLOAT: Final = 21
T_DOUBLE: Final = 22
T_LONGDOUBLE: Final = 23
T_HALF: Final = 31
T_FLOAT16: Final = 32
T_BFLOAT16: Final = 39
T_COMPLEX: Final = 100
T_POINTER: Final = 101
T_LVALUE_REFERENCE: Final = 103
T_RVALUE_REFERENCE: Final = 104
T_RECORD: Final = 105
T_ENUM: Final = 106
T_TYPEDEF: Final = 107
T_FUNCTION_NO_PROTO: Final = 110
T_FUNCTION: Final = 111
T_CONSTANT_ARRAY: Final = 112
T_VECTOR: Final = 113
T_INCOMPLETE_ARRAY: Final = 114
T_VARIABLE_ARRAY: Final = 115
T_ELABORATED: Final = 119
T_EXT_VECTOR: Final = 176

ARITHMETIC: Final[dict[int, tuple[str, int, str]]] = {
    T_VOID: ("void", 0, "void"),
    T_BOOL: ("_Bool", 8, "bool"),
    T_CHAR_U: ("char", 8, "unsigned"),
    T_UCHAR: ("unsigned char", 8, "unsigned"),
    T_USHORT: ("unsigned short", 16, "unsigned"),
    T_UINT: ("unsigned int", 32, "unsigned"),
    T_ULONG: ("unsigned long", 64, "unsigned"),
    T_ULONGLONG: ("unsigned long long", 64, "unsigned"),
    T_UINT128: ("unsigned __int128", 128, "unsigned"),
    T_CHAR_S: ("char", 8, "signed"),
    T_SCHAR: ("signed char", 8, "signed"),
    T_WCHAR: ("wchar_t", 32, "signed"),
    T_SHORT: ("short", 16, "signed"),
    T_INT: ("int", 32, "signed"),
    T_LONG: ("long", 64, "signed"),
    T_LONGLONG: ("long long", 64, "signed"),
    T_INT128: ("__int128", 128, "signed"),
    T_FLOAT: ("float", 32, "float"),
    T_DOUBLE: ("double", 64, "float"),
    T_LONGDOUBLE: ("long double", 128, "float"),
}
HALVES: Final[dict[int, tuple[str, int, str]]] = {
    T_HALF: ("half", 16, "float"),
    T_FLOAT16: ("half", 16, "float"),
    T_BFLOAT16: ("__bf16", 16, "float"),
}
"""Floating-point types of device code; in host code they are opaque."""

# --- linkage, storage, access, arguments of templates, severities of diagnostics
LINKAGE_INTERNAL: Final = 2
LINKAGE_UNIQUE: Final = 3
STORAGE_STATIC: Final = 3
ACCESS_PROTECTED: Final = 2
ACCESS_PRIVATE: Final = 3
HIDDEN: Final = frozenset({ACCESS_PROTECTED, ACCESS_PRIVATE})
ARGUMENT_TYPE: Final = 1
ARGUMENT_INTEGRAL: Final = 4
SEVERITY_ERROR: Final = 3

# --- operators, by CXBinaryOperatorKind and CXUnaryOperatorKind, which clang's own module lacks
BINARY_OPERATORS: Final = (
    "", "", "", "*", "/", "%", "+", "-", "<<", ">>", "", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||",
    "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
)  # fmt: skip
UNARY_OPERATORS: Final = ("", "x++", "x--", "++x", "--x", "&", "*", "+", "-", "~", "!", "", "", "ext")
FIRST_ASSIGNMENT: Final = 22
LAST_ASSIGNMENT: Final = 32
INCREMENTS: Final = frozenset({1, 2, 3, 4})
ADDRESS_OF: Final = 5
DEREFERENCE: Final = 6
