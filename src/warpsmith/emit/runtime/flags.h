/* How a range of host memory enters the present table. */
#pragma once

#define WS_COPY 1
#define WS_KEEP 2
#define WS_ALLOCATION 4
#define WS_CHANGE 8
#define WS_WATCH 16
