/* What threads wait for: block barriers, grid barriers, warp operations, and the order that each of them makes.

   A barrier starts a new interval of its block: new stamp, so every access before it is ordered before every one after.
   A warp operation joins the clocks of its participants: clock[i][j] counts the steps of lane j that lane i comes after.
   Exited threads count as arrived at barriers and are not waited for by warp operations. */
#include <string.h>
#include <time.h>

#include "schedule.h"

namespace ws {

/* Threads wait at `pc` for others of which some, in `exited` of `count` from `first` on, have ended without coming. That is
   allowed to threads that returned before, and undefined for those that went around: which it was, the text tells. */
static void note_absent(const Slot &slot, const char *kind, uint32_t pc, uint32_t first, uint32_t count, uint32_t exited) {
    const Thread *gone = nullptr;
    for (uint32_t i = 0; i < count; ++i) {
        const Thread &t = slot.threads[first + i];
        const bool absent = count > 32 || exited >> i & 1u;
        if (t.state == State::done && absent && (!gone || t.pc > gone->pc)) gone = &t;
    }
    if (gone) report_absent(kind, slot.block, thread_number(slot, gone), pc, gone->met ? 0 : gone->pc);
}

void release_barrier(Slot &slot) {
    if (slot.exited) note_absent(slot, "absent_barrier", slot.barrier_pc, 0, (uint32_t)slot.threads.size(), all);
    const uint32_t arrived = slot.arrived, n = slot.predicates;
    slot.barrier_result = slot.barrier_kind == barrier_count ? (int)n
                          : slot.barrier_kind == barrier_and ? n == arrived
                                                             : n != 0;
    slot.arrived = slot.predicates = 0;
    new_interval(slot);
    fill_ready(slot, State::barrier);
}

void release_grid() {
    Scheduler &s = scheduler();
    if (device.first == device.own_first) device.first = device.stamp;
    device.own_first = device.first_owner = device.stamp;
    device.owner.clear();
    device.atomics.clear();
    for (uint32_t i = 0; i < s.resident; ++i) {
        s.slots[i]->grid_arrived = 0;
        new_interval(*s.slots[i]);
        fill_ready(*s.slots[i], State::grid);
    }
}

bool grid_complete() {
    Scheduler &s = scheduler();
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < s.resident; ++i) {
        const Slot &slot = *s.slots[i];
        if (slot.live && slot.grid_arrived + slot.exited != s.threads) return false;
        waiting += slot.grid_arrived;
    }
    return waiting > 0;
}

/* When nothing can run: threads that asked for the active mask at one place are now known to be together. */
bool release_active(Slot &slot) {
    for (Warp &w : slot.warps)
        for (size_t i = 0; i < w.meetings.size(); ++i) {
            Meeting &m = w.meetings[i];
            if (m.kind != -1) continue;
            const uint32_t base = (uint32_t)(&w - slot.warps.data()) * 32;
            for (uint32_t lane = 0; lane < 32; ++lane)
                if (m.arrived >> lane & 1u) {
                    *m.result[lane] = m.arrived;
                    slot.threads[base + lane].state = State::ready;
                    slot.ready.push_back((uint16_t)(base + lane));
                }
            w.meetings.erase(w.meetings.begin() + (long)i);
            return true;
        }
    return false;
}

static void order_participants(Slot &slot, Warp &warp, uint32_t base, uint32_t who) {
    if (!warp.clock) warp.clock = std::make_unique<uint32_t[]>(1024);
    uint32_t joined[32] = {};
    for (uint32_t i = 0; i < 32; ++i) {
        if (!(who >> i & 1u)) continue;
        for (uint32_t j = 0; j < 32; ++j) joined[j] = std::max(joined[j], warp.clock[i * 32 + j]);
        joined[i] = std::max(joined[i], slot.threads[base + i].step + 1);
    }
    for (uint32_t i = 0; i < 32; ++i)
        if (who >> i & 1u) {
            std::copy_n(joined, 32, &warp.clock[i * 32]);
            ++slot.threads[base + i].step;
        }
    warp.ordered = true;
}

static uint64_t outcome(const Meeting &m, uint32_t who, uint32_t lane) {
    uint64_t result = 0;
    switch (m.kind) {
    case warp_shuffle: {
        const int from = m.source[lane];
        return from >= 0 && from < 32 && (who >> from & 1u) ? m.value[from] : poison_word();
    }
    case warp_ballot:
        for (uint32_t i = 0; i < 32; ++i)
            if (who >> i & 1u && m.value[i]) result |= 1u << i;
        return result;
    case warp_match:
        for (uint32_t i = 0; i < 32; ++i)
            if (who >> i & 1u && m.value[i] == m.value[lane]) result |= 1u << i;
        return result;
    default: return 0;
    }
}

static void complete(Slot &slot, Warp &warp, size_t index) {
    const Meeting m = warp.meetings[index];
    warp.meetings.erase(warp.meetings.begin() + (long)index);
    const uint32_t base = (uint32_t)(&warp - slot.warps.data()) * 32;
    if (m.mask & warp.exited) note_absent(slot, "absent_lanes", m.pc, base, std::min(32u, (uint32_t)slot.threads.size() - base), m.mask & warp.exited);
    order_participants(slot, warp, base, m.arrived);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!(m.arrived >> lane & 1u)) continue;
        *m.result[lane] = outcome(m, m.arrived, lane);
        if (m.valid[lane]) *m.valid[lane] = m.arrived;
        slot.threads[base + lane].state = State::ready;
        slot.ready.push_back((uint16_t)(base + lane));
    }
}

/* The meetings that an exit completes: exited lanes are not waited for. */
void check_meetings(Slot &slot, Warp &warp) {
    for (size_t i = 0; i < warp.meetings.size(); ++i) {
        const Meeting &m = warp.meetings[i];
        if (m.kind >= 0 && m.arrived == (m.mask & warp.exists & ~warp.exited)) {
            complete(slot, warp, i);
            return check_meetings(slot, warp);
        }
    }
}

static Meeting &meeting(Warp &warp, uint32_t mask, int kind, uint32_t pc) {
    for (Meeting &m : warp.meetings)
        if (m.kind == kind && (kind < 0 ? m.pc == pc : m.mask == mask)) return m;
    warp.meetings.emplace_back();
    Meeting &m = warp.meetings.back();
    m.mask = mask;
    m.kind = kind;
    m.pc = pc;
    return m;
}

} // namespace ws

extern "C" {
int ws_barrier(int kind, int predicate, int number) {
    using namespace ws;
    Device &d = device;
    if (!in_kernel()) return 0;
    if (d.pending) settle_pending();
    Slot &slot = *d.slot;
    const uint32_t pc = WS_CALLER;
    if (slot.arrived == 0) slot.barrier_pc = pc, slot.barrier_kind = kind, slot.barrier_number = number;
    else if (slot.barrier_number != number)
        report_event("different_barriers", "threads of one block wait at different barriers", pc, slot.barrier_pc);
    else if (slot.barrier_pc != pc)
        report_event("divergent_barrier", "threads of one block wait at different barriers", pc, slot.barrier_pc);
    ++slot.arrived;
    slot.predicates += predicate != 0;
    d.now.pc = pc;
    d.thread->state = State::barrier;
    if (slot.arrived + slot.exited == scheduler().threads) release_barrier(slot);
    ++d.thread->met;
    park(State::barrier);
    return slot.barrier_result;
}

void ws_grid_barrier(void) {
    using namespace ws;
    Device &d = device;
    if (!d.launch || !d.launch->cooperative) {
        report_event("bad_grid_barrier", "grid.sync() in a kernel that was not launched cooperatively", WS_CALLER, 0);
        abort_launch(cudaErrorLaunchFailure);
    }
    if (d.pending) settle_pending();
    ++d.slot->grid_arrived;
    d.now.pc = WS_CALLER;
    d.thread->state = State::grid;
    if (grid_complete()) release_grid();
    park(State::grid);
}

uint64_t ws_warp(unsigned int mask, int kind, uint64_t value, int source, unsigned int *valid) {
    using namespace ws;
    Device &d = device;
    if (!in_kernel()) return 0;
    if (d.pending) settle_pending();
    Slot &slot = *d.slot;
    const uint32_t number = thread_number(slot, d.thread), lane = number & 31;
    Warp &warp = slot.warps[number >> 5];
    d.now.pc = WS_CALLER;
    if (!(mask >> lane & 1u)) {
        report_event("warp_mask", "a thread calls a warp operation with a mask that leaves it out", d.now.pc, 0);
        abort_launch(cudaErrorLaunchFailure);
    }
    Meeting &m = meeting(warp, mask, kind, d.now.pc);
    uint64_t result = 0;
    m.arrived |= 1u << lane;
    m.value[lane] = value;
    m.source[lane] = source;
    m.result[lane] = &result;
    m.valid[lane] = valid;
    d.thread->state = State::warp;
    ++d.thread->met;
    if (m.arrived == (mask & warp.exists & ~warp.exited)) complete(slot, warp, (size_t)(&m - warp.meetings.data()));
    park(State::warp);
    return result;
}

unsigned int ws_active_mask(void) {
    using namespace ws;
    Device &d = device;
    if (!in_kernel()) return 1;
    Slot &slot = *d.slot;
    const uint32_t number = thread_number(slot, d.thread), lane = number & 31;
    Meeting &m = meeting(slot.warps[number >> 5], 0, -1, WS_CALLER);
    uint64_t result = 0;
    m.arrived |= 1u << lane;
    m.result[lane] = &result;
    d.thread->state = State::active;
    park(State::active);
    return (unsigned int)result;
}

/* What a thread did before a fence has a smaller step than what it does after. */
void ws_fence(int) {
    using namespace ws;
    Device &d = device;
    if (!in_kernel()) return;
    d.thread->fenced = ++d.thread->step;
    d.now.who = (d.now.who & 2047u) | d.thread->step << 11;
}

/* Copies that a thread begins are made where it waits for them, as late as may be; the header makes them, so that they
   are accesses of the thread. */
void ws_copy_later(void *to, const void *from, size_t bytes, size_t zeros) {
    using namespace ws;
    if (in_kernel()) device.thread->copies.push_back({to, from, bytes, zeros, device.thread->groups});
}

void ws_copies_commit(void) {
    if (ws::in_kernel()) ++ws::device.thread->groups;
}

/* Takes the oldest copy of a group that is followed by `prior` others or more; 0 where there is none. */
int ws_copy_due(size_t prior, ws_copy_t *next) {
    using namespace ws;
    if (!in_kernel()) return 0;
    Thread &t = *device.thread;
    if (t.copies.empty() || t.copies.front().group + prior >= t.groups) return 0;
    const PendingCopy &due = t.copies.front();
    *next = {due.to, due.from, due.bytes, due.zeros};
    t.copies.erase(t.copies.begin());
    return 1;
}

/* Cycles of the device, at 1.41 GHz. */
long long ws_clock(void) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec * 1000000000ll + now.tv_nsec) * 141 / 100;
}

/* clock() counts cycles in a kernel and processor time on the host. */
long ws_clock_of_caller(void) { return ws::in_kernel() ? (long)(int)ws_clock() : (long)clock(); }


void ws_trap(void) {
    using namespace ws;
    report_event("trap", "__trap() was called", WS_CALLER, 0);
    abort_launch(cudaErrorLaunchFailure);
}
}
