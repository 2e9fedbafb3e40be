/* The order of what the host and the streams do: happens-before by vector clocks.

   Every copy, set, launch, event record and host function is an operation of one stream. An operation comes after the one
   before it in its stream, after what the host knew to be complete when it was issued, after the events that its stream
   waits for, and, by the rules of the legacy default stream, after and before what blocking streams do around it. Nothing
   else orders it. The host comes after an operation only once a call has waited for it.

       host      copy in A --- launch K on s1 --- launch L on s2 ------------ read B
       s1                 `--- K writes B                              (no call waited for K: a race)
       s2                                       `--- L reads B         (no event between s1 and s2: a race)

   Invariant: operations run late (when a call waits for them, or when the host has made no call for a while), and in any
   order that their clocks allow; whichever of two unordered ones runs second sees what the first one touched, so that a
   race is seen whatever the order. Copies are known by the pieces of memory that they touch, kernels and host code by the
   shadow memory (shadow.h).

   Limits: the threads of the host are one actor, and know what comes before a host function once it has run; accesses of
   the host are seen in code that is compiled for the emulation, not in the C library; a synchronous copy is complete when
   it returns, also from pageable memory to the device, where CUDA promises that of the host's memory only.
   Source: CUDA Runtime API, "API synchronization behavior" and "Stream synchronization behavior"; CUDA C++ Programming
   Guide, "Asynchronous Concurrent Execution". */
#ifndef WARPSMITH_TIMELINE_H
#define WARPSMITH_TIMELINE_H

#include <algorithm>
#include <functional>

#include "emulator.h"

namespace ws {

/* How many operations of each stream come before; a stream beyond the end has none. */
class Clock {
public:
    uint32_t at(uint32_t stream) const { return stream < counts_.size() ? counts_[stream] : 0; }
    void raise(uint32_t stream, uint32_t number) {
        if (stream >= counts_.size()) counts_.resize(stream + 1);
        counts_[stream] = std::max(counts_[stream], number);
    }
    void join(const Clock &other) {
        for (uint32_t s = 0; s < other.counts_.size(); ++s) raise(s, other.counts_[s]);
    }

private:
    std::vector<uint32_t> counts_;
};

/* Rows of memory that an operation reads or writes; an array is one row. */
struct Piece {
    Address base;
    size_t pitch, width, height;
    bool write;
    Address row(size_t i) const { return base + i * pitch; }
    Address end() const { return row(height - 1) + width; }
};

enum class Kind : uint8_t { kernel, copy, event, host_function, allocation };

struct Operation {
    Kind kind = Kind::copy;
    const char *name = ""; /* of the kernel, or of the function that was called */
    uint32_t stream = 0, number = 0, host_time = 0, pc = 0;
    Clock after;
    std::vector<Piece> pieces;
    std::function<void(const Operation &)> run;
    bool done = false;
};

inline bool before(const Operation &a, const Operation &b) { return b.after.at(a.stream) >= a.number; }
inline bool known(const Operation &a, const Clock &clock) { return clock.at(a.stream) >= a.number; }

} // namespace ws

struct CUstream_st {
    uint32_t id;
    bool blocking, live;
    uint32_t issued, done;
    ws::Clock last; /* of its last operation, and of the events that it waits for */
};

namespace ws {

/* One stream by its handle; nullptr where there is none. */
CUstream_st *stream_at(cudaStream_t handle);
CUstream_st *make_stream(bool blocking);

/* Put an operation into a stream; it runs when a call waits for it, or before if the schedule says so. */
Operation &issue(CUstream_st &stream, Kind kind, const char *name, uint32_t pc, std::vector<Piece> pieces,
                 std::function<void(const Operation &)> run);

/* Grows whenever nothing is under way: clocks of an earlier era hold nothing that is not done and known. */
uint32_t era();
/* The clock that has all the work of a stream so far; of the legacy stream also that of the blocking ones. */
Clock work_of(const CUstream_st &stream);
/* Run what `clock` holds; the host knows it to be complete from then on. */
void wait_for(const Clock &clock);
void wait_for_all();
/* Run all the work of a stream for a capture, which is none of the program's calls: the host knows no more than before. */
void look(const CUstream_st &stream);
/* The same of the copies that touch memory of the host. */
void look_at(Address base, size_t bytes);
/* Whether all of `clock` has run; the host then knows. A question moves the device on, so that polling ends. */
bool poll(const Clock &clock);
void run_the_rest();
/* Whether the memory of `piece` may be overwritten now: nothing that is still to run may read it. */
bool may_spoil(const Piece &piece, bool kernels_reach_it);

/* What kernels and host code that run now must be checked against. */
void open_epoch(const Operation *kernel);
void close_epoch();
const Operation *running_kernel();
void run_host_function(const Operation &operation, cudaHostFn_t function, void *data);

/* One side of a race: an operation (nullptr: the host) and the place of the access, 0 where the operation is the access. */
struct Side {
    const Operation *operation;
    bool write;
    uint32_t pc;
};
Side side_of(uint32_t stamp, bool write, uint32_t pc);
void report_unordered(const Side &first, const Side &second, Region *region, Address address, size_t bytes);

} // namespace ws

#endif
