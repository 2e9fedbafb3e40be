#pragma once

#include <cuda_runtime.h>

/* atof for device code: the double nearest to what the text says, ties to even, as the C library has it in the "C"
   locale. Decimal and hexadecimal numbers of any length, infinity and nan (without what stands in its parentheses).

   x = digits * 10^ten * 2^two is compared exactly with the middles between doubles; the bits of positive doubles are in
   the order of their values, so the nearest one is found by halving. A middle has at most 767 decimal digits: of those
   behind 768 it matters only whether one is not 0. After W. Clinger, How to Read Floating Point Numbers Accurately
   (1990). */

#define WS_REAL_WORDS 128

struct ws_real_number {
    unsigned int words[WS_REAL_WORDS]; /* the least significant one first */
    int count;
};

static __device__ void ws_real_multiply(struct ws_real_number *number, unsigned int factor, unsigned int more)
{
    unsigned long long carry = more;
    for (int k = 0; k < number->count; k++) {
        carry += (unsigned long long)number->words[k] * factor;
        number->words[k] = (unsigned int)carry;
        carry >>= 32;
    }
    if (carry != 0 && number->count < WS_REAL_WORDS)
        number->words[number->count++] = (unsigned int)carry;
}

static __device__ void ws_real_scale(struct ws_real_number *number, int ten, int two)
{
    for (; ten >= 9; ten -= 9)
        ws_real_multiply(number, 1000000000u, 0);
    for (; ten > 0; ten--)
        ws_real_multiply(number, 10, 0);
    for (; two >= 31; two -= 31)
        ws_real_multiply(number, 1u << 31, 0);
    if (two > 0)
        ws_real_multiply(number, 1u << two, 0);
}

/* Whether x is below the middle between the double of these bits and the next one: -1, 0 (it is the middle), 1. */
static __device__ int ws_real_compare(const struct ws_real_number *digits, int ten, int two, unsigned long long bits)
{
    const int field = (int)(bits >> 52);
    const unsigned long long hidden = field == 0 ? 0 : 1ull << 52;
    const unsigned long long middle = 2 * ((bits & ((1ull << 52) - 1)) | hidden) + 1;
    const int shift = two - ((field == 0 ? 1 : field) - 1076);
    struct ws_real_number x = *digits;
    struct ws_real_number other;
    other.words[0] = (unsigned int)middle;
    other.words[1] = (unsigned int)(middle >> 32);
    other.count = other.words[1] != 0 ? 2 : 1;
    ws_real_scale(&x, ten, shift);
    ws_real_scale(&other, -ten, -shift);
    if (x.count != other.count)
        return x.count < other.count ? -1 : 1;
    for (int k = x.count - 1; k >= 0; k--)
        if (x.words[k] != other.words[k])
            return x.words[k] < other.words[k] ? -1 : 1;
    return 0;
}

/* The double nearest to x, which lies between 2^least and 2^most. */
static __device__ double ws_real_nearest(const struct ws_real_number *digits, int ten, int two, int least, int most)
{
    const unsigned long long infinite = 0x7ffull << 52;
    union {
        unsigned long long bits;
        double value;
    } low, high;
    low.bits = least < -1021 ? 0 : least > 1023 ? infinite - 1 : (unsigned long long)(least + 1022) << 52;
    high.bits = most > 1022 ? infinite : most < -1022 ? 1ull << 52 : (unsigned long long)(most + 1024) << 52;
    while (low.bits < high.bits) {
        const unsigned long long bits = low.bits + (high.bits - low.bits) / 2;
        const int side = ws_real_compare(digits, ten, two, bits);
        if (side < 0 || (side == 0 && bits % 2 == 0))
            high.bits = bits;
        else
            low.bits = bits + 1;
    }
    return low.value;
}

static __device__ int ws_real_digit(char c, int base)
{
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
    return digit < base ? digit : -1;
}

static __device__ int ws_real_says(const char *text, const char *word)
{
    int k = 0;
    while (word[k] != 0 && (text[k] | 32) == word[k])
        k++;
    return word[k] == 0;
}

/* Return the exponent behind e or p, 0 where none is; what is beyond every double is as good as a million. */
static __device__ long long ws_real_exponent(const char *text, char letter)
{
    if ((*text | 32) != letter)
        return 0;
    text++;
    const int negative = *text == '-';
    if (negative || *text == '+')
        text++;
    long long value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value < 1000000000000ll ? value * 10 + (*text - '0') : value;
    return negative ? -value : value;
}

/* What stands behind the sign; a text without a number is 0, whatever its sign. */
static __device__ double ws_real_signed(const char *text, int negative)
{
    const double sign = negative ? -1.0 : 1.0;
    if (ws_real_says(text, "inf"))
        return sign / 0.0;
    if (ws_real_says(text, "nan"))
        return 0.0 / 0.0;
    int base = 10;
    if (text[0] == '0' && (text[1] | 32) == 'x' &&
        (ws_real_digit(text[2], 16) >= 0 || (text[2] == '.' && ws_real_digit(text[3], 16) >= 0))) {
        base = 16;
        text += 2;
    }
    struct ws_real_number digits;
    digits.count = 0;
    unsigned long long lead = 0; /* the first digits as one number, where there are at most 15 */
    long long kept = 0, scale = 0;
    int rest = 0, behind = 0, any = 0;
    for (;; text++) {
        const int digit = ws_real_digit(*text, base);
        if (digit < 0 && (*text != '.' || behind))
            break;
        if (digit < 0) {
            behind = 1;
            continue;
        }
        any = 1;
        scale -= behind;
        if (kept == 0 && digit == 0)
            continue;
        if (kept < 768) {
            if (digits.count == 0)
                digits.words[digits.count++] = 0;
            ws_real_multiply(&digits, base, digit);
            lead = kept < 15 ? lead * base + digit : lead;
            kept++;
        } else {
            rest |= digit;
            scale++;
        }
    }
    if (kept == 0)
        return any ? sign * 0.0 : 0.0;
    if (base == 10) {
        scale += ws_real_exponent(text, 'e');
        if (kept <= 15 && scale >= -22 && scale <= 22) {
            double power = 1.0; /* exact, as the digits are: one rounding is left */
            for (long long k = scale < 0 ? -scale : scale; k > 0; k--)
                power *= 10.0;
            return scale < 0 ? sign * (double)lead / power : sign * (double)lead * power;
        }
    }
    if (base == 16)
        scale = 4 * scale + ws_real_exponent(text, 'p');
    if (rest != 0) {
        ws_real_multiply(&digits, base, 1);
        kept++;
        scale -= base == 10 ? 1 : 4;
    }
    /* the first digit is not 0: x is at least base^(kept - 1) times the scale, and below base^kept times it */
    const long long above = base == 10 ? kept + scale : 4 * kept + scale;
    if (above > (base == 10 ? 310 : 1100))
        return sign / 0.0;
    if (above < (base == 10 ? -330 : -1100))
        return sign * 0.0;
    if (base == 16)
        return sign * ws_real_nearest(&digits, 0, (int)scale, (int)above - 4, (int)above);
    const int least = (int)(above - 1) * 3322 / 1000 - 4, most = (int)above * 3322 / 1000 + 4;
    return sign * ws_real_nearest(&digits, (int)scale, 0, least, most);
}

static __device__ double ws_atof(const char *text)
{
    while (*text == ' ' || (*text >= '\t' && *text <= '\r'))
        text++;
    const int negative = *text == '-';
    return ws_real_signed(negative || *text == '+' ? text + 1 : text, negative);
}
