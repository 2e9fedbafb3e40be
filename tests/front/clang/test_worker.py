"""The worker answers each request in its order, and device code with its own walk."""

from __future__ import annotations

import marshal
import subprocess

from warpsmith.front.clang.process import library_path, worker_command
from warpsmith.front.clang.wire import LENGTH_BYTES, Request, decode_dump, frame_bytes, length
from warpsmith.front.inputs import parser_arguments


def test_requests_are_answered_in_order() -> None:
    requests: list[Request] = [
        ("a.c", parser_arguments("c", ()), b"int one;", 100, False),
        ("b.cl", ["-x", "cl", "-w"], b"kernel void two(global int *p) { }", 100, False),
        ("c.c", parser_arguments("c", ()), b"int three;", 100, False),
    ]
    question = frame_bytes(marshal.dumps((library_path(), ""))) + b"".join(
        frame_bytes(marshal.dumps(one)) for one in requests
    )
    output = subprocess.run(worker_command(), input=question, capture_output=True, check=True).stdout
    dumps = []
    while output:
        end = LENGTH_BYTES + length(output)
        dumps.append(decode_dump(output[LENGTH_BYTES:end]))
        output = output[end:]
    assert [dump.declared[0][1] for dump in dumps] == ["one", "two", "three"]
    assert [dump.marks is None for dump in dumps] == [True, False, True]
