"""The worker process: reads requests, answers each with a dump.

Standard input: the path of the library and the folder of precompiled headers, then requests, one after the other;
standard output: an answer to each. All are marshalled, with their lengths before them. A crash of libclang ends the
process: the file whose answer is missing crashed it.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
from typing import cast

from warpsmith.base.children import end_with_parent
from warpsmith.front.clang.dump import Walk, dump_file, reads_device_code
from warpsmith.front.clang.libclang import load_library
from warpsmith.front.clang.precompiled import PrecompiledHeaders
from warpsmith.front.clang.wire import (
    LENGTH_BYTES,
    SEEKS_ENQUEUES,
    SEEKS_HOST_USES,
    Request,
    encode_dump,
    frame_bytes,
    length,
)

__all__ = ["main"]


def main() -> None:
    """Answer until there are no more questions."""
    end_with_parent(os.getppid())
    gc.disable()  # the tables only grow until they are sent
    path, folder = cast(tuple[str, str], _receive_object())
    library, headers = load_library(path), PrecompiledHeaders(path, folder)
    gc.freeze()
    while (request := cast(Request | None, _receive_object())) is not None:
        data = encode_dump(dump_file(library, request, _walk(request), headers))
        sys.stdout.buffer.write(frame_bytes(data))
        sys.stdout.buffer.flush()
        gc.collect()
    os._exit(0)  # to take the tables and the library apart takes as long as to parse a short file


def _receive_object() -> object:
    """Return what is sent next; None where nothing is."""
    size = length(sys.stdin.buffer.read(LENGTH_BYTES))
    return marshal.loads(sys.stdin.buffer.read(size)) if size else None


def _walk(request: Request) -> type[Walk]:
    """Return the kind of walk that a request needs."""
    _, arguments, _, _, diagnostics_only = request
    if SEEKS_HOST_USES in arguments:
        from warpsmith.front.clang.device.uses import UseWalk

        return UseWalk
    if SEEKS_ENQUEUES in arguments:
        from warpsmith.front.clang.device.enqueues import EnqueueWalk

        return EnqueueWalk
    if diagnostics_only or not reads_device_code(arguments):
        return Walk
    # loaded where it is wanted
    from warpsmith.front.clang.device.dump import DeviceWalk

    return DeviceWalk


if __name__ == "__main__":
    main()
