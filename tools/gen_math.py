#!/usr/bin/env python3
"""Writes the numbers of kernels/cpu/math*.c: `gen_math.py FOLDER` makes math_tables.inc and math_constants.inc there.

Needs mpmath. Everything is computed with 300 bits; polynomials meet their function at Chebyshev points."""

import pathlib
import struct
import sys

import mpmath as mp

mp.mp.prec = 300

STEPS = 128  # of the tables of exp and log
DEGREE = 12  # of the pieces
HEAD = "/* Made by tools/gen_math.py. */\n"


def double(x):
    return float(x)  # mpmath rounds to nearest even


def hex_row(values):
    return "{" + ", ".join(double(v).hex() for v in values) + "}"


def table(name, columns, rows):
    lines = [f"const double mr_{name}_rows[{len(rows)}][{columns}] = {{"]
    return "\n".join(lines + [f"    {hex_row(r)}," for r in rows] + ["};\n"])


def interpolate(f, low, high, degree):
    """Coefficients of the polynomial in x that meets f at the Chebyshev points of [low, high]: close to minimax."""
    mid, half = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2
    n = degree + 1
    points = [mid + half * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    rows = mp.matrix(n, n)
    for i, x in enumerate(points):
        for j in range(n):
            rows[i, j] = x**j
    return list(mp.lu_solve(rows, mp.matrix([f(x) for x in points])))


def split(x):
    high = double(x)
    return high, x - high


class Pieces:
    """f on [0, limit]: row 0 is [0, 2^first); then 8 intervals an octave. A row is {center, unit, f(center) in two parts,
    coefficients of d, d^2 … d^12}; f = (high + unit d) + (low + d (c1 + d (c2 …))), d = x - center."""

    def __init__(self, name, f, first, limit, row0):
        self.name, self.f, self.first, self.limit, self.row0 = name, f, first, limit, row0
        self.slope, self.worst = 1, 0

    def check(self, row, low, high):
        for k in range(41):
            x = low + (high - low) * mp.mpf(k) / 40
            if x == 0:
                continue
            d = x - row[0]
            tail = mp.mpf(0)
            for c in reversed(row[4:]):
                tail = tail * d + mp.mpf(double(c))
            got = row[2] + row[1] * d + (mp.mpf(double(row[3])) + d * tail)
            exact = self.f(x)
            self.worst = max(self.worst, abs((got - exact) / exact) * mp.mpf(2) ** 53)

    def row(self, low, high):
        center = (low + high) / 2
        c = interpolate(lambda d: self.f(center + d), low - center, high - center, DEGREE)
        top, rest = split(c[0])
        return [center, 0, top, rest] + c[1:]

    def odd_row(self, high):
        """x (1 + rest), relative to x down to 0: fit f(x)/x in x squared."""
        slope = mp.mpf(self.slope)
        q = interpolate(lambda u: (self.f(mp.sqrt(u)) / mp.sqrt(u) - slope) / u, 0, high**2, 4)
        c = [mp.mpf(0)] * DEGREE
        c[0] = slope - 1
        c[2::2] = q
        return [0, 1, 0, 0] + c

    def even_row(self, high):
        q = interpolate(lambda u: (self.f(mp.sqrt(u)) - 1) / u, 0, high**2, 5)
        c = [mp.mpf(0)] * DEGREE
        c[1::2] = q
        return [0, 0, 1, 0] + c

    def rows(self):
        edge = mp.mpf(2) ** self.first
        made = []
        if self.row0:
            made.append(self.row0(edge))
            self.check(made[0], mp.mpf(0), edge)
        low = edge
        while low < self.limit:
            octave = mp.mpf(2) ** mp.floor(mp.log(low, 2))
            high = low + octave / 8
            made.append(self.row(low, high))
            self.check(made[-1], low, high)
            low = high
        return made

    def text(self):
        rows = self.rows()
        first = (1023 + self.first) * 8 - (1 if self.row0 else 0)
        note = f"/* error before rounding: {mp.nstr(self.worst, 2)} ULP */\n"
        pieces = f"const mr_pieces mr_{self.name}_pieces = {{mr_{self.name}_rows, {first}, {len(rows) - 1}}};\n"
        return note + "static " + table(self.name, DEGREE + 4, rows) + pieces


def odd(name, f, first, limit, slope=1):
    p = Pieces(name, f, first, limit, None)
    p.slope, p.row0 = slope, p.odd_row
    return p


def even(name, f, first, limit):
    p = Pieces(name, f, first, limit, None)
    p.row0 = p.even_row
    return p


PIECES = [
    odd("tanh", mp.tanh, -4, 20),
    odd("erf", mp.erf, -4, 6, 2 / mp.sqrt(mp.pi)),
    Pieces("erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), -1, 28, None),
    odd("sin", mp.sin, -4, mp.pi / 4),
    even("cos", mp.cos, -4, mp.pi / 4),
    odd("tan", mp.tan, -5, mp.pi / 4),
    odd("asin", mp.asin, -5, 0.5),
    odd("atan", mp.atan, -5, 1),
    odd("sinh", mp.sinh, -4, 1),
    odd("asinh", mp.asinh, -5, 1),
    odd("atanh", mp.atanh, -5, 0.5),
]

LOG_OFFSET = 0x3FE6000000000000 + (1 << 44)  # puts 1 into the middle of its interval
LOG_GRID = mp.mpf(2) ** -42  # k ln 2 + log c is exact on it


def exp_rows():
    rows = []
    for i in range(STEPS):
        high, rest = split(mp.mpf(2) ** (mp.mpf(i) / STEPS))
        rows.append([high, rest / high])
    return rows


def log_rows():
    """{1/c of at most 9 bits, log c on the grid, the rest of log c}"""
    rows, worst = [], 0
    for i in range(STEPS):
        edges = [mp.mpf(double_of_bits(LOG_OFFSET + (i + side << 45))) for side in (0, 1)]
        inverse = mp.nint(512 / (edges[0] + edges[1])) / 256
        worst = max([worst] + [abs(z * inverse - 1) for z in edges])
        log = -mp.log(inverse)
        high = mp.nint(log / LOG_GRID) * LOG_GRID
        rows.append([inverse, high, log - high])
    return rows, worst


def double_of_bits(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def constant(name, value):
    return f"static const double MR_{name} = {double(value).hex()};\n"


def pair(name, value, bits=53):
    """A high part of so many bits and the rest."""
    ulp = mp.mpf(2) ** (mp.floor(mp.log(value, 2)) + 1 - bits)
    high = mp.nint(value / ulp) * ulp
    return constant(name + "_HI", high) + constant(name + "_LO", value - high)


def constants(log_reach):
    ln2 = mp.log(2)
    reach = ln2 / STEPS / 2 * mp.mpf("1.01")
    # What is left of exp(r) after r, of log(1+r) after r - r^2/2, of expm1(x) after x + x^2/2.
    exp_c = interpolate(lambda r: mp.hyp1f1(1, 3, r) / 2, -reach, reach, 3)
    log_c = interpolate(lambda r: mp.hyp2f1(1, 3, 4, -r) / 3, -log_reach, log_reach, 6)
    expm1_c = interpolate(lambda x: mp.hyp1f1(1, 4, x) / 6, -0.125, 0.125, 8)
    text = constant("STEPS_PER_LN2", STEPS / ln2) + pair("LN2_STEP", ln2 / STEPS, 35) + pair("LN2", ln2)
    grid = mp.nint(ln2 / LOG_GRID) * LOG_GRID
    text += constant("LN2_GRID", grid) + constant("LN2_GRID_REST", ln2 - grid)
    text += pair("LOG2_E", 1 / ln2) + pair("LOG10_E", 1 / mp.log(10))
    text += pair("PI", mp.pi) + pair("PI_2", mp.pi / 2) + constant("TWO_OVER_PI", 2 / mp.pi)
    rest = mp.pi / 2
    for i in range(3):  # so that k times a part is exact below k = 2^20
        ulp = mp.mpf(2) ** (mp.floor(mp.log(rest, 2)) - 32)
        part = mp.floor(rest / ulp) * ulp
        text += constant(f"PI_2_PART{i}", part)
        rest -= part
    text += constant("PI_2_PART3", rest)
    for name, c in (("exp", exp_c), ("log", log_c), ("expm1", expm1_c)):
        text += f"static const double mr_{name}_c[{len(c)}] = {hex_row(c)};\n"
    return text


def two_over_pi():
    """The bits of 2/pi after 64 zeros."""
    words = [0] + [int(mp.floor(mp.ldexp(2 / mp.pi, 64 * (i + 1)))) % 2**64 for i in range(20)]
    return "const uint64_t mr_two_over_pi[21] = {" + ", ".join(f"0x{w:016x}" for w in words) + "};\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    rows, log_reach = log_rows()
    tables = [table("exp", 2, exp_rows()), table("log", 3, rows)] + [p.text() for p in PIECES]
    with mp.workprec(1400):
        tables.append(two_over_pi())
    (folder / "math_tables.inc").write_text(HEAD + "\n".join(tables))
    (folder / "math_constants.inc").write_text(HEAD + constants(log_reach))


if __name__ == "__main__":
    main()
