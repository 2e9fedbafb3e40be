/* Threads on fibers, blocks in slots: who runs next.

   Invariant: exactly one thread runs at a time, and it runs until it waits (barrier, warp operation) or a forced yield.
   A thread that never waits runs to its end on the stack of the worker that picked it: no switch at all.

       worker A: thread 7 | thread 3 | thread 9 waits ----------------------- | thread 9 goes on
       worker B:                                  thread 1 | thread 2 waits...

   Schedules: descending and ascending run one block after the other; permuted ones (a seed each) keep up to eight
   blocks resident, take blocks in a permuted order and threads at random, and yield at random accesses.
   Barriers count exited threads as arrived. Threads that wait for one another forever end the launch with an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fiber.h"
#include "schedule.h"

uint32_t ws::place_thread[3], ws::place_block[3], ws::place_block_size[3], ws::place_grid[3];

namespace ws {
namespace {
constexpr size_t stack_bytes = 256 * 1024;
constexpr size_t guarded_stacks = 12000; /* each guard costs the system two mappings, of some 65,000 */
constexpr uint32_t spin_fuel = 1u << 20;

/* The block that is started as the i-th. */
uint32_t block_in_order(uint32_t i) {
    const Scheduler &s = scheduler();
    if (device.schedule < 0) return i;
    if (device.schedule == 0) return s.blocks - 1 - i;
    return (uint32_t)((i * s.factor + s.shift) % s.blocks);
}
} // namespace

Scheduler &scheduler() {
    static Scheduler *the = new Scheduler;
    return *the;
}

void new_interval(Slot &slot) {
    slot.stamp = device.stamp++;
    device.owner.push_back(slot.block);
    for (Warp &w : slot.warps)
        if (w.ordered) {
            std::fill_n(w.clock.get(), 1024, 0u);
            w.ordered = false;
        }
}

void fill_ready(Slot &slot, State from) {
    const uint32_t n = scheduler().threads;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t t = device.schedule < 0 ? n - 1 - i : i;
        if (slot.threads[t].state != from) continue;
        slot.threads[t].state = State::ready;
        slot.ready.push_back((uint16_t)t);
    }
}

void start_block(Slot &slot) {
    Scheduler &s = scheduler();
    const ws_launch_t &l = *device.launch;
    slot.block = block_in_order(s.started++);
    slot.coordinates[0] = slot.block % l.grid[0];
    slot.coordinates[1] = slot.block / l.grid[0] % l.grid[1];
    slot.coordinates[2] = slot.block / l.grid[0] / l.grid[1];
    slot.live = true;
    slot.exited = slot.arrived = slot.grid_arrived = slot.predicates = 0;
    std::fill(slot.threads.begin(), slot.threads.end(), Thread{});
    for (uint32_t w = 0; w < s.warps; ++w) {
        Warp &warp = slot.warps[w];
        const uint32_t lanes = std::min(32u, s.threads - w * 32);
        warp.exists = lanes == 32 ? all : (1u << lanes) - 1;
        warp.exited = 0;
        warp.meetings.clear();
    }
    if (!slot.acquired.empty()) slot.acquired.clear();
    new_interval(slot);
    const bool here = s.owner == &slot;
    if (shared_bytes()) memcpy(here ? (char *)shared_base() : slot.image.data(), s.poison.data(), shared_bytes());
    if (l.shared) memcpy(here ? ws_dynamic_shared() : slot.dynamic_image.data(), s.poison.data(), l.shared);
    slot.ready.clear();
    fill_ready(slot, State::ready);
}

/* Put the shared memory of `slot` in place. */
static void own_shared(Slot &slot) {
    Scheduler &s = scheduler();
    if (s.owner == &slot) return;
    const size_t fixed = shared_bytes(), dynamic = device.launch->shared;
    if (s.owner) {
        memcpy(s.owner->image.data(), (char *)shared_base(), fixed);
        memcpy(s.owner->dynamic_image.data(), ws_dynamic_shared(), dynamic);
    }
    memcpy((char *)shared_base(), slot.image.data(), fixed);
    memcpy(ws_dynamic_shared(), slot.dynamic_image.data(), dynamic);
    s.owner = &slot;
}

/* Make `t` the running thread. */
static void enter(Slot &slot, Thread *t) {
    Scheduler &s = scheduler();
    Device &d = device;
    const uint32_t number = thread_number(slot, t);
    t->state = State::running;
    if (d.slot != &slot || d.block != slot.block) {
        own_shared(slot);
        d.slot = &slot;
        d.block = slot.block;
        for (int i = 0; i < 3; ++i) place_block[i] = slot.coordinates[i];
    }
    d.thread = t;
    d.now.stamp = slot.stamp;
    d.now.who = number | t->step << 11;
    d.now.pc = t->pc;
    d.stack = (Address)s.fiber->low;
    d.stack_bytes = s.fiber->size;
    if (!d.yields) d.fuel = spin_fuel;
    for (int i = 0; i < 3; ++i) place_thread[i] = s.place[number][i];
}

static void worker();

Fiber *free_worker() {
    Scheduler &s = scheduler();
    if (s.idle.empty()) {
        auto fiber = std::make_unique<Fiber>();
        char *stack = static_cast<char *>(mmap(nullptr, stack_bytes + 4096, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (stack == MAP_FAILED) {
            report_event("out_of_host_memory", "no memory for the stacks of waiting threads", 0, 0);
            stop(125);
        }
        if (s.fibers.size() < guarded_stacks) mprotect(stack, 4096, PROT_NONE);
        fiber->low = stack + 4096;
        fiber->size = stack_bytes;
        fiber->sp = fresh_stack(fiber->low, fiber->size, worker);
        s.idle.push_back(fiber.get());
        s.fibers.push_back(std::move(fiber));
    }
    Fiber *fiber = s.idle.back();
    s.idle.pop_back();
    return fiber;
}

static void report_deadlock() {
    std::string waiting;
    size_t at_barrier = 0, at_warp = 0, at_grid = 0;
    for (const auto &slot : scheduler().slots) {
        if (!slot->live) continue;
        for (const Thread &t : slot->threads) {
            at_barrier += t.state == State::barrier;
            at_warp += t.state == State::warp;
            at_grid += t.state == State::grid;
        }
        for (const Warp &w : slot->warps)
            for (const Meeting &m : w.meetings)
                if (waiting.empty()) {
                    char text[96];
                    snprintf(text, sizeof text, "; a warp operation names lanes %08x and only %08x came", m.mask, m.arrived);
                    waiting = text;
                }
    }
    report_event("deadlock", std::to_string(at_barrier) + " threads wait at a block barrier, " + std::to_string(at_warp) +
                 " at a warp operation, " + std::to_string(at_grid) + " at a grid barrier" + waiting, device.now.pc, 0);
}

static Slot *choose_slot() {
    Scheduler &s = scheduler();
    if (s.resident == 1) return s.slots[0]->ready.empty() ? nullptr : s.slots[0].get();
    if (s.burst && device.slot && !device.slot->ready.empty()) {
        --s.burst;
        return device.slot;
    }
    const uint32_t start = next_random() % s.resident;
    s.burst = next_random() & 31u;
    for (uint32_t i = 0; i < s.resident; ++i) {
        Slot *slot = s.slots[(start + i) % s.resident].get();
        if (!slot->ready.empty()) return slot;
    }
    return nullptr;
}

/* Take the next thread to run into `next`, or return nullptr when the launch is over or stuck. */
Thread *pick() {
    Scheduler &s = scheduler();
    for (;;) {
        Slot *slot = choose_slot();
        if (slot) {
            std::vector<uint16_t> &ready = slot->ready;
            if (device.schedule > 0) std::swap(ready[next_random() % ready.size()], ready.back());
            s.next = &slot->threads[ready.back()];
            ready.pop_back();
            s.next_slot = slot;
            return s.next;
        }
        if (s.finished == s.blocks) return nullptr;
        bool moved = false;
        for (uint32_t i = 0; i < s.resident && !moved; ++i) moved = s.slots[i]->live && release_active(*s.slots[i]);
        if (moved) continue;
        report_deadlock();
        device.failed = cudaErrorLaunchFailure;
        return nullptr;
    }
}

/* Leave the present stack for the thread in `next`. */
static void go(Fiber *from) {
    Scheduler &s = scheduler();
    Fiber *to = s.next->fiber ? s.next->fiber : free_worker();
    s.next->fiber = nullptr;
    s.fiber = to;
    switch_stack(&from->sp, to->sp);
}

static void finish(Slot &slot, Thread *t) {
    Scheduler &s = scheduler();
    const uint32_t number = thread_number(slot, t);
    t->state = State::done;
    t->pc = device.now.pc;
    ++slot.exited;
    Warp &warp = slot.warps[number >> 5];
    warp.exited |= 1u << (number & 31);
    if (!warp.meetings.empty()) check_meetings(slot, warp);
    if (slot.arrived && slot.arrived + slot.exited == s.threads) release_barrier(slot);
    if (slot.exited == s.threads) {
        ++s.finished;
        slot.live = false;
        if (s.started < s.blocks) start_block(slot);
        else if (device.launch->cooperative && grid_complete()) release_grid();
    }
}

/* A worker runs fresh threads one after the other and hands its turn to waiting ones that can go on. */
static void worker() {
    Scheduler &s = scheduler();
    for (;;) {
        Fiber *self = s.fiber;
        Slot &slot = *s.next_slot;
        Thread *t = s.next;
        enter(slot, t);
        device.launch->thread(device.launch->arguments);
        if (device.pending) settle_pending();
        finish(slot, t);
        Thread *next = pick();
        if (next && !next->fiber) continue;
        s.idle.push_back(self);
        if (next) go(self);
        else switch_stack(&self->sp, s.host);
    }
}

/* The running thread waits; returns when it is picked again. */
void park(State state) {
    Scheduler &s = scheduler();
    Fiber *self = s.fiber;
    Thread *t = device.thread;
    Slot &slot = *device.slot;
    t->fiber = self;
    t->pc = device.now.pc;
    if (t->state == State::running) t->state = state;
    Thread *next = pick();
    if (!next) switch_stack(&self->sp, s.host);
    if (next == t) t->fiber = nullptr;
    else go(self);
    enter(slot, t);
}

uint32_t next_random() {
    uint64_t x = device.random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    device.random = x;
    return (uint32_t)(x >> 16);
}

void refuel() { device.fuel = device.yields ? 1 + next_random() % 512 : spin_fuel; }

/* A thread that spins may wait for a block that has no place yet. */
static void start_another_block() {
    Scheduler &s = scheduler();
    if (s.started == s.blocks || (s.resident + 1) * s.threads > 16384) return;
    if (s.slots.size() == s.resident) s.slots.push_back(std::make_unique<Slot>());
    prepare_slot(s.resident);
    start_block(*s.slots[s.resident++]);
}

/* Let others run: at random for hostility, and after a million accesses because the thread may wait for another. */
void yield_now() {
    Device &d = device;
    if (d.yields) --d.yields;
    refuel();
    Thread *t = d.thread;
    if (!t || d.pending) return;
    if (d.fuel == spin_fuel) start_another_block();
    Slot &slot = *d.slot;
    const uint16_t number = (uint16_t)thread_number(slot, t);
    t->state = State::ready;
    slot.ready.insert(slot.ready.begin(), number);
    park(State::ready);
}

/* After an aborted launch the threads' stacks are given up where they stand. */
void reset_workers() {
    Scheduler &s = scheduler();
    s.idle.clear();
    for (const auto &fiber : s.fibers) {
        fiber->sp = fresh_stack(fiber->low, fiber->size, worker);
        s.idle.push_back(fiber.get());
    }
}

void abort_launch(cudaError_t error) {
    device.failed = error;
    Scheduler &s = scheduler();
    Fiber *self = s.fiber;
    switch_stack(&self->sp, s.host);
    abort();
}

} // namespace ws
