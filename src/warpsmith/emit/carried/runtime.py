"""The support code that every port carries: checks, copies, and a pool of device memory.

The pool only grows while the program runs: a released block waits for the next request of its size, so that a function
called ten thousand times does not allocate ten thousand times. Compile with -DWS_POOL=0 to allocate afresh every time.
"""

from __future__ import annotations

from warpsmith.emit.carried.present import present_declarations, present_text
from warpsmith.emit.carried.units import unit_declarations, unit_text
from warpsmith.emit.words import Support

__all__ = ["check_text", "declarations", "pool_prototypes", "pool_text", "switch_text"]

_CHECK = """\
static void ws_check(cudaError_t status, const char *call, const char *file, int line)
{
    if (status == cudaSuccess)
        return;
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver)
        fprintf(stderr,
                "%s:%d: no CUDA device found (%s)\\n"
                "  help: install the NVIDIA driver, look at CUDA_VISIBLE_DEVICES, or run the original program\\n",
                file, line, cudaGetErrorString(status));
    else
        fprintf(stderr, "%s:%d: %s failed: %s\\n", file, line, call, cudaGetErrorString(status));
    exit(EXIT_FAILURE);
}

#define WS_CHECK(call) ws_check((call), #call, __FILE__, __LINE__)
"""

_POOL = """\
/* Device memory is kept for the next request of the same size, and freed when the program ends. */

#ifndef WS_POOL
#define WS_POOL 1
#endif

struct ws_block {
    void *memory;
    size_t bytes;
    ws_block *next;
};

static ws_block *ws_used[1024], *ws_unused;
static bool ws_has_exit;
static std::mutex ws_lock;

/* Where the blocks in use are that may be the one with this memory: there may be one for each row of a matrix. */
static ws_block **ws_used_at(const void *memory)
{
    return &ws_used[(unsigned long long)memory / 256 % (sizeof ws_used / sizeof ws_used[0])];
}

static void ws_free_unused(void)
{
    while (ws_unused != nullptr) {
        ws_block *block = ws_unused;
        cudaFree(block->memory);
        ws_unused = block->next;
        free(block);
    }
}

static void ws_at_exit(void)
{
    if (ws_lock.try_lock()) {
        ws_free_unused();
        ws_lock.unlock();
    }
}

static ws_block *ws_new_block(size_t bytes, const char *name, const char *file, int line)
{
    void *memory = nullptr;
    cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        ws_free_unused();
        status = cudaMalloc(&memory, bytes);
    }
    if (status == cudaErrorMemoryAllocation) {
        size_t available = 0, total = 0;
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&available, &total);
        fprintf(stderr, "%s:%d: %s needs %zu bytes of device memory, but %zu of %zu are free\\n",
                file, line, name, bytes, available, total);
        exit(EXIT_FAILURE);
    }
    ws_check(status, "cudaMalloc", file, line);
    ws_block *block = (ws_block *)malloc(sizeof *block);
    if (block == nullptr)
        abort();
    if (!ws_has_exit)
        atexit(ws_at_exit);
    ws_has_exit = true;
    block->memory = memory;
    block->bytes = bytes;
    return block;
}

extern "C" void *ws_device_acquire(long long bytes, const char *name, const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_lock);
    const size_t wanted = bytes > 0 ? (size_t)bytes : 1;
    ws_block **link = &ws_unused;
    while (*link != nullptr && (*link)->bytes != wanted)
        link = &(*link)->next;
    ws_block *block = *link;
    if (block == nullptr)
        block = ws_new_block(wanted, name, file, line);
    else
        *link = block->next;
    block->next = *ws_used_at(block->memory);
    *ws_used_at(block->memory) = block;
#ifdef WS_NAME_MEMORY
    WS_NAME_MEMORY(block->memory, name);
#endif
    return block->memory;
}

extern "C" void ws_device_release(void *memory)
{
    const std::lock_guard<std::mutex> guard(ws_lock);
    ws_block **link = ws_used_at(memory);
    while (*link != nullptr && (*link)->memory != memory)
        link = &(*link)->next;
    if (ws_block *block = *link) {
        *link = block->next;
        block->next = ws_unused;
        ws_unused = block;
    }
    if (!WS_POOL)
        ws_free_unused();
}

extern "C" void ws_copy_to_device(void *device, const void *host, long long bytes, const char *file, int line)
{
#ifdef WS_TELL_COPY
    if (bytes > 0)
        WS_TELL_COPY(1, bytes, file, line);
#endif
    if (bytes > 0)
        ws_check(cudaMemcpy(device, host, (size_t)bytes, cudaMemcpyHostToDevice), "copy to the device", file, line);
}

extern "C" void ws_copy_to_host(void *host, const void *device, long long bytes, const char *file, int line)
{
#ifdef WS_TELL_COPY
    if (bytes > 0)
        WS_TELL_COPY(0, bytes, file, line);
#endif
    if (bytes > 0)
        ws_check(cudaMemcpy(host, device, (size_t)bytes, cudaMemcpyDeviceToHost), "copy to the host", file, line);
}
"""

_DECLARATIONS = """\
/* Device memory and copies: they check for errors, and end the program with a message if there is one. */
#define WS_HERE __FILE__, __LINE__
void *ws_device_acquire(long long bytes, const char *name, const char *file, int line);
void ws_device_release(void *memory);
void ws_copy_to_device(void *device, const void *host, long long bytes, const char *file, int line);
void ws_copy_to_host(void *host, const void *device, long long bytes, const char *file, int line);
"""


_POOL_PROTOTYPES = """\
extern "C" void *ws_device_acquire(long long bytes, const char *name, const char *file, int line);
extern "C" void ws_device_release(void *memory);
"""


_SWITCH = """\
/* Whether the device is in use: the original loops run where WARPSMITH_OFF is set to anything but 0. */
extern "C" int ws_on(void)
{
    static const char *const off = getenv("WARPSMITH_OFF");
    return off == nullptr || off[0] == 0 || (off[0] == '0' && off[1] == 0);
}
"""

_REMEDIES = ("run the original program", "set WARPSMITH_OFF=1, which runs the original loops")


def switch_text(support: Support) -> str:
    """Return the switch of a port in the user's own files; one file of a program has it."""
    return _named(_SWITCH, support)


def pool_prototypes(support: Support) -> str:
    """Return what a launcher that needs device memory of its own must have seen of the pool."""
    return _named(_POOL_PROTOTYPES, support)


def check_text(support: Support, *, in_place: bool = False) -> str:
    """Return the check of CUDA calls; every kernel file has its own. `in_place`: the original loops are there too."""
    return _named(_CHECK.replace(*_REMEDIES) if in_place else _CHECK, support)


def pool_text(support: Support, *, present: bool = False, units: bool = False) -> str:
    """Return the pool and the copies, with the present table and the heap's units where the program needs them; one
    kernel file of a program has them."""
    parts = [
        _named(_POOL, support),
        *([present_text(support, watched=units)] if present else []),
        *([unit_text(support, present=present)] * units),
    ]
    return "\n".join(parts)


def declarations(support: Support, *, present: bool = False, units: bool = False) -> str:
    """Return what host text needs to know of them, as C and C++; for units, <stddef.h> is included before."""
    parts = [_named(_DECLARATIONS, support), *([present_declarations(support, watched=units)] if present else [])]
    return "\n".join([*parts, *([unit_declarations(support, present=present)] * units)])


def _named(text: str, support: Support) -> str:
    return text.replace("ws_", f"{support.prefix}_").replace("WS_", f"{support.prefix.upper()}_")
