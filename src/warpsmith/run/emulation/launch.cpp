/* One launch: its shape checked as the runtime does, its slots prepared, run to the end or to its first error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <numeric>
#include <string>

#include "fiber.h"
#include "schedule.h"

static char dynamic_area[256 * 1024] __attribute__((aligned(256)));
extern "C" char *ws_dynamic_shared(void) { return dynamic_area; }

namespace ws {

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
    d.first = d.first_owner = d.stamp;
    d.owner.clear();
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
    for (uint32_t i = 0; i < s.resident; ++i) start_block(*s.slots[i]);
    open_memory();
    pick();
    s.fiber = free_worker();
    
    switch_stack(&s.host, s.fiber->sp);
    d.stack_bytes = 0;
    if (d.pending) settle_pending();
    close_memory();
    std::copy(s.host_image.begin(), s.host_image.end(), (char *)shared_base());
    if (d.failed == cudaSuccess) return;
    reset_workers();
    d.sticky = d.last = d.failed;
}

static cudaError_t check_shape(const ws_launch_t &l) {
    const uint64_t threads = (uint64_t)l.block[0] * l.block[1] * l.block[2];
    const uint64_t blocks = (uint64_t)l.grid[0] * l.grid[1] * l.grid[2];
    if (threads == 0 || threads > 1024 || l.block[0] > 1024 || l.block[1] > 1024 || l.block[2] > 64)
        return cudaErrorInvalidConfiguration;
    if (blocks == 0 || l.grid[0] > 0x7fffffffu || l.grid[1] > 65535 || l.grid[2] > 65535)
        return cudaErrorInvalidConfiguration;
    if (l.shared > (size_t)device.dynamic_limit) return cudaErrorInvalidValue;
    if (l.cooperative && blocks * threads > processors * 2048) return cudaErrorCooperativeLaunchTooLarge;
    return cudaSuccess;
}

/* How often each kernel has run: lines at the end of the file that WARPSMITH_EMULATION_LAUNCHES names. */
struct Launches {
    std::map<std::string, long long> counts;
    ~Launches() {
        const char *path = getenv("WARPSMITH_EMULATION_LAUNCHES");
        FILE *file = path && *path && !counts.empty() ? fopen(path, "a") : nullptr;
        if (!file) return;
        for (const auto &one : counts) fprintf(file, "%lld %s\n", one.second, one.first.c_str());
        fclose(file);
    }
};
static Launches &launches() {
    static Launches all;
    return all;
}

} // namespace ws

extern "C" cudaError_t ws_launch(const ws_launch_t *launch) {
    using namespace ws;
    Device &d = device;
    if (in_kernel()) {
        report_event("nested_launch", "a kernel launches a kernel; the emulation does not do that", WS_CALLER, 0);
        abort_launch(cudaErrorNotSupported);
    }
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
    if (d.sticky != cudaSuccess) return d.last = d.sticky;
    const cudaError_t wrong = check_shape(*launch);
    if (wrong != cudaSuccess) {
        d.launch = launch;
        char text[160];
        snprintf(text, sizeof text, "launch of %s<<<(%u, %u, %u), (%u, %u, %u), %zu>>>: %s", launch->name, launch->grid[0],
                 launch->grid[1], launch->grid[2], launch->block[0], launch->block[1], launch->block[2], launch->shared,
                 cudaGetErrorString(wrong));
        report_event("bad_launch", text, WS_CALLER, 0);
        d.launch = nullptr;
        return d.last = wrong;
    }
    if (d.stamp > 0x70000000u) {
        report_event("too_long", "the program starts more blocks than the emulation can count", WS_CALLER, 0);
        stop(125);
    }
    launches().counts[launch->name]++;
    run(*launch);
    d.launch = nullptr;
    d.slot = nullptr;
    return d.failed;
}
