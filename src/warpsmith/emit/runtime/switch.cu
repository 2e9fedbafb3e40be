/* Whether the device is in use: the original loops run where WARPSMITH_OFF is set to anything but 0. */
#pragma once

#include <stdlib.h>

extern "C" int ws_on(void)
{
    static const char *const off = getenv("WARPSMITH_OFF");
    return off == nullptr || off[0] == 0 || (off[0] == '0' && off[1] == 0);
}
