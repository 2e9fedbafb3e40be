/* Null pointers for NVRTC, which has no standard headers: those that device code may ask for. */
#pragma once

#ifndef NULL
#define NULL 0
#endif
