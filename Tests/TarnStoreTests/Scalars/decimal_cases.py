#!/usr/bin/env python3
"""Cases for DecimalNumberTests, with the answers of Python's decimal module.

    decimal_cases.py SEED COUNT > decimal_cases.txt

The file beside this script is of seed 1 and 2500 cases. One case a line, parts by spaces:

    parse TEXT RESULT exact|rounded
    text RESULT            what RESULT reads as prints the same again
    + A B RESULT           likewise - * /
    order A B -1|0|1       NaN below all others
    double A RESULT        the nearest double, as Python prints it
"""
import random
import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact

CONTEXT = Context(prec=34, Emax=6144, Emin=-6143, rounding=ROUND_HALF_EVEN, clamp=1, traps=[])
SPECIAL = [
    "0", "-0", "0.00", "0E-6176", "-0E+6111", "Infinity", "-Infinity", "NaN", "1E-6176",
    "-1E-6176", "1E-6143", "9.999999999999999999999999999999999E-6144", "1E+6144", "1E+6111",
    "9.999999999999999999999999999999999E+6144", "-9.999999999999999999999999999999999E+6144",
    "1", "-1", "1.0", "1.00", "10", "2", "3", "0.5", "1E-34", "1E+34", "5E-35", "1E-7", "0.000001",
    "9999999999999999999999999999999999", "1000000000000000000000000000000001",
]


def digits(pick, count):
    shape = pick.random()
    if shape < 0.1:
        return "1" + "0" * (count - 1)
    if shape < 0.2:
        return "9" * count
    letters = "09" if shape < 0.3 else "0123456789"
    return "".join(pick.choice(letters) for _ in range(count))


def number(pick):
    """A number that a decimal128 holds, as its text."""
    if pick.random() < 0.15:
        return str(CONTEXT.create_decimal(pick.choice(SPECIAL)))
    count = pick.choice([1, 2, 5, 16, 17, 33, 34, 34, pick.randint(1, 34)])
    exponent = pick.choice([
        0, -2, pick.randint(-40, 40), pick.randint(-40, 40), pick.randint(-6176, -6100),
        pick.randint(6050, 6111), pick.randint(-3100, 3100),
    ])
    text = pick.choice(["", "-"]) + digits(pick, count) + "E%d" % exponent
    return str(CONTEXT.create_decimal(text))


def neighbour(pick, text):
    """A number whose digits meet those of the other: sums that cancel, round or tie."""
    value = Decimal(text)
    if not value.is_finite() or pick.random() < 0.5:
        return number(pick)
    sign, parts, exponent = value.as_tuple()
    exponent += pick.randint(-36, 36)
    part = pick.choice(["5", "50", "49", "51", "500000001", digits(pick, pick.randint(1, 34))])
    return str(CONTEXT.create_decimal(pick.choice(["", "-"]) + part + "E%d" % exponent))


def long_text(pick):
    """Digits past the 34th: ties, nearly ties, and numbers at the ends of the range."""
    head = digits(pick, pick.choice([1, 20, 34, 34, 34]))
    tail = pick.choice(["5", "50", "4999", "5001", "5" + "0" * 110, "5" + "0" * 110 + "1", "0", ""])
    text = head + tail
    position = pick.randint(0, len(text))
    if pick.random() < 0.5:
        text = text[:position] + "." + text[position:]
    if pick.random() < 0.2:
        text = pick.choice(["0", "000", "0." + "0" * 40]) + text.replace(".", "")
    if pick.random() < 0.7:
        exponent = pick.choice([
            "0", "-3", "+12", "007", str(pick.randint(-6260, -6100)), str(pick.randint(6050, 6160)),
            "99999999999999999999", "-99999999999999999999",
        ])
        text += pick.choice("eE") + exponent
    return pick.choice(["", "-", "+"]) + text


def case(pick):
    kind = pick.choice("parse parse text + + - * * / / order double".split())
    if kind == "parse":
        text = long_text(pick)
        CONTEXT.clear_flags()
        value = CONTEXT.create_decimal(text)
        return kind, text, value, "rounded" if CONTEXT.flags[Inexact] else "exact"
    a = number(pick)
    if kind == "text":
        return kind, a
    value = Decimal(a)
    if kind == "double":
        return kind, a, repr(float(value))
    b = neighbour(pick, a)
    other = Decimal(b)
    if kind == "order":
        if value.is_nan() or other.is_nan():
            order = other.is_nan() - value.is_nan()
        else:
            order = (value > other) - (value < other)
        return kind, a, b, order
    operation = {
        "+": CONTEXT.add, "-": CONTEXT.subtract, "*": CONTEXT.multiply, "/": CONTEXT.divide,
    }[kind]
    return kind, a, b, operation(value, other)


def main():
    pick = random.Random(int(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        print(*case(pick))


main()
