"""libclang's numbers for cursors, types and operators that we tell apart (clang-c/Index.h, LLVM 18)."""

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
LAST_STMT: Final = 399
FIRST_ATTRIBUTE: Final = 400
ANNOTATION: Final = 406
LAST_ATTRIBUTE: Final = 499
MACRO_DEFINITION: Final = 501
MACRO_USE: Final = 502
INCLUSION: Final = 503

FUNCTIONS: Final = frozenset({FUNCTION_DECL, CXX_METHOD, CONSTRUCTOR, DESTRUCTOR, CONVERSION})
TEMPLATES: Final = frozenset({FUNCTION_TEMPLATE, CLASS_TEMPLATE, PARTIAL_SPECIALIZATION})

DEVICE_ATTRIBUTES: Final = {412: "constant", 413: "device", 414: "kernel", 415: "host", 416: "shared"}

# --- type kinds
T_VOID: Final = 2
T_POINTER: Final = 101
T_RECORD: Final = 105
T_ENUM: Final = 106
T_TYPEDEF: Final = 107
T_FUNCTION_NO_PROTO: Final = 110
T_FUNCTION: Final = 111
T_CONSTANT_ARRAY: Final = 112
T_INCOMPLETE_ARRAY: Final = 114
T_VARIABLE_ARRAY: Final = 115
T_ELABORATED: Final = 119
T_COMPLEX: Final = 100
T_LVALUE_REFERENCE: Final = 103
T_RVALUE_REFERENCE: Final = 104
T_VECTOR: Final = 113
T_EXT_VECTOR: Final = 176

ARITHMETIC: Final[dict[int, tuple[str, int, str]]] = {
    2: ("void", 0, "void"),
    3: ("_Bool", 8, "bool"),
    4: ("char", 8, "unsigned"),
    5: ("unsigned char", 8, "unsigned"),
    8: ("unsigned short", 16, "unsigned"),
    9: ("unsigned int", 32, "unsigned"),
    10: ("unsigned long", 64, "unsigned"),
    11: ("unsigned long long", 64, "unsigned"),
    12: ("unsigned __int128", 128, "unsigned"),
    13: ("char", 8, "signed"),
    14: ("signed char", 8, "signed"),
    15: ("wchar_t", 32, "signed"),
    16: ("short", 16, "signed"),
    17: ("int", 32, "signed"),
    18: ("long", 64, "signed"),
    19: ("long long", 64, "signed"),
    20: ("__int128", 128, "signed"),
    21: ("float", 32, "float"),
    22: ("double", 64, "float"),
    23: ("long double", 128, "float"),
}
HALVES: Final[dict[int, tuple[str, int, str]]] = {
    31: ("half", 16, "float"),
    32: ("half", 16, "float"),
    39: ("__bf16", 16, "float"),
}
"""Floating-point types of device code; in host code they are opaque."""

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
