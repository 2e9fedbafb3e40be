"""The worker process: reads requests, answers each with a dump as soon as it is made.

Standard input: one marshalled (library path, requests). Standard output: for each request, in order, the length of
the answer in eight bytes and the answer. A crash of libclang ends the process; what was written before stays good,
and the first answer that is missing names the file that crashed it.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
from typing import cast

from warpsmith.base.children import end_with_parent
from warpsmith.front.clang.device.dump import DeviceWalk, reads_device_code
from warpsmith.front.clang.dump import dump_file
from warpsmith.front.clang.libclang import load_library
from warpsmith.front.clang.wire import Request, encode_dump

__all__ = ["main"]


def main() -> None:
    """Serve one batch of requests."""
    end_with_parent(os.getppid())
    gc.disable()  # the tables only grow, and the process ends after them
    path, requests = cast(tuple[str, list[Request]], marshal.loads(sys.stdin.buffer.read()))
    library = load_library(path)
    for request in requests:
        index = library.createIndex(0, 0)
        walks = DeviceWalk if reads_device_code(request[1]) else None
        data = encode_dump(dump_file(library, index, request, walks))
        sys.stdout.buffer.write(len(data).to_bytes(8, "little") + data)
        sys.stdout.buffer.flush()
    os._exit(0)  # to take the tables and the library apart takes as long as to parse a short file


if __name__ == "__main__":
    main()
