"""Numbers of clang's against clang's own module: a wheel of another version that counts otherwise is noticed here."""

from __future__ import annotations

from typing import Any

import pytest
from clang.cindex import (
    AccessSpecifier,
    CursorKind,
    Diagnostic,
    LinkageKind,
    StorageClass,
    TemplateArgumentKind,
    TypeKind,
)

from warpsmith.front.clang import kinds

CURSORS = {
    "ADDRESS_OF_LABEL": "ADDR_LABEL_EXPR",
    "ANNOTATION": "ANNOTATE_ATTR",
    "ASM": "ASM_STMT",
    "TYPEID": "CXX_TYPEID_EXPR",
    "BASE_SPECIFIER": "CXX_BASE_SPECIFIER",
    "BINARY": "BINARY_OPERATOR",
    "BREAK": "BREAK_STMT",
    "CALL": "CALL_EXPR",
    "CASE": "CASE_STMT",
    "CAST": "CSTYLE_CAST_EXPR",
    "CATCH": "CXX_CATCH_STMT",
    "CHARACTER": "CHARACTER_LITERAL",
    "COMPOUND": "COMPOUND_STMT",
    "COMPOUND_ASSIGN": "COMPOUND_ASSIGNMENT_OPERATOR",
    "COMPOUND_LITERAL": "COMPOUND_LITERAL_EXPR",
    "CONDITIONAL": "CONDITIONAL_OPERATOR",
    "CONST_CAST": "CXX_CONST_CAST_EXPR",
    "CONTINUE": "CONTINUE_STMT",
    "CONVERSION": "CONVERSION_FUNCTION",
    "CUDA_CONSTANT": "CUDACONSTANT_ATTR",
    "CUDA_DEVICE": "CUDADEVICE_ATTR",
    "CUDA_GLOBAL": "CUDAGLOBAL_ATTR",
    "CUDA_HOST": "CUDAHOST_ATTR",
    "CUDA_SHARED": "CUDASHARED_ATTR",
    "CXX_BOOL": "CXX_BOOL_LITERAL_EXPR",
    "DECL_REF": "DECL_REF_EXPR",
    "DEFAULT": "DEFAULT_STMT",
    "DELETE": "CXX_DELETE_EXPR",
    "DO": "DO_STMT",
    "DYNAMIC_CAST": "CXX_DYNAMIC_CAST_EXPR",
    "ENUM_CONSTANT": "ENUM_CONSTANT_DECL",
    "FIRST_ATTRIBUTE": "UNEXPOSED_ATTR",
    "FLOATING": "FLOATING_LITERAL",
    "FOR": "FOR_STMT",
    "FUNCTIONAL_CAST": "CXX_FUNCTIONAL_CAST_EXPR",
    "GENERIC": "GENERIC_SELECTION_EXPR",
    "GNU_NULL": "GNU_NULL_EXPR",
    "GOTO": "GOTO_STMT",
    "IF": "IF_STMT",
    "IMAGINARY": "IMAGINARY_LITERAL",
    "INCLUSION": "INCLUSION_DIRECTIVE",
    "INDIRECT_GOTO": "INDIRECT_GOTO_STMT",
    "INIT_LIST": "INIT_LIST_EXPR",
    "INTEGER": "INTEGER_LITERAL",
    "LABEL": "LABEL_STMT",
    "LAMBDA": "LAMBDA_EXPR",
    "MACRO_USE": "MACRO_INSTANTIATION",
    "NEW": "CXX_NEW_EXPR",
    "NULLPTR": "CXX_NULL_PTR_LITERAL_EXPR",
    "PAREN": "PAREN_EXPR",
    "PARTIAL_SPECIALIZATION": "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION",
    "RANGE_FOR": "CXX_FOR_RANGE_STMT",
    "REINTERPRET_CAST": "CXX_REINTERPRET_CAST_EXPR",
    "RETURN": "RETURN_STMT",
    "SIZEOF": "CXX_UNARY_EXPR",
    "STATEMENT_EXPR": "StmtExpr",
    "STATIC_CAST": "CXX_STATIC_CAST_EXPR",
    "STRING": "STRING_LITERAL",
    "SUBSCRIPT": "ARRAY_SUBSCRIPT_EXPR",
    "SWITCH": "SWITCH_STMT",
    "THIS": "CXX_THIS_EXPR",
    "THROW": "CXX_THROW_EXPR",
    "TRY": "CXX_TRY_STMT",
    "TYPE_ALIAS": "TYPE_ALIAS_DECL",
    "UNARY": "UNARY_OPERATOR",
    "VALUE_PARAMETER": "TEMPLATE_NON_TYPE_PARAMETER",
    "WHILE": "WHILE_STMT",
}
"""Clang's names of cursors, where ours differ."""
TYPES = {
    "T_EXT_VECTOR": "EXTVECTOR",
    "T_FUNCTION": "FUNCTIONPROTO",
    "T_FUNCTION_NO_PROTO": "FUNCTIONNOPROTO",
}
OTHERS: dict[str, tuple[Any, str]] = {
    "LINKAGE_INTERNAL": (LinkageKind, "INTERNAL"),
    "LINKAGE_UNIQUE": (LinkageKind, "UNIQUE_EXTERNAL"),
    "STORAGE_STATIC": (StorageClass, "STATIC"),
    "ACCESS_PROTECTED": (AccessSpecifier, "PROTECTED"),
    "ACCESS_PRIVATE": (AccessSpecifier, "PRIVATE"),
    "ARGUMENT_TYPE": (TemplateArgumentKind, "TYPE"),
    "ARGUMENT_INTEGRAL": (TemplateArgumentKind, "INTEGRAL"),
    "SEVERITY_ERROR": (Diagnostic, "Error"),
}
LACKING = {
    "T_FLOAT16", "T_BFLOAT16",  # types that the module does not know
    "FIRST_ASSIGNMENT", "LAST_ASSIGNMENT", "ADDRESS_OF", "DEREFERENCE",  # operators
}  # fmt: skip
RANGES = {"LAST_EXPR": "UNEXPOSED_STMT", "LAST_STMT": "UNEXPOSED_ATTR", "LAST_ATTRIBUTE": "PREPROCESSING_DIRECTIVE"}
"""The ends of ranges of cursors, and what begins the next one."""

NUMBERS = {name: value for name, value in vars(kinds).items() if name.isupper() and isinstance(value, int)}


def _number(holder: Any, name: str) -> int:
    found = getattr(holder, name)
    value: int = getattr(found, "value", found)
    return value


@pytest.mark.parametrize("name", sorted(NUMBERS.keys() - LACKING - RANGES.keys()))
def test_a_number_is_that_of_clangs_own_module(name: str) -> None:
    if name in OTHERS:
        assert NUMBERS[name] == _number(*OTHERS[name])
    elif name.startswith("T_"):
        plain = name.removeprefix("T_").replace("_", "")
        own = TYPES.get(name) or next((n for n in vars(TypeKind) if n.replace("_", "") == plain), name)
        assert NUMBERS[name] == _number(TypeKind, own)
    else:
        assert NUMBERS[name] == _number(CursorKind, CURSORS.get(name, name))


@pytest.mark.parametrize("name", sorted(RANGES))
def test_a_range_ends_where_the_next_one_begins(name: str) -> None:
    assert NUMBERS[name] == _number(CursorKind, RANGES[name]) - 1


def test_the_tables_are_of_numbers_that_are_compared() -> None:
    assert set(NUMBERS) > LACKING | set(RANGES) | set(OTHERS) | set(CURSORS) | set(TYPES)
    assert kinds.DEVICE_ATTRIBUTES.keys() == {NUMBERS[name] for name in NUMBERS if name.startswith("CUDA_")}
    assert kinds.ARITHMETIC.keys() | kinds.HALVES.keys() <= {n for name, n in NUMBERS.items() if name.startswith("T_")}
