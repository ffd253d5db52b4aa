"""Addition, subtraction, multiplication tables, exact division."""

import random

from .common import ask, vary

SKILL = "arithmetic"
FORMS = {
    "+": ["What is {a} + {b}?", "{a} + {b}", "{a}+{b}", "{a} + {b} =", "Calculate {a} + {b}.", "Add {a} and {b}.", "How much is {a} plus {b}?", "What is the sum of {a} and {b}?", "What is {a} plus {b}?", "Compute {a} + {b}."],
    "-": ["What is {a} - {b}?", "{a} - {b}", "{a}-{b}", "{a} - {b} =", "Calculate {a} - {b}.", "Subtract {b} from {a}.", "How much is {a} minus {b}?", "What is the difference between {a} and {b}?", "What is {a} minus {b}?", "Compute {a} - {b}."],
    "*": ["What is {a} * {b}?", "{a} * {b}", "{a}*{b}", "{a} x {b}", "Calculate {a} * {b}.", "Multiply {a} by {b}.", "How much is {a} times {b}?", "What is the product of {a} and {b}?", "What is {a} times {b}?", "Compute {a} × {b}."],
    "/": ["What is {a} / {b}?", "{a} / {b}", "{a} ÷ {b}", "Divide {a} by {b}.", "How much is {a} divided by {b}?", "What is {a} divided by {b}?"],
}


def draw_operands(rng: random.Random, sign: str) -> tuple[int, int, int]:
    """Operands and result. Two digits at most, results never negative but for small numbers."""
    if sign == "*":
        a, b = rng.randint(0, 12), rng.randint(0, 12)
        return a, b, a * b
    if sign == "/":
        a, b = rng.randint(0, 12), rng.randint(1, 12)
        return a * b, b, a
    largest = rng.choice([10, 20, 99, 99, 99])
    a, b = rng.randint(0, largest), rng.randint(0, largest)
    if sign == "-" and a < b and largest > 20:
        a, b = b, a
    return a, b, a + b if sign == "+" else a - b


def explain(a: int, b: int, sign: str, result: int) -> str:
    """The written method, digit by digit from the right."""
    if sign in "*/" or result < 0:
        return f"I calculate {a} {sign} {b}. The result is {result}."
    lines, carry = [], 0
    for place, name in enumerate(["ones", "tens"][: max(len(str(a)), len(str(b)))]):
        x, y = a // 10**place % 10, b // 10**place % 10
        term = f" {sign} {carry}" if carry else ""
        if sign == "+":
            total = x + y + carry
            lines.append(f"{name}: {x} + {y}{term} = {total}")
            carry = int(total > 9)
        else:
            borrowed = int(x - y - carry < 0)
            x += 10 * borrowed
            lines.append(f"{name}: {x} - {y}{term} = {x - y - carry}" + (", borrow 1" if borrowed else ""))
            carry = borrowed
    return "\n".join(lines) + f"\nThe result is {result}."


def generate(rng: random.Random):
    sign = rng.choice("+++---**/")
    a, b, result = draw_operands(rng, sign)
    form = rng.randrange(len(FORMS[sign]))
    question = FORMS[sign][form].format(a=a, b=b)
    if form in (0, 6, 8) and rng.random() < 0.5:
        question = vary(rng, question)
    # A pair of a table is a fact and must be seen; there the wording is held out instead.
    key = f"{a}{sign}{b}" if sign in "+-" and max(a, b) > 20 else f"{question.lower().rstrip('?.')}"
    return ask(SKILL, question, f"{a} {sign} {b} = {result}.", thought=explain(a, b, sign, result), short=str(result), key=key)
