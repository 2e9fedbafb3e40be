from __future__ import annotations

import re

import msgspec.structs

from warpsmith.analysis.vocabulary import CUDA, OPENCL, Vocabulary, vocabulary


def _words(of: Vocabulary) -> list[str]:
    values = [getattr(of, spec.name) for spec in msgspec.structs.fields(of)]
    tables = [value for value in values if isinstance(value, dict)]
    return [value for value in values if isinstance(value, str)] + [text for table in tables for text in table.values()]


def test_both_languages_have_the_same_words() -> None:
    assert CUDA.fast.keys() == OPENCL.fast.keys()
    assert CUDA.threads.keys() == OPENCL.threads.keys()
    assert all(_words(CUDA)) and all(_words(OPENCL))


def test_no_word_of_opencl_is_of_cuda() -> None:
    assert not [word for word in _words(OPENCL) if re.search(r"threadIdx|_sync|__|prec-sqrt|shared", word)]


def test_a_language_has_its_words() -> None:
    assert vocabulary("opencl") is OPENCL
    assert vocabulary("cuda") is vocabulary("ptx") is CUDA


def test_what_limits_is_said_in_the_words_of_the_language() -> None:
    assert (CUDA.limiter("shared memory"), OPENCL.limiter("shared memory")) == ("shared memory", "local memory")
    assert OPENCL.limiter("registers") == "registers"
