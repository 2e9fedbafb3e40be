/* The shadow memory: which unordered threads touched a byte.

   Invariant: at every access, the cell holds the last write and two reads such that, when any earlier access of this
   launch is unordered with the present one and conflicts with it, one of the held entries is.

       block 0   --read-- | barrier | --write--      two intervals of one block: ordered by the barrier
       block 1   --read------------------------      another block: nothing orders it, a race

   Entries of earlier launches have older stamps and count as empty, so nothing is ever cleared; those of operations that
   nothing orders with this launch are kept (timeline.h), and another launch is to this one as another block.
   Limits: of more than two unsynchronized readers in one warp, two are kept (a partial-mask sync may hide a third);
   order between blocks is known through fence plus atomic, and through grid barriers, not through plain spin flags. */
#ifndef WARPSMITH_SHADOW_H
#define WARPSMITH_SHADOW_H

#include "emulator.h"

namespace ws {

enum class Mode { read, write, atomic };

/* Whether a held entry by another thread or interval is not ordered before the present thread. */
inline bool unordered(const Entry &e) {
    Device &d = device;
    if (e.stamp == d.now.stamp) {
        if (e.thread() == d.now.thread()) return false;
        const uint32_t mine = d.now.thread(), theirs = e.thread();
        if (mine >> 5 != theirs >> 5) return true;
        const Warp &warp = d.slot->warps[mine >> 5];
        return !warp.ordered || warp.clock[(mine & 31) * 32 + (theirs & 31)] <= e.step();
    }
    if (__builtin_expect(e.stamp < d.own_first, 0)) return true; /* held, so of an operation that nothing orders with this launch */
    const uint32_t other = owner_of(e.stamp);
    if (other == d.block) return false;
    const auto found = d.slot->acquired.find(other);
    if (found == d.slot->acquired.end()) return true;
    const Acquired &a = found->second;
    const bool known = d.now.stamp != a.stamp || d.now.thread() == a.thread;
    const bool before = e.stamp < a.release.stamp ||
                        (e.stamp == a.release.stamp && e.thread() == a.release.thread &&
                         e.step() < (e.atomic() ? a.release.atomic_step : a.release.step));
    return !(known && before);
}

/* Whether the entry belongs to this launch and, in block-private memory, to this block; or to an operation of another
   stream, or the host, that nothing orders with this launch. */
inline bool held(const Entry &e, const Region &region) {
    if (__builtin_expect(e.stamp < device.own_first, 0))
        return e.stamp >= device.first && !region.block_private && concurrent_stamp(e.stamp);
    return !region.block_private || e.stamp == device.now.stamp || owner_of(e.stamp) == device.block;
}

inline bool same_interval(const Entry &e) {
    return e.stamp == device.now.stamp && ((e.who ^ device.now.who) & 1023u) == 0;
}

inline bool of_another_block(const Entry &e) { return e.stamp < device.own_first || owner_of(e.stamp) != device.block; }

/* Note a read (or an atomic write, in the side table) in two entries. */
inline void note(Entry &recent, Entry &other, const Region &region, const Entry &now) {
    if (same_interval(recent)) {
        recent = now;
        return;
    }
    const bool recent_held = held(recent, region), other_held = held(other, region);
    const bool other_foreign = other_held && of_another_block(other);
    if (recent_held) {
        const bool foreign = of_another_block(recent);
        if (foreign && other_foreign) return; /* two blocks are held already: every writer conflicts */
        if (foreign || (recent.stamp == now.stamp && !other_foreign)) other = recent;
        else if (!other_foreign) other = Entry{};
    } else if (!other_held) {
        other = Entry{};
    }
    recent = now;
}

template <Mode M> void check_writer(Cell &c, Region &region, Address address, size_t bytes) {
    const Entry &w = c.write;
    const char *op = M == Mode::read ? "read" : M == Mode::write ? "write" : "atomic";
    if (held(w, region) && !(M == Mode::atomic && w.atomic()) && unordered(w)) {
        report_race(w, w.atomic() ? "atomic" : "write", op, region, address, bytes);
        return;
    }
    if (M == Mode::atomic || !w.atomic()) return;
    const auto found = device.atomics.find(&c);
    if (found == device.atomics.end()) return;
    for (const Entry *e : {&found->second.read, &found->second.other})
        if (held(*e, region) && unordered(*e)) {
            report_race(*e, "atomic", op, region, address, bytes);
            return;
        }
}

template <Mode M> inline void touch_cell(Cell &c, Region &region, Address address, size_t bytes) {
    Device &d = device;
    Entry now = d.now;
    if (c.write.stamp >= d.first && (c.write.atomic() || !same_interval(c.write)))
        check_writer<M>(c, region, address, bytes);
    if (M == Mode::read) {
        note(c.read, c.other, region, now);
        return;
    }
    for (const Entry *e : {&c.read, &c.other})
        if (e->stamp >= d.first && !same_interval(*e) && held(*e, region) && unordered(*e)) {
            report_race(*e, "read", M == Mode::write ? "write" : "atomic", region, address, bytes);
            break;
        }
    if (M == Mode::atomic) {
        now.who |= 1u << 10;
        if (held(c.write, region) && c.write.atomic()) {
            Cell &several = d.atomics[&c];
            if (!held(several.read, region)) several.read = c.write;
            note(several.read, several.other, region, now);
        }
    }
    c.write = now;
    c.read.stamp = c.other.stamp = 0;
}

template <Mode M> inline void touch_region(Region &region, Address address, size_t bytes) {
    const Address offset = address - region.base;
    Cell *cells = region.cells ? region.cells : make_cells(region);
    const size_t grain = (size_t)1 << region.shift;
    if (((offset | bytes) & (grain - 1)) != 0) {
        refine(region, offset, bytes);
        cells = region.cells;
    }
    size_t cell = offset >> region.shift;
    const size_t end = (offset + bytes) >> region.shift;
    for (; cell < end; ++cell) touch_cell<M>(cells[cell], region, address, bytes);
}

/* Every load and store of device code comes here. */
template <Mode M> inline void touch(Address address, size_t bytes, uint32_t pc) {
    Device &d = device;
    if (--d.fuel == 0) yield_now();
    if (d.pending) settle_pending();
    d.now.pc = pc;
    const Address offset = address - d.arena;
    Region *region;
    if (offset < d.arena_bytes) {
        region = d.pages[offset >> 12];
        if (!region || region->guard != Guard::open || address - region->base + bytes > region->size) {
            const bool freed = region && region->guard == Guard::freed;
            if (!region || freed || address - region->base + bytes > region->size) {
                report_bad_access(freed ? "use_after_free" : "out_of_bounds", address, bytes,
                                  M == Mode::read ? "read" : "write", pc, region);
                abort_launch(cudaErrorIllegalAddress);
            }
            check_watched(*region, address, bytes, M != Mode::read, pc);
        }
    } else {
        if (address - d.stack < d.stack_bytes) return;
        region = slow_region(address, bytes, M != Mode::read);
        if (!region) return;
        if (region->guard != Guard::open) check_watched(*region, address, bytes, M != Mode::read, pc);
    }
    if (M != Mode::read && region->space != Space::shared && region->space != Space::dynamic_shared) d.wrote = true;
    touch_region<M>(*region, address, bytes);
}

} // namespace ws

#endif
