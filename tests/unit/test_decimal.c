/* Numbers as text: what is read, what is refused, what is written, and that what is written is read back. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/decimal.h"

static int passed, failed;

static void check(bool ok, const char *what, const char *text, double x)
{
    if (ok) {
        passed++;
    } else {
        failed++;
        printf("FAIL %s: '%s' %a\n", what, text, x);
    }
}

static const struct {
    const char *text;
    double x;
} numbers[] = {
    {"3.14", 3.14},
    {"1000", 1000},
    {"1e-5", 1e-5},
    {"1E8", 1e8},
    {"+INF", INFINITY},
    {"inf", INFINITY},
    {"-iNf", -INFINITY},
    {"Infinity", INFINITY},
    {"NaN", NAN},
    {"-nan", NAN},
    {" 7\t", 7},
    {".5", 0.5},
    {"5.", 5},
    {"-0", -0.0},
    {"1e400", INFINITY},
    {"-1e-400", -0.0},
    {"4.9e-324", 0x1p-1074},
    {"0e99999999999", 0},
    {"1e-99999999999", 0},
    {"00012e+02", 1200},
    {"9007199254740993", 9007199254740992},
    {"9007199254740993.0000000000000000000000001", 9007199254740994},
};

static const char *const refused[] = {"",    " ",    ".",   "e5",      "1e",           "1e+", "1.2.3",
                                      "1 2", "0x10", "1_0", "infinit", "Hello World!", "--1", "1,5"};

static const struct {
    double x;
    const char *text;
} written[] = {
    {0, "0.0"},
    {-0.0, "-0.0"},
    {314.15926, "314.15926"},
    {100, "100.0"},
    {1e15, "1000000000000000.0"},
    {1e16, "1e+16"},
    {1e-4, "0.0001"},
    {9.9e-5, "9.9e-05"},
    {1e300, "1e+300"},
    {5e-324, "5e-324"},
    {NAN, "nan"},
    {INFINITY, "inf"},
    {-INFINITY, "-inf"},
    {0.1, "0.1"},
    {1.5e-7, "1.5e-07"},
    {0x1p-44, "5.684341886080802e-14"},
    {9999999999999998, "9999999999999998.0"},
    {DBL_MAX, "1.7976931348623157e+308"},
};

static void check_tables(void)
{
    double x;
    char out[MR_DECIMAL_SIZE];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *text = numbers[i].text;
        bool ok = mr_parse_f64(text, strlen(text), &x);
        check(ok && (isnan(x) ? isnan(numbers[i].x) : x == numbers[i].x && !signbit(x) == !signbit(numbers[i].x)),
              "read", text, x);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        check(!mr_parse_f64(refused[i], strlen(refused[i]), &x), "refuse", refused[i], x);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        size_t n = mr_format_f64(written[i].x, out);
        check(n == strlen(out) && !strcmp(out, written[i].text), "write", out, written[i].x);
    }
    check(mr_format_f32(0.1f, out) == 3 && !strcmp(out, "0.1"), "write float", out, 0.1f);
    check(mr_format_f16(mr_f16_from_f64(0.1), out) == 3 && !strcmp(out, "0.1"), "write f16", out, 0.1);
    check(mr_format_bf16(mr_bf16_from_f64(0.1), out) == 3 && !strcmp(out, "0.1"), "write bf16", out, 0.1);
}

static void check_ints(void)
{
    static const struct {
        const char *text;
        uint64_t x;
    } ints[] = {
        {"123", 123},  {"-1", UINT64_MAX}, {"18446744073709551615", UINT64_MAX}, {"100.5", 100}, {"-2.7", (uint64_t)-2},
        {"1e3", 1000}, {" +5 ", 5},        {"9223372036854775807", INT64_MAX},   {"nan", 0}};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        uint64_t x = 0;
        bool ok = mr_parse_int(ints[i].text, strlen(ints[i].text), &x);
        check(ok && x == ints[i].x, "read int", ints[i].text, (double)x);
    }
}

static void check_round_trip(uint64_t bits)
{
    char out[MR_DECIMAL_SIZE];
    double x = mr_f64_bits(bits), back = 0;
    float f = mr_f32_bits((uint32_t)(bits >> 32)), f_back = 0;
    size_t n = mr_format_f64(x, out);
    check(mr_parse_f64(out, n, &back) && (back == x || isnan(x)), "round trip", out, x);
    n = mr_format_f32(f, out);
    check(mr_parse_f32(out, n, &f_back) && (f_back == f || isnan(f)), "round trip float", out, f);
}

/* A long tail decides a tie: the middle of 1 and the next double, then one more digit far behind. */
static void check_long(void)
{
    char text[1200] = "1.00000000000000011102230246251565404236316680908203125";
    size_t n = strlen(text);
    double x = 0;
    check(mr_parse_f64(text, n, &x) && x == 1, "tie", text, x);
    memset(text + n, '0', sizeof text - n);
    text[sizeof text - 1] = '1';
    check(mr_parse_f64(text, sizeof text, &x) && x > 1, "above a tie", "…", x);
}

int main(void)
{
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is one: a comma must not matter */
    check_tables();
    check_ints();
    check_long();
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        check_round_trip(bits ^ bits >> 29);
    }
    for (uint64_t exponent = 0; exponent < 2048; exponent++) check_round_trip(exponent << 52);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
