/* Limits of floating point for NVRTC, which has no standard headers: those that device code may ask for. */
#pragma once

#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_EPSILON 1.19209290e-7F
#define FLT_MAX 3.40282347e+38F
#define FLT_MIN 1.17549435e-38F
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
