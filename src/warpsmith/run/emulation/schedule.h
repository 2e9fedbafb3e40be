/* The scheduler's inside, shared by schedule.cpp (threads), sync.cpp (what threads wait for) and launch.cpp. */
#ifndef WARPSMITH_SCHEDULE_H
#define WARPSMITH_SCHEDULE_H

#include <algorithm>

#include "emulator.h"

namespace ws {

struct Scheduler {
    std::vector<std::unique_ptr<Slot>> slots;
    std::vector<std::unique_ptr<Fiber>> fibers;
    std::vector<Fiber *> idle;
    std::vector<char> poison, host_image;
    Fiber *fiber = nullptr;
    Thread *next = nullptr;
    Slot *next_slot = nullptr, *owner = nullptr;
    void *host = nullptr;
    uint32_t resident = 0, threads = 0, warps = 0, started = 0, finished = 0, blocks = 0;
    uint32_t burst = 0;
    uint64_t factor = 1, shift = 0;
    uint32_t shape[3] = {};
    uint16_t place[1024][3];
};
Scheduler &scheduler();

inline uint32_t thread_number(const Slot &slot, const Thread *t) { return (uint32_t)(t - slot.threads.data()); }

/* What the program sees as threadIdx, blockIdx, blockDim and gridDim. */
extern uint32_t place_thread[3] __asm__("threadIdx"), place_block[3] __asm__("blockIdx");
extern uint32_t place_block_size[3] __asm__("blockDim"), place_grid[3] __asm__("gridDim");

/* schedule.cpp */
void new_interval(Slot &slot);
void fill_ready(Slot &slot, State from);
void start_block(Slot &slot);
Fiber *free_worker();
void reset_workers();
Thread *pick();
void park(State state);

/* launch.cpp */
void prepare_slot(uint32_t index);

/* sync.cpp */
void release_barrier(Slot &slot);
void release_grid();
bool grid_complete();
bool release_active(Slot &slot);
void check_meetings(Slot &slot, Warp &warp);

} // namespace ws

#endif
