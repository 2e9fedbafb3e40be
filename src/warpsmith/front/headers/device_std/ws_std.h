#pragma GCC system_header
/* What device code uses of the C++ library, in few lines: reading the library's own takes longer than all of the rest.
   What is not here sends the reader to the library's own headers. */
#ifndef WARPSMITH_STD_H
#define WARPSMITH_STD_H
#include <limits.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#undef isnan
#undef isinf
#undef isfinite
#undef isnormal
#undef signbit
#undef fpclassify

namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t;
using ::size_t; using ::ptrdiff_t; using ::max_align_t;
typedef decltype(nullptr) nullptr_t;
using ::memcpy; using ::memset; using ::memmove; using ::memcmp; using ::strlen; using ::malloc; using ::free;
using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::exp; using ::exp2; using ::expm1; using ::log;
using ::log2; using ::log10; using ::log1p; using ::sin; using ::cos; using ::tan; using ::asin; using ::acos;
using ::atan; using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh; using ::atanh; using ::erf;
using ::erfc; using ::tgamma; using ::lgamma; using ::floor; using ::ceil; using ::trunc; using ::round; using ::rint;
using ::nearbyint; using ::pow; using ::atan2; using ::hypot; using ::fmod; using ::fmin; using ::fmax; using ::fdim;
using ::copysign; using ::fma; using ::remainder; using ::ldexp; using ::frexp; using ::modf; using ::isnan;
using ::isinf; using ::isfinite; using ::signbit; using ::lround; using ::lrint; using ::nextafter; using ::ilogb;
using ::logb; using ::scalbn; using ::sqrtf; using ::fabsf;

template <class T, T v> struct integral_constant {
    static constexpr T value = v;
    typedef T value_type;
    constexpr operator T() const { return v; }
    constexpr T operator()() const { return v; }
};
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <bool b> using bool_constant = integral_constant<bool, b>;
template <bool, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool b, class A, class B> using conditional_t = typename conditional<b, A, B>::type;
template <bool, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_volatile { typedef T type; };
template <class T> struct remove_volatile<volatile T> { typedef T type; };
template <class T> struct remove_cv { typedef typename remove_volatile<typename remove_const<T>::type>::type type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> struct remove_reference<T &&> { typedef T type; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_pointer { typedef T type; };
template <class T> struct remove_pointer<T *> { typedef T type; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct decay { typedef remove_cv_t<remove_reference_t<T>> type; };
template <class T> using decay_t = typename decay<T>::type;
template <class T> struct is_floating_point_plain : false_type {};
template <> struct is_floating_point_plain<float> : true_type {};
template <> struct is_floating_point_plain<double> : true_type {};
template <> struct is_floating_point_plain<long double> : true_type {};
template <class T> struct is_floating_point : is_floating_point_plain<remove_cv_t<T>> {};
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> struct is_integral : bool_constant<__is_integral(T)> {};
template <class T> constexpr bool is_integral_v = is_integral<T>::value;
template <class T> struct is_arithmetic : bool_constant<__is_arithmetic(T)> {};
template <class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> struct is_signed : bool_constant<__is_signed(T)> {};
template <class T> constexpr bool is_signed_v = is_signed<T>::value;
template <class T> struct is_unsigned : bool_constant<__is_unsigned(T)> {};
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T *> : true_type {};
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T> struct make_unsigned { typedef __make_unsigned(T) type; };
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> struct make_signed { typedef __make_signed(T) type; };
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> T &&declval() noexcept;
template <class T> constexpr T &&forward(remove_reference_t<T> &v) noexcept { return static_cast<T &&>(v); }
template <class T> constexpr remove_reference_t<T> &&move(T &&v) noexcept
{
    return static_cast<remove_reference_t<T> &&>(v);
}
template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> constexpr const T &clamp(const T &v, const T &a, const T &b) { return v < a ? a : b < v ? b : v; }
template <class T> constexpr void swap(T &a, T &b)
{
    T kept = a;
    a = b;
    b = kept;
}
template <class A, class B> struct pair {
    A first;
    B second;
    constexpr pair() = default;
    constexpr pair(const A &a, const B &b) : first(a), second(b) {}
};
template <class A, class B> constexpr pair<A, B> make_pair(A a, B b) { return pair<A, B>(a, b); }
template <class T, size_t n> struct array {
    T items[n ? n : 1];
    constexpr T &operator[](size_t i) { return items[i]; }
    constexpr const T &operator[](size_t i) const { return items[i]; }
    constexpr size_t size() const { return n; }
    constexpr T *data() { return items; }
    constexpr const T *data() const { return items; }
};
#define WS_OPERATION(name, op) \
    template <class T = void> struct name { \
        constexpr auto operator()(const T &a, const T &b) const { return a op b; } \
    };
WS_OPERATION(plus, +)
WS_OPERATION(minus, -)
WS_OPERATION(multiplies, *)
WS_OPERATION(divides, /)
WS_OPERATION(less, <)
WS_OPERATION(greater, >)
WS_OPERATION(less_equal, <=)
WS_OPERATION(greater_equal, >=)
WS_OPERATION(equal_to, ==)
WS_OPERATION(bit_and, &)
WS_OPERATION(bit_or, |)
WS_OPERATION(bit_xor, ^)
#undef WS_OPERATION

template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };
#define WS_LIMITS(T, low, high, sign) \
    template <> struct numeric_limits<T> { \
        static constexpr bool is_specialized = true, is_integer = true, is_signed = sign; \
        static constexpr int digits = sizeof(T) * 8 - sign; \
        static constexpr T min() { return low; } \
        static constexpr T lowest() { return low; } \
        static constexpr T max() { return high; } \
    };
WS_LIMITS(bool, false, true, false)
WS_LIMITS(char, CHAR_MIN, CHAR_MAX, true)
WS_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX, true)
WS_LIMITS(unsigned char, 0, UCHAR_MAX, false)
WS_LIMITS(short, SHRT_MIN, SHRT_MAX, true)
WS_LIMITS(unsigned short, 0, USHRT_MAX, false)
WS_LIMITS(int, INT_MIN, INT_MAX, true)
WS_LIMITS(unsigned int, 0, UINT_MAX, false)
WS_LIMITS(long, LONG_MIN, LONG_MAX, true)
WS_LIMITS(unsigned long, 0, ULONG_MAX, false)
WS_LIMITS(long long, LLONG_MIN, LLONG_MAX, true)
WS_LIMITS(unsigned long long, 0, ULLONG_MAX, false)
#undef WS_LIMITS
#define WS_LIMITS(T, prefix, suffix) \
    template <> struct numeric_limits<T> { \
        static constexpr bool is_specialized = true, is_integer = false, is_signed = true; \
        static constexpr bool has_infinity = true; \
        static constexpr int digits = prefix##_MANT_DIG; \
        static constexpr T min() { return prefix##_MIN; } \
        static constexpr T lowest() { return -prefix##_MAX; } \
        static constexpr T max() { return prefix##_MAX; } \
        static constexpr T epsilon() { return prefix##_EPSILON; } \
        static constexpr T infinity() { return __builtin_huge_val##suffix(); } \
        static constexpr T quiet_NaN() { return __builtin_nan##suffix(""); } \
    };
WS_LIMITS(float, FLT, f)
WS_LIMITS(double, DBL, )
#undef WS_LIMITS
}

#endif
