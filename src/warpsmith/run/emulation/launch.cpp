/* One launch: its shape checked as the runtime does, its slots prepared, run to the end or to its first error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <numeric>
#include <string>

#include "fiber.h"
#include "schedule.h"
#include "timeline.h"

static char dynamic_area[256 * 1024] __attribute__((aligned(256)));
extern "C" char *ws_dynamic_shared(void) { return dynamic_area; }

namespace ws {

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and "__global__ Function Parameters". */
constexpr size_t most_constant = 64 * 1024, most_parameters = 32764;

std::recursive_mutex &device_lock() {
    static std::recursive_mutex lock;
    return lock;
}

static void shape_places(const ws_launch_t &l) {
    Scheduler &s = scheduler();
    if (std::equal(s.shape, s.shape + 3, l.block)) return;
    std::copy_n(l.block, 3, s.shape);
    for (uint32_t i = 0; i < s.threads; ++i) {
        s.place[i][0] = (uint16_t)(i % l.block[0]);
        s.place[i][1] = (uint16_t)(i / l.block[0] % l.block[1]);
        s.place[i][2] = (uint16_t)(i / l.block[0] / l.block[1]);
    }
}

static void permute_blocks() {
    Scheduler &s = scheduler();
    device.random = device.seed * 0x9e3779b97f4a7c15u + device.launches * 0xd1342543de82ef95u + 1;
    s.shift = next_random() % s.blocks;
    do s.factor = next_random() % s.blocks | 1;
    while (std::gcd(s.factor, (uint64_t)s.blocks) != 1);
}

/* Give slot `index` its arrays, in the shape of the present launch. */
void prepare_slot(uint32_t index) {
    const Scheduler &s = scheduler();
    const size_t dynamic = device.launch->shared;
    Slot &slot = *s.slots[index];
    slot.index = index;
    slot.threads.resize(s.threads);
    slot.warps.resize(s.warps);
    slot.image.resize(shared_bytes());
    if (slot.dynamic_shared.size != dynamic) {
        drop_cells(slot.dynamic_shared);
        slot.dynamic_image.resize(dynamic);
    }
    slot.shared.base = shared_base();
    slot.shared.size = shared_bytes();
    slot.shared.space = Space::shared;
    slot.dynamic_shared.base = (Address)dynamic_area;
    slot.dynamic_shared.size = dynamic;
    slot.dynamic_shared.space = Space::dynamic_shared;
    slot.dynamic_shared.name = "dynamic shared memory";
    slot.shared.block_private = slot.dynamic_shared.block_private = true;
}

static void prepare_slots(const ws_launch_t &l) {
    Scheduler &s = scheduler();
    const uint32_t room = device.schedule > 0 ? std::clamp(4096u / s.threads, 2u, 8u) : 1u;
    s.resident = l.cooperative ? s.blocks : std::min(room, s.blocks);
    while (s.slots.size() < s.resident) s.slots.push_back(std::make_unique<Slot>());
    const size_t fixed = shared_bytes();
    if (s.poison.size() < std::max(fixed, l.shared)) {
        s.poison.resize(std::max(fixed, l.shared));
        fill_poison(s.poison.data(), s.poison.size());
    }
    for (uint32_t i = 0; i < s.resident; ++i) prepare_slot(i);
}

/* Forget what no thread will ask for again; long before stamps run out, all cells are stale and start over. */
static void open_launch() {
    Device &d = device;
    d.atomics.clear();
    d.released.clear();
    d.yields = d.schedule > 0 ? 256 : 0;
    d.failed = cudaSuccess;
    ++d.launches;
    refuel();
}

static void run(const ws_launch_t &l) {
    Scheduler &s = scheduler();
    Device &d = device;
    s.blocks = l.grid[0] * l.grid[1] * l.grid[2];
    s.threads = l.block[0] * l.block[1] * l.block[2];
    s.warps = (s.threads + 31) / 32;
    s.started = s.finished = s.burst = 0;
    shape_places(l);
    d.launch = &l;
    open_launch();
    if (d.schedule > 0) permute_blocks();
    prepare_slots(l);
    s.host_image.assign((char *)shared_base(), (char *)shared_base() + shared_bytes());
    s.owner = nullptr;
    d.slot = nullptr;
    for (int i = 0; i < 3; ++i) {
        place_block_size[i] = l.block[i];
        place_grid[i] = l.grid[i];
    }
    note_launch();
    for (uint32_t i = 0; i < s.resident; ++i) start_block(*s.slots[i]);
    open_memory();
    pick();
    s.fiber = free_worker();
    
    switch_stack(&s.host, s.fiber->sp);
    d.stack_bytes = 0;
    if (d.pending) settle_pending();
    disturb_launch();
    close_memory();
    std::copy(s.host_image.begin(), s.host_image.end(), (char *)shared_base());
    if (d.failed == cudaSuccess) return;
    reset_workers();
    d.sticky = d.last = d.failed;
}

/* `ns::k<4>` for what the demangler calls `void ns::k<4>(int*)`. */
static std::string kernel_name(const std::string &demangled) {
    std::string name;
    int depth = 0;
    size_t at = 0;
    const std::string unnamed = "(anonymous namespace)::";
    while (at < demangled.size()) {
        if (demangled.compare(at, unnamed.size(), unnamed) == 0) {
            at += unnamed.size();
            continue;
        }
        const char c = demangled[at++];
        if (c == '(' && depth == 0) break;
        depth += c == '<' ? 1 : c == '>' ? -1 : 0;
        if (c == ' ' && depth == 0) name.clear();
        else if (c != ' ') name += c;
    }
    return name;
}

/* The static shared memory of the kernel that a launch names: the least of those that the name may mean; what the
   functions that it calls declare is not known, and not counted. */
static size_t static_shared(const std::string &launched) {
    static const std::map<std::string, Declared> declared = shared_memory_of_functions();
    size_t least = 0;
    bool found = false;
    for (const auto &[function, shared] : declared) {
        const std::string whole = "::" + kernel_name(function), wanted = launched[0] == ':' ? launched : "::" + launched;
        if (whole.size() < wanted.size() || whole.compare(whole.size() - wanted.size(), wanted.size(), wanted) != 0) continue;
        least = found ? std::min(least, shared.bytes) : shared.bytes;
        found = true;
    }
    return least;
}

/* CUDA C++ Programming Guide, "Shared Memory" of each compute capability: 48 KiB for all of a kernel's shared memory,
   and where cudaFuncSetAttribute allows more dynamic memory, up to the device's limit. */
static size_t shared_limit() {
    return device.asked ? std::max(device.limits.shared_per_block, usual_shared) : usual_shared;
}
static bool shared_fits(const ws_launch_t &l) {
    if (l.shared > (size_t)device.dynamic_limit) return false;
    return l.shared == 0 || l.shared + static_shared(l.name) <= shared_limit();
}

static cudaError_t check_shape(const ws_launch_t &l) {
    const uint64_t threads = (uint64_t)l.block[0] * l.block[1] * l.block[2];
    const uint64_t blocks = (uint64_t)l.grid[0] * l.grid[1] * l.grid[2];
    if (threads == 0 || blocks == 0 || threads > (uint64_t)most_threads) return cudaErrorInvalidConfiguration;
    for (int i = 0; i < 3; ++i)
        if (l.block[i] > (uint32_t)most_block[i] || l.grid[i] > (uint32_t)most_grid[i]) return cudaErrorInvalidConfiguration;
    if (!shared_fits(l)) return cudaErrorInvalidValue;
    if (l.cooperative && blocks * threads > (uint64_t)processors * device.limits.threads_per_unit)
        return cudaErrorCooperativeLaunchTooLarge;
    return cudaSuccess;
}

/* How often each kernel has run, in how many of these launches it has written memory that outlives them, and what was
   copied between host and device: lines at the end of the file that WARPSMITH_EMULATION_COUNTS names:
   `launch COUNT KERNEL`, `write COUNT KERNEL`, `to_device COUNT BYTES`, `to_host COUNT BYTES`. A launch that has yet to
   run then may write. */
struct Counts {
    std::map<std::string, long long> launches, writes;
    long long copies[2] = {}, bytes[2] = {};
    bool counting = true;
    void tell() const {
        const char *path = getenv("WARPSMITH_EMULATION_COUNTS");
        const bool any = !launches.empty() || copies[0] || copies[1];
        FILE *file = path && *path && any ? fopen(path, "a") : nullptr;
        if (!file) return;
        for (const auto &one : launches) fprintf(file, "launch %lld %s\n", one.second, one.first.c_str());
        for (const auto &one : writes)
            if (one.second) fprintf(file, "write %lld %s\n", one.second, one.first.c_str());
        for (int way = 0; way < 2; ++way)
            if (copies[way]) fprintf(file, "%s %lld %lld\n", way ? "to_device" : "to_host", copies[way], bytes[way]);
        fclose(file);
    }
};
static Counts &counts() {
    /* kernels run until the very end: what the program frees when it exits waits for them */
    static Counts *const all = [] {
        atexit([] { counts().tell(); });
        return new Counts;
    }();
    return *all;
}

void count_copy(bool to_device, size_t bytes) {
    counts().copies[to_device] += counts().counting;
    counts().bytes[to_device] += counts().counting ? (long long)bytes : 0;
}

bool counts_copies() { return counts().counting; }

/* Run a launch that was issued before; what it finds ends up in `sticky`, as on a device. */
static void run_issued(const ws_launch_t &l, const Operation &operation) {
    Device &d = device;
    if (d.stamp > 0x70000000u) {
        report_event("too_long", "the program starts more blocks than the emulation can count", operation.pc, 0);
        stop(125);
    }
    open_epoch(&operation);
    d.wrote = false;
    run(l);
    if (!d.wrote) counts().writes[l.name]--;
    close_epoch();
    d.launch = nullptr;
    d.slot = nullptr;
}

/* What the compiler for a device would have refused: said once, at the first launch. */
static void check_program() {
    static bool checked = false;
    if (checked) return;
    checked = true;
    for (const auto &[function, shared] : shared_memory_of_functions())
        if (shared.bytes > usual_shared)
            report_declared("__shared__", shared, function + " declares " + std::to_string(shared.bytes) + " bytes of shared memory; a kernel has " + std::to_string(usual_shared) + " at most, more only as dynamic shared memory");
    Declared constants;
    for (const auto &v : variables())
        if (v->space == Space::constant) constants.add(v->name, v->size);
    if (constants.bytes > most_constant)
        report_declared("__constant__", constants, "the program declares " + std::to_string(constants.bytes) + " bytes of constant memory; there are " + std::to_string(most_constant));
}

/* Which limit of the device a launch is beyond, in words; empty: none of these. */
static std::string exceeded_limit(const ws_launch_t &l) {
    const uint64_t threads = (uint64_t)l.block[0] * l.block[1] * l.block[2];
    if (threads > (uint64_t)most_threads)
        return "; a block has " + std::to_string(most_threads) + " threads at most, this one " + std::to_string(threads);
    for (int i = 0; i < 3; ++i) {
        if (l.block[i] > (uint32_t)most_block[i]) return std::string("; blockDim.") + "xyz"[i] + " is " + std::to_string(most_block[i]) + " at most";
        if (l.grid[i] > (uint32_t)most_grid[i]) return std::string("; gridDim.") + "xyz"[i] + " is " + std::to_string(most_grid[i]) + " at most";
    }
    return "";
}

/* Many programs launch a grid without blocks, and go on; what is beyond the device's limits never runs, for any data. */
static const char *kind_of(const ws_launch_t &l, cudaError_t wrong) {
    const bool empty = !(l.grid[0] && l.grid[1] && l.grid[2] && l.block[0] && l.block[1] && l.block[2]);
    return empty || wrong == cudaErrorInvalidResourceHandle ? "bad_launch" : "too_large";
}

static cudaError_t refuse(const ws_launch_t &l, cudaError_t wrong, uint32_t pc) {
    Device &d = device;
    d.launch = &l;
    char shape[120];
    snprintf(shape, sizeof shape, "<<<(%u, %u, %u), (%u, %u, %u), %zu>>>: ", l.grid[0], l.grid[1], l.grid[2], l.block[0],
             l.block[1], l.block[2], l.shared);
    std::string text = std::string("launch of ") + l.name + shape + cudaGetErrorString(wrong);
    if (wrong == cudaErrorInvalidValue)
        text += "; " + std::to_string(static_shared(l.name)) + " bytes of static and " + std::to_string(l.shared) +
                " of dynamic shared memory; there may be " + std::to_string(shared_limit()) + " together, " +
                std::to_string(device.dynamic_limit) + " of them dynamic";
    else text += exceeded_limit(l);
    report_event(kind_of(l, wrong), text, pc, 0);
    d.launch = nullptr;
    return d.last = wrong;
}

} // namespace ws

/* Captures copy too, and those copies are not the program's. */
extern "C" void ws_count_copies(int on) {
    LOCKED;
    ws::counts().counting = on;
}

/* The launch becomes an operation of its stream; the arguments were copied, and are given back after it ran. */
extern "C" cudaError_t ws_launch(const ws_launch_t *launch) {
    using namespace ws;
    Device &d = device;
    const uint32_t pc = WS_CALLER;
    if (in_kernel()) {
        report_event("nested_launch", "a kernel launches a kernel; the emulation does not do that", pc, 0);
        abort_launch(cudaErrorNotSupported);
    }
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
    const std::shared_ptr<const void> arguments(launch->arguments, launch->discard);
    if (d.sticky != cudaSuccess) return d.last = d.sticky;
    CUstream_st *stream = stream_at(launch->stream);
    check_program();
    if (launch->parameters > most_parameters)
        report_event("too_large", std::string("kernel ") + launch->name + " takes " + std::to_string(launch->parameters) + " bytes of parameters; there are " + std::to_string(most_parameters) + " at most", pc, 0);
    const cudaError_t wrong = stream ? check_shape(*launch) : cudaErrorInvalidResourceHandle;
    if (wrong != cudaSuccess) return refuse(*launch, wrong, pc);
    counts().launches[launch->name]++;
    counts().writes[launch->name]++;
    const ws_launch_t own = *launch;
    issue(*stream, Kind::kernel, own.name, pc, {}, [own, arguments](const Operation &o) { run_issued(own, o); });
    return cudaSuccess;
}
