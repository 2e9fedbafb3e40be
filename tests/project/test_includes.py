"""Which files see a header that changes."""

from __future__ import annotations

from warpsmith.project.includes import find_concerned

FILES = {
    "src/main.cpp": '#include "filter.hpp"\n#include <vector>\n',
    "src/tone.cpp": '#include <cmath>\n#  include "tone.hpp"\n',
    "src/other.cpp": "// #include of nothing\n#include <map>\n",
    "tests/tests.cpp": '#include "../src/filter.hpp"\n',
    "src/filter.hpp": '#include "image.hpp"\n',
    "src/image.hpp": "#include <vector>\n",
    "include/pix/all.h": '#include "pix/one.h"\n',
    "include/pix/one.h": "",
    "app/app.c": "#include <pix/all.h>\n",
    "src/tone.hpp": '#include "tone.hpp"\n',
}
COMPILED = [path for path in FILES if path.endswith((".c", ".cpp"))]


def test_a_header_concerns_what_includes_it() -> None:
    assert find_concerned(["src/image.hpp"], COMPILED, FILES.get) == ["src/main.cpp", "tests/tests.cpp"]
    assert find_concerned(["include/pix/one.h"], COMPILED, FILES.get) == ["app/app.c"]
    assert find_concerned(["src/tone.hpp", "src/main.cpp"], COMPILED, FILES.get) == ["src/main.cpp", "src/tone.cpp"]
    assert find_concerned(["src/main.cpp"], COMPILED, FILES.get) == ["src/main.cpp"]


def test_a_header_in_a_comment_is_not_included() -> None:
    files = {"a.c": '/*\n#include "one.h"\n*/', "b.c": '#/* */include "one.h"', "one.h": ""}
    assert find_concerned(["one.h"], ["a.c", "b.c"], files.get) == ["b.c"]
