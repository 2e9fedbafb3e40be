/* The inside of the emulation: what its parts share. Nothing here is seen by the emulated program.

   memory.cpp    the device's address space: arena, regions, poison, protection from the host
   shadow.h      who touched which bytes last, and whether two accesses are ordered
   launch.cpp    one kernel launch
   schedule.cpp  threads on fibers, blocks in slots: who runs next
   sync.cpp      barriers, warp operations, and the order that they make
   hooks.cpp     what the instrumented code calls: every load, store and atomic
   api.cpp       the CUDA runtime API
   report.cpp    races and errors as JSON lines */
#ifndef WARPSMITH_EMULATOR_H
#define WARPSMITH_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "include/ws_api.h"
#include "include/ws_launch.h"
#include "include/ws_device.h"

namespace ws {

using Address = uintptr_t;

constexpr int processors = 16; /* few, since programs size persistent grids by it */

/* One access: `stamp` names a barrier interval of one block (unique over the whole run), `who` holds the thread in its
   block (10 bits), whether it was atomic (1 bit) and the thread's count of warp syncs and fences (21 bits), `pc` is the
   offset of the return address in the program's image. */
struct Entry {
    uint32_t stamp, who, pc;
    uint32_t thread() const { return who & 1023u; }
    bool atomic() const { return who >> 10 & 1u; }
    uint32_t step() const { return who >> 11; }
};

/* The last write, and up to two reads that no later write can be ordered after without being ordered after all. */
struct Cell {
    Entry write, read, other;
};

enum class Space : uint8_t { global, managed, pinned, shared, dynamic_shared, device, constant, arguments };

/* A piece of memory with shadow cells of 1 << shift bytes each; cells are made at the first access. */
struct Region {
    Address base = 0;
    size_t size = 0;
    Cell *cells = nullptr;
    size_t cell_bytes = 0;
    int shift = 3;
    Space space = Space::global;
    bool live = true;
    bool block_private = false;
    uint32_t pc = 0;
    std::string name;
};

struct Fiber {
    void *sp = nullptr;
    char *low = nullptr;
    size_t size = 0;
};

enum class State : uint8_t { ready, running, barrier, grid, warp, active, done };

struct Thread {
    Fiber *fiber = nullptr;
    uint32_t step = 0;
    uint32_t fenced = 0;
    State state = State::ready;
};

/* Threads of a warp that wait for the rest of `mask` at one warp operation. */
struct Meeting {
    uint32_t mask = 0, arrived = 0, pc = 0;
    int kind = 0;
    uint64_t value[32] = {};
    int source[32] = {};
    uint64_t *result[32] = {};
    uint32_t *valid[32] = {};
};

struct Warp {
    uint32_t exists = 0, exited = 0;
    bool ordered = false;                 /* some order inside the interval is known */
    std::vector<Meeting> meetings;
    std::unique_ptr<uint32_t[]> clock;    /* clock[i * 32 + j]: lane i comes after the first clock steps of lane j */
};

/* What a block released by a fence and an atomic: all its intervals before `stamp`, and in that one the steps of the
   thread before `step` (its fence); its atomic accesses count up to `atomic_step` (the atomic that published). */
struct Release {
    uint32_t stamp, thread, step, atomic_step;
};
struct Acquired {
    Release release;
    uint32_t stamp, thread;
};

/* A place for one resident block. */
struct Slot {
    uint32_t index = 0, block = 0, stamp = 0;
    uint32_t coordinates[3] = {};
    bool live = false;
    uint32_t exited = 0, arrived = 0, grid_arrived = 0, predicates = 0, barrier_pc = 0;
    int barrier_kind = 0, barrier_result = 0;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<uint16_t> ready;
    std::unordered_map<uint32_t, Acquired> acquired;
    std::vector<char> image, dynamic_image;
    Region shared, dynamic_shared;
};

/* All state of the emulated device; one instance, zero until `start`. The hot fields come first. */
struct Device {
    bool pending = false;                 /* a write-write race waits to see what is written */
    uint32_t fuel = 0;                    /* accesses until the next forced yield */
    Address arena = 0;
    size_t arena_bytes = 0;
    Region **pages = nullptr;
    Entry now = {};
    uint32_t block = 0;
    uint32_t first = 1;                   /* entries with an older stamp are forgotten */
    Address stack = 0;
    size_t stack_bytes = 0;
    Address image = 0;
    Slot *slot = nullptr;
    Thread *thread = nullptr;
    uint32_t stamp = 1;
    std::vector<uint32_t> owner;          /* block of stamp first_owner + i */
    uint32_t first_owner = 1;

    const ws_launch_t *launch = nullptr;
    uint32_t launches = 0;
    uint64_t seed = 1, random = 1;
    int schedule = 0;                     /* 0 descending, -1 ascending, 1.. permuted */
    uint32_t yields = 0;                  /* random yields left in this launch */
    cudaError_t sticky = cudaSuccess, last = cudaSuccess, failed = cudaSuccess;
    size_t capacity = 0, used = 0;
    int dynamic_limit = 48 * 1024;

    std::unordered_map<const Cell *, Cell> atomics;   /* cells with atomic writes of several threads */
    std::unordered_map<Address, std::unordered_map<uint32_t, Release>> released;
};

extern Device device;

/* memory.cpp */
void start_memory();
Region *acquire(size_t bytes, Space space, const char *name, uint32_t pc);
bool release(Address address, Space space);
Region *region_at(const void *address);
Region *slow_region(Address address, size_t bytes, bool write);
void open_memory();
void close_memory();
uint64_t poison_word();
void fill_poison(void *to, size_t bytes);
void drop_cells(Region &region);
bool refine(Region &region, Address offset, size_t bytes);
Cell *make_cells(Region &region);
const std::vector<std::unique_ptr<Region>> &variables();
bool touches_variable(Address address);
bool add_host_range(void *pointer, size_t bytes);
bool drop_host_range(void *pointer);
Address shared_base();
size_t shared_bytes();

/* launch.cpp: one host thread at a time uses the device */
std::recursive_mutex &device_lock();

/* schedule.cpp */
[[noreturn]] void abort_launch(cudaError_t error);
void yield_now();
void refuel();
uint32_t next_random();

/* report.cpp */
void start_reports();
void report_race(const Entry &before, const char *before_op, const char *op, Region &region, Address address, size_t bytes);
void settle_pending();
void report_bad_access(const char *kind, Address address, size_t bytes, const char *op, uint32_t pc, Region *region);
void report_event(const char *kind, const std::string &message, uint32_t pc, uint32_t other_pc);
void flush_reports();
[[noreturn]] void stop(int code);

inline uint32_t offset_of(const void *pc) {
    const Address distance = (Address)pc - device.image;
    return distance < 0xffffffffu ? (uint32_t)distance : 0;
}
/* Whether the caller is a thread of a kernel: it runs on that thread's stack. Other threads of the host do not. */
inline bool in_kernel() { return (Address)__builtin_frame_address(0) - device.stack < device.stack_bytes; }
inline uint32_t owner_of(uint32_t stamp) { return device.owner[stamp - device.first_owner]; }

} // namespace ws

#define WS_CALLER ::ws::offset_of(__builtin_return_address(0))

#endif
