/* Run time of warpsmith WS_VERSION: device memory, copies, and what else the ported loops use. */
#pragma once

#include "check.cu"

#ifdef WS_WITH_SWITCH
#include "switch.cu"
#endif

#include "pool.cu"
#ifdef WS_WITH_OVERLAP
#include "overlap.cu"
#endif

#ifdef WS_WITH_PRESENT
#include "present.cu"
#ifdef WS_WITH_ALLOCATIONS
#include "watched.cu"
#endif
#include "data_regions.cu"
#include "queries.cu"
#endif

#ifdef WS_WITH_ALLOCATIONS
#include "heap.cu"
#include "malloc.cu"
#ifdef WS_WITH_GIVEN
#include "given.cu"
#endif
#include "variables.cu"
#ifdef WS_WITH_PINNED
#include "pinned.cu"
#endif
#include "allocations.cu"
#ifdef WS_WITH_ROWS
#include "rows.cu"
#endif
#ifdef WS_WITH_VECTORS
#include "vectors.cu"
#endif
#ifdef WS_WITH_PRESENT
#include "updates.cu"
#include "watch.cu"
#ifdef WS_WITH_ROWS
#include "rows_entered.cu"
#endif
#endif
#endif
