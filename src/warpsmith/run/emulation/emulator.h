/* The inside of the emulation: what its parts share. Nothing here is seen by the emulated program.

   memory.cpp    the device's address space: arena, regions, poison, protection from the host
   shadow.h      who touched which bytes last, and whether two accesses are ordered
   timeline.cpp  streams, their operations, and what orders them and the host
   streams.cpp   the API of streams, events and host functions
   launch.cpp    one kernel launch
   schedule.cpp  threads on fibers, blocks in slots: who runs next
   sync.cpp      barriers, warp operations, and the order that they make
   hooks.cpp     what the instrumented code calls: every load, store and atomic
   api.cpp       the CUDA runtime API: memory and errors; copies.cpp: copies and sets; device.cpp: the device's properties
   disturb.cpp   other values in what kernels wrote, to see whether anybody notices
   stayed.cpp    what kernels wrote and nobody copied
   report.cpp    races and errors as JSON lines */
#ifndef WARPSMITH_EMULATOR_H
#define WARPSMITH_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#include <map>
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

/* watched: a copy that is not ordered with the kernel that runs touches it (timeline.h). */
enum class Guard : uint8_t { open, watched, freed };

/* A piece of memory with shadow cells of 1 << shift bytes each; cells are made at the first access. */
struct Region {
    Address base = 0;
    size_t size = 0;
    Cell *cells = nullptr;
    size_t cell_bytes = 0;
    int shift = 3;
    Space space = Space::global;
    Guard guard = Guard::open;
    bool block_private = false;
    bool copied = false;                  /* a copy was made from it, to whatever memory, or stayed.cpp wrote it down */
    uint32_t pc = 0;
    std::string name;
};

struct Fiber {
    void *sp = nullptr;
    char *low = nullptr;
    size_t size = 0;
};

enum class State : uint8_t { ready, running, barrier, grid, warp, active, done };

/* An asynchronous copy to shared memory that is not made yet, in the group that its thread committed as number `group`. */
struct PendingCopy {
    void *to;
    const void *from;
    size_t bytes, zeros;
    uint32_t group;
};

struct Thread {
    Fiber *fiber = nullptr;
    uint32_t step = 0;
    uint32_t fenced = 0;
    uint32_t pc = 0;       /* of its latest access or barrier, while it does not run */
    uint32_t met = 0;      /* how many barriers and warp operations it has passed */
    State state = State::ready;
    uint32_t groups = 0;                  /* of asynchronous copies that it has committed */
    std::vector<PendingCopy> copies;      /* the oldest first */
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
    int barrier_kind = 0, barrier_number = 0, barrier_result = 0;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<uint16_t> ready;
    std::unordered_map<uint32_t, Acquired> acquired;
    std::vector<char> image, dynamic_image;
    Region shared, dynamic_shared;
};

/* What differs between GPUs, as WARPSMITH_EMULATION_DEVICE says (`shared_per_block=166912 …`), else an A100. */
struct Limits {
    int capability = 80;                  /* 10 major + minor */
    int shared_per_block = 163 << 10;     /* static and dynamic together, for a kernel that asks for more than 48 KiB */
    int shared_per_unit = 164 << 10;
    int threads_per_unit = 2048, blocks_per_unit = 32;
    int registers = 65536;
    int l2 = 40 << 20;
    int clock_khz = 1410000;
};
constexpr int usual_shared = 48 << 10; /* what a kernel has that does not ask for more, and a static array at most */
constexpr int most_threads = 1024, most_block[3] = {1024, 1024, 64}, most_grid[3] = {0x7fffffff, 65535, 65535};

/* All state of the emulated device; one instance, zero until `start`. The hot fields come first. */
struct Device {
    bool pending = false;                 /* a write-write race waits to see what is written */
    uint32_t fuel = 0;                    /* accesses until the next forced yield */
    Address arena = 0;
    size_t arena_bytes = 0;
    Region **pages = nullptr;
    Entry now = {};
    uint32_t block = 0;
    uint32_t first = 1;                   /* entries with an older stamp are ordered before the kernel that runs */
    uint32_t own_first = 1;               /* from here on they are its own; between the two, other actors' */
    Address stack = 0;
    size_t stack_bytes = 0;
    Address image = 0;
    Slot *slot = nullptr;
    Thread *thread = nullptr;
    uint32_t stamp = 1;
    std::vector<uint32_t> owner;          /* block of stamp first_owner + i */
    uint32_t first_owner = 1;

    bool unsynchronized = false;          /* operations are under way that the host does not know to be complete */
    Address watch_low = ~(Address)0, watch_high = 0; /* all memory of the host that operations may touch */

    const ws_launch_t *launch = nullptr;
    bool wrote = false;                   /* the kernel that runs has written memory that outlives its blocks */
    uint32_t launches = 0;
    uint64_t seed = 1, random = 1;
    int schedule = 0;                     /* 0 descending, -1 ascending, 1.. permuted */
    uint32_t yields = 0;                  /* random yields left in this launch */
    cudaError_t sticky = cudaSuccess, last = cudaSuccess, failed = cudaSuccess;
    size_t capacity = 0, used = 0;
    int dynamic_limit = usual_shared;     /* the largest that a kernel has asked for, if one has */
    bool asked = false;
    Limits limits;

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
/* Opens the pages of [pointer, pointer + bytes) alone, where that is memory of the device's: for copies of single rows,
   of which there are many, and of all other pages more. */
class OpenPages {
public:
    OpenPages(const void *pointer, size_t bytes);
    ~OpenPages();
    OpenPages(const OpenPages &) = delete;
    OpenPages &operator=(const OpenPages &) = delete;

private:
    Address begin_ = 0;
    size_t bytes_ = 0;
};
uint64_t poison_word();
void fill_poison(void *to, size_t bytes);
void drop_cells(Region &region);
bool refine(Region &region, Address offset, size_t bytes);
Cell *make_cells(Region &region);
const std::vector<std::unique_ptr<Region>> &variables();
bool touches_variable(Address address);
inline void watch_host(Address low, Address high) {
    device.watch_low = low < device.watch_low ? low : device.watch_low;
    device.watch_high = high > device.watch_high ? high : device.watch_high;
}
bool add_host_range(void *pointer, size_t bytes);
bool drop_host_range(void *pointer);
Address shared_base();
size_t shared_bytes();

/* api.cpp: end a call of the API; an error is noted, and one of an earlier kernel comes first */
cudaError_t done(cudaError_t error, const char *call, uint32_t pc);

/* timeline.cpp */
void host_access(Address address, size_t bytes, bool write, uint32_t pc);
bool concurrent_stamp(uint32_t stamp);
uint32_t oldest_stamp();
void check_watched(Region &region, Address address, size_t bytes, bool write, uint32_t pc);
void each_region(void (*visit)(Region &));

/* disturb.cpp */
void disturb_launch();
void note_launch();

/* stayed.cpp */
void note_stays(Region &region);
void note_all_that_stays();

/* device.cpp */
void start_limits();

/* launch.cpp: one host thread at a time uses the device */
std::recursive_mutex &device_lock();
void count_copy(bool to_device, size_t bytes);
bool counts_copies();

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
void report_absent(const char *kind, uint32_t block, uint32_t thread, uint32_t pc, uint32_t last_pc);
void report_event(const char *kind, const std::string &message, uint32_t pc, uint32_t other_pc);
/* Variables that are declared in one place of the device: how much they take together, and the largest of them. */
struct Declared {
    size_t bytes = 0, largest = 0;
    std::string variable;
    void add(const std::string &name, size_t size) {
        bytes += size;
        if (size > largest) largest = size, variable = name;
    }
};
/* The same about a declaration, which has the word `space` before it. */
void report_declared(const char *space, const Declared &declared, const std::string &message);
/* The static shared memory that each function declares, by its whole name. */
std::map<std::string, Declared> shared_memory_of_functions();
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
#define DONE(error) ::ws::done(error, __func__, WS_CALLER)
#define LOCKED const std::lock_guard<std::recursive_mutex> hold(::ws::device_lock())

#endif
