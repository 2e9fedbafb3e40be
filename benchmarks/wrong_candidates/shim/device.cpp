/* The judge's device: memory that only kernels and copies may touch, kernels as fibers, streams that run early or late.

   memory    every block ends where a page ends, and a page without access follows; a block is closed while the host runs
   threads   JUDGE_RUN 0: ascending, 1: descending, 2: shuffled; blocks one after the other, in the same order
   streams   JUDGE_RUN 0: at once, 1: as late as CUDA allows, 2: those that wait for nobody before all others */
#include <cstdint>
#include <ctime>
#include <deque>
#include <link.h>
#include <map>
#include <random>
#include <algorithm>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#include "cuda_runtime.h"
#include "record.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

struct judge_stream {
    bool waits; /* for the default stream, and it for this one */
    std::deque<std::function<void()>> work;
};

namespace judge {
namespace {
constexpr size_t page = 4096, frame_bytes = 96 * 1024, filled_bytes = 8 * 1024;

struct Memory {
    char *pages, *at;
    size_t pages_bytes, bytes;
    bool live;
};
struct Fiber {
    ucontext_t context;
    char *frame = nullptr;
    uint3 index = {};
    bool done = true;
};
struct Warp {
    unsigned arrived = 0;
    unsigned long turn = 0;
    char values[32][16];
};
struct Device {
    std::vector<Memory> blocks;
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    std::vector<judge_stream *> streams;
    judge_stream first{true, {}};
    ucontext_t scheduler;
    Fiber *now = nullptr;
    const std::function<void()> *thread = nullptr;
    unsigned alive = 0, arrived = 0;
    unsigned long turn = 0, progress = 0;
    cudaError_t error = cudaSuccess;
    std::mt19937 random{7};
};
Device &device() {
    static Device *the = new Device;
    return *the;
}

void open_memory(bool open) {
    for (const Memory &m : device().blocks)
        if (m.live) mprotect(m.pages, m.pages_bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

cudaError_t failed(cudaError_t error) { return device().error = error; }

const Memory *block_of(const void *pointer) {
    const char *at = static_cast<const char *>(pointer);
    for (const Memory &m : device().blocks)
        if (at >= m.pages && at <= m.pages + m.pages_bytes) return &m;
    return nullptr;
}

bool inside(const void *pointer, size_t bytes) {
    const Memory *m = block_of(pointer);
    const char *at = static_cast<const char *>(pointer);
    return m && m->live && at >= m->at && at + bytes <= m->at + m->bytes;
}

/* What lies before a block in its first page, and between its end and the page's, holds a pattern: a kernel that changes
   it writes out of bounds. */
void check_edges() {
    for (const Memory &m : device().blocks) {
        if (!m.live) continue;
        for (const char *p = m.pages; p < m.at; ++p)
            if (*p != (char)0x5c) stop("a kernel wrote before a block of device memory");
        for (const char *p = m.at + m.bytes; p < m.pages + m.pages_bytes; ++p)
            if (*p != (char)0x5c) stop("a kernel wrote past a block of device memory");
    }
}

void poison_shared() {
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *) {
            for (int i = 0; i < info->dlpi_phnum; ++i)
                if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data)
                    fill(info->dlpi_tls_data, info->dlpi_phdr[i].p_memsz);
            return 1;
        },
        nullptr);
}

void leave_barrier() {
    Device &d = device();
    d.arrived = 0;
    ++d.turn;
    ++d.progress;
}

void body() {
    Device &d = device();
    (*d.thread)();
    d.now->done = true;
    --d.alive;
    ++d.progress;
    if (d.alive && d.arrived == d.alive) leave_barrier();
    swapcontext(&d.now->context, &d.scheduler);
}

void pause() { swapcontext(&device().now->context, &device().scheduler); }

void start_fiber(Fiber &f) {
    if (!f.frame) f.frame = static_cast<char *>(malloc(frame_bytes));
    fill(f.frame + frame_bytes - filled_bytes, filled_bytes);
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.frame;
    f.context.uc_stack.ss_size = frame_bytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, body, 0);
    f.done = false;
}

std::vector<unsigned> order_of(unsigned count) {
    std::vector<unsigned> order(count);
    for (unsigned i = 0; i < count; ++i) order[i] = run_number() == 1 ? count - 1 - i : i;
    if (run_number() == 2) std::shuffle(order.begin(), order.end(), device().random);
    return order;
}

void run_block(dim3 size) {
    Device &d = device();
    const unsigned count = size.x * size.y * size.z;
    d.alive = count;
    d.arrived = 0;
    d.warps.assign((count + 31) / 32, Warp());
    if (d.fibers.size() < count) d.fibers.resize(count);
    poison_shared();
    for (unsigned i = 0; i < count; ++i) {
        start_fiber(d.fibers[i]);
        d.fibers[i].index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    }
    const std::vector<unsigned> order = order_of(count);
    while (d.alive) {
        const unsigned long before = d.progress;
        for (const unsigned i : order) {
            if (d.fibers[i].done) continue;
            d.now = &d.fibers[i];
            threadIdx = d.now->index;
            swapcontext(&d.scheduler, &d.now->context);
        }
        if (d.alive && before == d.progress) stop("threads of a kernel wait for each other for ever");
    }
}

void run_kernel(dim3 grid, dim3 block, const std::function<void()> &thread) {
    Device &d = device();
    const Quiet own;
    open_memory(true);
    hide_host();
    d.thread = &thread;
    gridDim = grid;
    blockDim = block;
    for (const unsigned i : order_of(grid.x * grid.y * grid.z)) {
        blockIdx = {i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y};
        run_block(block);
    }
    show_host();
    check_edges();
    open_memory(false);
}

void drain(judge_stream &stream) {
    while (!stream.work.empty()) {
        const std::function<void()> next = std::move(stream.work.front());
        stream.work.pop_front();
        next();
    }
}

void drain_waiting() {
    for (judge_stream *s : device().streams)
        if (s->waits) drain(*s);
    drain(device().first);
}

void drain_all() {
    drain_waiting();
    for (judge_stream *s : device().streams) drain(*s);
}

void enqueue(cudaStream_t stream, std::function<void()> work) {
    judge_stream &s = stream ? *stream : device().first;
    if (s.waits && &s != &device().first) drain(device().first);
    s.work.push_back(std::move(work));
    if (run_number() == 0 || (run_number() == 2 && !s.waits)) drain(s);
}

void copy_bytes(void *to, const void *from, size_t bytes) {
    open_memory(true);
    memmove(to, from, bytes);
    open_memory(false);
}

bool is_allowed(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    const bool to_device = block_of(to) != nullptr, from_device = block_of(from) != nullptr;
    if (kind != cudaMemcpyDefault && (to_device != (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) ||
                                      from_device != (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)))
        return false;
    return (!to_device || inside(to, bytes)) && (!from_device || inside(from, bytes));
}
} // namespace

int lane() { return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32); }

void block_barrier() {
    Device &d = device();
    const uint3 index = threadIdx;
    const unsigned long turn = d.turn;
    if (++d.arrived == d.alive) leave_barrier();
    while (d.turn == turn) pause();
    threadIdx = index;
}

void exchange(unsigned mask, int source, void *value, size_t bytes) {
    Device &d = device();
    const uint3 index = threadIdx;
    const unsigned linear = index.x + blockDim.x * (index.y + blockDim.y * index.z), all = blockDim.x * blockDim.y * blockDim.z;
    Warp &w = d.warps[linear / 32];
    const unsigned own = linear % 32, first = linear - own;
    const unsigned there = all - first >= 32 ? ~0u : (1u << (all - first)) - 1;
    memcpy(w.values[own], value, bytes);
    for (int meeting = 0; meeting < 2; ++meeting) {
        const unsigned long turn = w.turn;
        w.arrived |= 1u << own;
        if ((w.arrived & mask & there) == (mask & there)) {
            w.arrived = 0;
            ++w.turn;
            ++d.progress;
        }
        while (w.turn == turn) pause();
        if (meeting == 0 && (mask & there) >> source & 1) memcpy(value, w.values[source], bytes);
        if (meeting == 0 && !((mask & there) >> source & 1)) fill(value, bytes);
    }
    threadIdx = index;
}

void launch(dim3 grid, dim3 block, cudaStream_t stream, std::function<void()> thread) {
    const unsigned long long threads = 1ull * block.x * block.y * block.z;
    if (!grid.x || !grid.y || !grid.z || !threads || threads > 1024 || block.z > 64 || grid.x > 0x7fffffff ||
        grid.y > 65535 || grid.z > 65535) {
        failed(cudaErrorInvalidConfiguration);
        return;
    }
    enqueue(stream, [=] { run_kernel(grid, block, thread); });
}
} // namespace judge

using namespace judge;

extern "C" cudaError_t cudaMalloc(void **to, size_t bytes) {
    const Quiet own;
    const size_t kept = (bytes + 15) / 16 * 16, whole = (kept + page - 1) / page * page;
    if (bytes == 0 || bytes > ((size_t)4 << 30)) return failed(bytes ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    char *pages = static_cast<char *>(mmap(nullptr, whole + page, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (pages == MAP_FAILED) return failed(cudaErrorMemoryAllocation);
    memset(pages, 0x5c, whole);
    fill(pages + whole - kept, bytes);
    mprotect(pages, whole + page, PROT_NONE);
    device().blocks.push_back({pages, pages + whole - kept, whole, bytes, true});
    *to = device().blocks.back().at;
    return cudaSuccess;
}

extern "C" cudaError_t cudaFree(void *memory) {
    const Quiet own;
    if (!memory) return cudaSuccess;
    drain_all();
    for (Memory &m : device().blocks)
        if (m.at == memory && m.live) {
            m.live = false;
            return cudaSuccess;
        }
    return failed(cudaErrorInvalidValue);
}

extern "C" cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    const Quiet own;
    drain_waiting();
    if (bytes == 0) return cudaSuccess;
    if (!is_allowed(to, from, bytes, kind)) return failed(cudaErrorInvalidValue);
    copy_bytes(to, from, bytes);
    return cudaSuccess;
}

/* Memory of the host is not pinned: what goes to the device is read before the call returns, what comes from there has
   arrived by then. */
extern "C" cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    const Quiet own;
    if (!is_allowed(to, from, bytes, kind)) return failed(cudaErrorInvalidValue);
    if (!block_of(from)) {
        const char *first = static_cast<const char *>(from);
        enqueue(stream, [to, bytes, kept = std::vector<char>(first, first + bytes)] { copy_bytes(to, kept.data(), bytes); });
        return cudaSuccess;
    }
    enqueue(stream, [=] { copy_bytes(to, from, bytes); });
    if (!block_of(to)) cudaStreamSynchronize(stream);
    return cudaSuccess;
}

extern "C" cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    const Quiet own;
    drain_waiting();
    if (!inside(to, bytes)) return failed(cudaErrorInvalidValue);
    open_memory(true);
    memset(to, value, bytes);
    open_memory(false);
    return cudaSuccess;
}

extern "C" cudaError_t cudaMemGetInfo(size_t *left, size_t *all) {
    *left = *all = (size_t)4 << 30;
    return cudaSuccess;
}
extern "C" cudaError_t cudaGetLastError(void) {
    const cudaError_t error = device().error;
    device().error = cudaSuccess;
    return error;
}
extern "C" cudaError_t cudaDeviceSynchronize(void) {
    const Quiet own;
    drain_all();
    return cudaSuccess;
}
extern "C" cudaError_t cudaStreamCreateWithFlags(cudaStream_t *to, unsigned flags) {
    const Quiet own;
    device().streams.push_back(*to = new judge_stream{flags != cudaStreamNonBlocking, {}});
    return cudaSuccess;
}
extern "C" cudaError_t cudaStreamCreate(cudaStream_t *to) { return cudaStreamCreateWithFlags(to, cudaStreamDefault); }
extern "C" cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const Quiet own;
    if (!stream) drain_waiting();
    else {
        if (stream->waits) drain(device().first);
        drain(*stream);
    }
    return cudaSuccess;
}
extern "C" const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess ? "no error" : error == cudaErrorInvalidConfiguration ? "invalid configuration" : "an error";
}
