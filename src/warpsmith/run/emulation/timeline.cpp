/* Streams, their operations, and the clocks that order them (timeline.h). */
#include "timeline.h"

#include <unistd.h>

#include <deque>
#include <memory>
#include <thread>

#include "shadow.h"

namespace ws {
namespace {
constexpr size_t most_pending = 1024; /* as many launches as a device holds; the oldest then runs */
constexpr size_t most_kept = 2048;    /* of what has run; beyond it the host is taken to know all of it */

/* The stamps that the accesses of one operation, or of the host (nullptr) at one time, carry in the shadow memory. */
struct Epoch {
    uint32_t first, last;
    const Operation *operation;
    uint32_t host_time;
    bool concurrent; /* with what runs now */
};

struct Timeline {
    std::vector<std::unique_ptr<CUstream_st>> streams;
    std::vector<std::unique_ptr<Operation>> operations; /* in the order of their issue */
    std::vector<const Operation *> copies;                  /* of them, those whose memory is known */
    std::vector<std::deque<Operation *>> queues{2};         /* of them, what each stream has still to do */
    std::vector<Epoch> epochs;
    std::vector<const Operation *> watch; /* concurrent with the kernel that runs, and done */
    std::vector<Region *> watched;
    Clock host;
    uint32_t host_time = 1, era = 1;
    uint64_t calls = 0; /* of the host, that issue work or ask for it */
    size_t pending = 0;
    const Operation *actor = nullptr; /* the host function that runs now */
    /* The latest kernel that all before it are ordered with: the first epochs need no second look. */
    const Operation *calm = nullptr;
    size_t calm_epochs = 0;
    Timeline() {
        for (uint32_t id = 0; id < 2; ++id) /* the legacy default stream, the default stream of a thread */
            streams.push_back(std::make_unique<CUstream_st>(CUstream_st{id, true, true, 0, 0, {}}));
    }
};
Timeline &timeline() {
    static Timeline *the = new Timeline;
    return *the;
}

bool overlap(const Piece &a, const Piece &b, Address &where) {
    if (a.end() <= b.base || b.end() <= a.base) return false;
    for (size_t i = 0, j = 0; i < a.height && j < b.height;) {
        const Address low = std::max(a.row(i), b.row(j));
        if (low < std::min(a.row(i) + a.width, b.row(j) + b.width)) return where = low, true;
        if (a.row(i) + a.width <= b.row(j) + b.width) ++i;
        else ++j;
    }
    return false;
}

bool holds(const Piece &piece, Address address, size_t bytes) {
    Address where;
    return overlap(piece, Piece{address, bytes, bytes, 1, false}, where);
}

/* Two copies or sets: what they touch is known when they are issued. */
void check_issued(const Operation &now) {
    for (const Operation *old : timeline().copies) {
        if (before(*old, now)) continue;
        for (const Piece &a : old->pieces)
            for (const Piece &b : now.pieces) {
                Address where;
                if (!(a.write || b.write) || !overlap(a, b, where)) continue;
                return report_unordered({old, a.write, 0}, {&now, b.write, 0}, region_at((void *)where), where, 1);
            }
    }
}

/* Whether an epoch is not ordered before the operation (nullptr: the host) that acts now. */
bool unordered_with(const Epoch &epoch, const Operation *now) {
    if (!now) return epoch.operation && !known(*epoch.operation, timeline().host);
    if (!epoch.operation) return epoch.host_time > now->host_time;
    return epoch.operation != now && !before(*epoch.operation, *now);
}

Epoch *epoch_of(uint32_t stamp) {
    std::vector<Epoch> &epochs = timeline().epochs;
    auto after = std::upper_bound(epochs.begin(), epochs.end(), stamp, [](uint32_t s, const Epoch &e) { return s < e.first; });
    if (after == epochs.begin()) return nullptr;
    Epoch &epoch = *std::prev(after);
    return stamp <= epoch.last ? &epoch : nullptr;
}

/* The first entry of a cell that a read or write now may run beside. */
const Entry *conflicting(const Cell &c, bool write, const Operation *now) {
    const bool copies = now && !now->pieces.empty();
    for (const Entry *e : {&c.write, &c.read, &c.other}) {
        if (e != &c.write && !write) break;
        const Epoch *epoch = e->stamp ? epoch_of(e->stamp) : nullptr;
        if (epoch && (epoch->operation || !copies) && unordered_with(*epoch, now)) return e;
    }
    return nullptr;
}

/* A copy or set runs: what have kernels and host functions, unordered with it, done to the memory that it touches? The
   host itself was checked when it touched it: the copy had been issued by then. */
void check_shadow(const Operation &now, const Piece &piece, size_t row) {
    Region *region = region_at((void *)piece.row(row));
    if (!region || !region->cells) return;
    const Address offset = piece.row(row) - region->base;
    const size_t first = offset >> region->shift, last = (offset + piece.width - 1) >> region->shift;
    for (size_t i = first; i <= last; ++i) {
        const Cell &c = region->cells[i];
        const Entry *e = conflicting(c, piece.write, &now);
        if (!e) continue;
        const Address where = region->base + (i << region->shift);
        return report_unordered(side_of(e->stamp, e == &c.write, e->pc), {&now, piece.write, 0}, region, where,
                                (size_t)1 << region->shift);
    }
}

void check_run(const Operation &now) {
    if (now.pieces.empty()) return;
    bool any = false;
    for (const Epoch &epoch : timeline().epochs) any = any || unordered_with(epoch, &now);
    if (!any) return;
    for (const Piece &piece : now.pieces)
        for (size_t row = 0; row < piece.height; ++row) check_shadow(now, piece, row);
}

void run(Operation &now) {
    Timeline &t = timeline();
    check_run(now);
    t.queues[now.stream].pop_front();
    if (device.sticky == cudaSuccess) now.run(now);
    now.run = nullptr;
    now.done = true;
    --t.pending;
    t.streams[now.stream]->done = now.number;
}

bool ready(const Operation &now) {
    for (const auto &s : timeline().streams)
        if (s->id != now.stream && s->done < now.after.at(s->id)) return false;
    return true;
}

/* Run one operation of those that `clock` holds (nullptr: of all): the latest that may, or any, as the schedule says. Host
   functions run only where they must: what they do may tell the host that the work before them is done. */
bool run_one(const Clock *clock, bool host_functions = true) {
    Timeline &t = timeline();
    if (!t.pending) return false;
    Operation *chosen = nullptr;
    uint32_t count = 0;
    for (const auto &queue : t.queues) {
        if (queue.empty() || (clock && !known(*queue.front(), *clock)) || !ready(*queue.front())) continue;
        if (!host_functions && queue.front()->kind == Kind::host_function) continue;
        const bool takes = device.schedule > 0 ? next_random() % ++count == 0
                                               : !chosen || queue.front()->host_time > chosen->host_time;
        if (takes) chosen = queue.front();
    }
    if (chosen) run(*chosen);
    return chosen;
}

/* Forget what nothing that is still to come can be unordered with. */
void forget() {
    Timeline &t = timeline();
    std::vector<std::unique_ptr<Operation>> &all = t.operations;
    std::vector<uint32_t> least(t.streams.size(), UINT32_MAX); /* what all that is still to run comes after */
    for (const auto &o : all)
        for (uint32_t s = 0; s < least.size() && !o->done; ++s) least[s] = std::min(least[s], o->after.at(s));
    const auto needed = [&](const Operation &o) { return !o.done || !known(o, t.host) || o.number > least[o.stream]; };
    std::vector<char> keep(all.size());
    for (size_t i = 0; i < all.size(); ++i) keep[i] = needed(*all[i]);
    std::vector<const Operation *> gone;
    for (size_t i = 0; i < all.size(); ++i)
        if (!keep[i]) gone.push_back(all[i].get());
    std::sort(gone.begin(), gone.end());
    const auto over = [&](const Epoch &e) {
        return e.operation ? std::binary_search(gone.begin(), gone.end(), e.operation) : t.pending == 0;
    };
    t.epochs.erase(std::remove_if(t.epochs.begin(), t.epochs.end(), over), t.epochs.end());
    t.calm = nullptr;
    const auto gone_too = [&](const Operation *o) { return std::binary_search(gone.begin(), gone.end(), o); };
    t.copies.erase(std::remove_if(t.copies.begin(), t.copies.end(), gone_too), t.copies.end());
    all.erase(std::remove_if(all.begin(), all.end(), [&](const auto &o) { return gone_too(o.get()); }), all.end());
    device.unsynchronized = !all.empty();
    if (!all.empty()) return;
    /* Nothing is under way: the clocks start over, and the streams that are no more need no place in them. */
    t.host = Clock();
    ++t.era;
    std::vector<std::unique_ptr<CUstream_st>> &streams = t.streams;
    streams.erase(std::remove_if(streams.begin(), streams.end(), [](const auto &s) { return !s->live; }), streams.end());
    for (uint32_t i = 0; i < streams.size(); ++i) *streams[i] = CUstream_st{i, streams[i]->blocking, true, 0, 0, {}};
    t.queues.resize(streams.size());
}

/* Called with every issue: so many operations may wait, and so many that have run may be remembered. */
void bound_work() {
    Timeline &t = timeline();
    while (t.pending > most_pending) {
        const Operation *oldest = nullptr;
        for (const auto &queue : t.queues)
            if (!queue.empty() && (!oldest || queue.front()->host_time < oldest->host_time)) oldest = queue.front();
        const Clock clock = oldest->after;
        while (run_one(&clock)) {}
    }
    if (t.operations.size() < most_pending + most_kept) return;
    for (const auto &o : t.operations)
        if (o->done) t.host.raise(o->stream, o->number);
    forget();
}

/* Find the copies that have run and are unordered with `kernel`, and mark the memory that they touch. */
void watch(const Operation &kernel) {
    Timeline &t = timeline();
    for (const Operation *copy : t.copies) {
        const Operation &o = *copy;
        if (!o.done || before(o, kernel)) continue;
        t.watch.push_back(&o);
        for (const Piece &piece : o.pieces)
            if (Region *region = region_at((void *)piece.base); region && region->guard == Guard::open) {
                region->guard = Guard::watched;
                t.watched.push_back(region);
            }
    }
}

/* A device works without being asked: where the host makes no call for a while, it may wait for what a kernel or a host
   function writes, or only do something else. */
void keep_going() {
    constexpr useconds_t patience = 50000;
    Timeline &t = timeline();
    for (uint64_t seen = 0;;) {
        usleep(patience);
        for (bool idle = true; idle;) {
            LOCKED;
            idle = t.calls == seen && !t.actor && run_one(nullptr);
            seen = t.calls;
        }
    }
}

/* The stamp of what the host, or a host function, does now. */
uint32_t host_stamp() {
    Timeline &t = timeline();
    if (!t.epochs.empty() && t.epochs.back().operation == t.actor && t.epochs.back().host_time == t.host_time)
        return t.epochs.back().last;
    const uint32_t stamp = device.stamp++;
    t.epochs.push_back({stamp, stamp, t.actor, t.host_time, false});
    return stamp;
}

/* The host touches memory that kernels may touch too: managed, pinned or registered. */
void touch_shared_memory(Region &region, Address address, size_t bytes, bool write, uint32_t pc) {
    Timeline &t = timeline();
    const Address offset = address - region.base;
    if (!region.cells) {
        if (!t.pending) return;
        make_cells(region);
    }
    if (((offset | bytes) & (((size_t)1 << region.shift) - 1)) != 0) refine(region, offset, bytes);
    for (size_t i = offset >> region.shift; i << region.shift < offset + bytes; ++i) {
        Cell &c = region.cells[i];
        if (const Entry *e = conflicting(c, write, t.actor))
            report_unordered(side_of(e->stamp, e == &c.write, e->pc), {t.actor, write, pc}, &region, address, bytes);
        if (!t.pending && !t.actor) continue; /* what is issued later comes after this */
        const Entry now = {host_stamp(), 0, pc};
        if (write) c = Cell{now, Entry{}, Entry{}};
        else if (c.read.stamp != now.stamp) c.other = c.read, c.read = now;
    }
}
} // namespace

CUstream_st *stream_at(cudaStream_t handle) {
    std::vector<std::unique_ptr<CUstream_st>> &streams = timeline().streams;
    if (!handle || handle == cudaStreamLegacy) return streams[0].get();
    if (handle == cudaStreamPerThread) return streams[1].get();
    for (const auto &s : streams)
        if (s.get() == handle && s->live) return handle;
    return nullptr;
}

CUstream_st *make_stream(bool blocking) {
    Timeline &t = timeline();
    t.streams.push_back(std::make_unique<CUstream_st>(
        CUstream_st{(uint32_t)t.streams.size(), blocking, true, 0, 0, {}}));
    t.queues.emplace_back();
    return t.streams.back().get();
}

uint32_t era() { return timeline().era; }

Clock work_of(const CUstream_st &stream) {
    Timeline &t = timeline();
    Clock clock = stream.last;
    if (stream.id == 0) {
        for (const auto &s : t.streams)
            if (s->blocking) clock.join(s->last);
    } else if (stream.blocking) {
        clock.join(t.streams[0]->last);
    }
    return clock;
}

Operation &issue(CUstream_st &stream, Kind kind, const char *name, uint32_t pc, std::vector<Piece> pieces,
                 std::function<void(const Operation &)> run) {
    Timeline &t = timeline();
    static const bool started = (std::thread(keep_going).detach(), true);
    t.calls += started;
    bound_work();
    auto made = std::make_unique<Operation>();
    Operation &now = *made;
    now.kind = kind;
    now.name = name;
    now.pc = pc;
    now.pieces = std::move(pieces);
    now.run = std::move(run);
    now.stream = stream.id;
    now.number = ++stream.issued;
    now.host_time = t.host_time++;
    now.after = work_of(stream);
    now.after.join(t.host);
    now.after.raise(stream.id, now.number);
    stream.last = now.after;
    t.operations.push_back(std::move(made));
    t.queues[stream.id].push_back(&now);
    ++t.pending;
    device.unsynchronized = true;
    if (!now.pieces.empty()) {
        check_issued(now);
        t.copies.push_back(&now);
        for (const Piece &piece : now.pieces)
            if (piece.base - device.arena >= device.arena_bytes) watch_host(piece.base, piece.end());
    }
    if (device.schedule > 0)
        while (next_random() & 1u && run_one(nullptr, false)) {}
    return now;
}

void wait_for(const Clock &clock) {
    ++timeline().calls;
    while (run_one(&clock)) {}
    timeline().host.join(clock);
    forget();
}

void look(const CUstream_st &stream) {
    const Clock clock = work_of(stream);
    while (run_one(&clock)) {}
}

void look_at(Address base, size_t bytes) {
    Clock clock;
    for (const Operation *o : timeline().copies)
        for (const Piece &piece : o->pieces)
            if (!o->done && holds(piece, base, bytes)) clock.join(o->after);
    while (run_one(&clock)) {}
}

void wait_for_all() {
    Clock all;
    for (const auto &s : timeline().streams) all.raise(s->id, s->issued);
    wait_for(all);
}

bool poll(const Clock &clock) {
    ++timeline().calls;
    for (const auto &s : timeline().streams)
        if (s->done < clock.at(s->id)) {
            run_one(&clock);
            return false;
        }
    wait_for(clock);
    return true;
}

void run_the_rest() {
    LOCKED;
    while (run_one(nullptr)) {}
}

bool may_spoil(const Piece &piece, bool kernels_reach_it) {
    for (const auto &o : timeline().operations) {
        if (o->done) continue;
        if (o->kind == Kind::host_function || (o->kind == Kind::kernel && kernels_reach_it)) return false;
        Address where;
        for (const Piece &other : o->pieces)
            if (overlap(other, piece, where)) return false;
    }
    return true;
}

void open_epoch(const Operation *kernel) {
    Timeline &t = timeline();
    Device &d = device;
    d.first = d.own_first = d.first_owner = d.stamp;
    d.owner.clear();
    if (!t.calm || !before(*t.calm, *kernel)) t.calm_epochs = 0;
    for (size_t i = t.calm_epochs; i < t.epochs.size(); ++i) {
        Epoch &e = t.epochs[i];
        e.concurrent = unordered_with(e, kernel);
        if (e.concurrent) d.first = std::min(d.first, e.first);
    }
    t.epochs.push_back({d.stamp, UINT32_MAX, kernel, kernel->host_time, false});
    watch(*kernel);
    t.calm = d.first == d.own_first ? kernel : nullptr;
    t.calm_epochs = t.epochs.size();
}

void close_epoch() {
    Timeline &t = timeline();
    t.epochs.back().last = device.stamp - 1;
    for (Region *region : t.watched)
        if (region->guard == Guard::watched) region->guard = Guard::open;
    t.watched.clear();
    t.watch.clear();
}

bool concurrent_stamp(uint32_t stamp) {
    const Epoch *epoch = epoch_of(stamp);
    return epoch && epoch->concurrent;
}

uint32_t oldest_stamp() {
    const std::vector<Epoch> &epochs = timeline().epochs;
    return epochs.empty() ? device.stamp : epochs.front().first;
}

const Operation *running_kernel() { return timeline().epochs.back().operation; }

void run_host_function(const Operation &operation, cudaHostFn_t function, void *data) {
    Timeline &t = timeline();
    t.actor = &operation;
    function(data);
    t.actor = nullptr;
    t.host.join(operation.after); /* by a lock or a flag, which are not seen here */
}

Side side_of(uint32_t stamp, bool write, uint32_t pc) {
    const Epoch *epoch = epoch_of(stamp);
    return {epoch ? epoch->operation : nullptr, write, pc};
}

void check_watched(Region &region, Address address, size_t bytes, bool write, uint32_t pc) {
    Timeline &t = timeline();
    for (const Operation *o : t.watch)
        for (const Piece &piece : o->pieces)
            if ((write || piece.write) && holds(piece, address, bytes))
                report_unordered({o, piece.write, 0}, {running_kernel(), write, pc}, &region, address, bytes);
}

void host_access(Address address, size_t bytes, bool write, uint32_t pc) {
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
    Timeline &t = timeline();
    for (const Operation *o : t.copies) {
        if (t.actor ? before(*o, *t.actor) : known(*o, t.host)) continue;
        for (const Piece &piece : o->pieces)
            if ((write || piece.write) && holds(piece, address, bytes))
                report_unordered({o, piece.write, 0}, {t.actor, write, pc}, region_at((void *)address), address, bytes);
    }
    Region *region = region_at((void *)address);
    if (region && address + bytes <= region->base + region->size)
        touch_shared_memory(*region, address, bytes, write, pc);
}

} // namespace ws
