"""Comparing numbers, counting and sorting."""

import random

from .common import NOUNS, ask

COMPARE, COUNT, SORT = "comparing", "counting", "sorting"
BIGGER = ["Which is larger, {a} or {b}?", "Which number is bigger: {a} or {b}?", "What is larger, {a} or {b}?", "Is {a} or {b} the larger number?", "Which is greater: {a} or {b}?", "Tell me the larger number: {a} or {b}."]
SMALLER = ["Which is smaller, {a} or {b}?", "Which number is smaller: {a} or {b}?", "What is smaller, {a} or {b}?", "Is {a} or {b} the smaller number?", "Which is less: {a} or {b}?", "Tell me the smaller number: {a} or {b}."]


def draw_number(rng: random.Random) -> int:
    return rng.randint(0, rng.choice([10, 99, 99, 999]))


def compare(rng: random.Random):
    a = draw_number(rng)
    b = draw_number(rng) if rng.random() < 0.6 else max(0, a + rng.randint(-15, 15))
    while b == a:
        b = draw_number(rng)
    if rng.random() < 0.3:
        yes = a > b
        question = rng.choice(["Is {a} larger than {b}?", "Is {a} greater than {b}?", "Is {a} bigger than {b}?", "Is {a} more than {b}?"])
        answer = f"Yes, {a} is larger than {b}." if yes else f"No, {a} is smaller than {b}."
        short = "Yes" if yes else "No"
    elif rng.random() < 0.5:
        question, short = rng.choice(BIGGER), str(max(a, b))
        answer = f"{max(a, b)} is larger than {min(a, b)}."
    else:
        question, short = rng.choice(SMALLER), str(min(a, b))
        answer = f"{min(a, b)} is smaller than {max(a, b)}."
    thought = f"I compare {a} and {b}. {a} has {len(str(a))} digits, {b} has {len(str(b))} digits."
    return ask(COMPARE, question.format(a=a, b=b), answer, thought=thought, short=short, key=f"{a},{b}")


def count(rng: random.Random):
    kind = rng.random()
    if kind < 0.4:
        words = rng.sample(NOUNS, rng.randint(1, 8))
        listing = rng.choice([" ", ", "]).join(words)
        question = rng.choice(["How many words are in this list: {}?", "Count the words: {}", "How many words are there? {}", "Count the items: {}"]).format(listing)
        number, noun = len(words), "word"
        thought = "\n".join(f"{i}: {w}" for i, w in enumerate(words, 1))
        return ask(COUNT, question, f"There {'is' if number == 1 else 'are'} {number} {noun}{'' if number == 1 else 's'}.", thought=thought, short=str(number))
    if kind < 0.7:
        low = rng.randint(0, 30)
        high = low + rng.randint(2, 12)
        numbers = [str(n) for n in range(low, high + 1)]
        question = rng.choice(["Count from {a} to {b}.", "Count up from {a} to {b}.", "List the numbers from {a} to {b}.", "Count {a} to {b}"])
        if rng.random() < 0.3:
            numbers.reverse()
            low, high = high, low
            question = rng.choice(["Count down from {a} to {b}.", "Count from {a} down to {b}.", "Count backwards from {a} to {b}."])
        return ask(COUNT, question.format(a=low, b=high), ", ".join(numbers), thought=f"I start at {low} and stop at {high}.", key=f"count {low} {high}")
    things = rng.sample(NOUNS, 2)
    sequence = [rng.choice(things) for _ in range(rng.randint(3, 7))]
    wanted = rng.choice(things)
    number = sequence.count(wanted)
    question = rng.choice(['How often does the word "{w}" occur in: {s}', 'How many times is "{w}" in this list: {s}', 'Count the word "{w}": {s}'])
    times = "once" if number == 1 else f"{number} times"
    thought = "\n".join(f"{i}: {w}{', found' if w == wanted else ''}" for i, w in enumerate(sequence, 1))
    return ask(COUNT, question.format(w=wanted, s=" ".join(sequence)), f'"{wanted}" occurs {times}.', thought=thought)


def sort(rng: random.Random):
    if rng.random() < 0.6:
        length = rng.randint(2, 4)
        top = rng.choice([9, 20, 99, 99])
        items = rng.sample(range(0, top + 1), length)
        ascending = sorted(items)
        question = rng.choice(["Sort these numbers: {}", "Sort in ascending order: {}", "Put these numbers in order: {}", "Sort from smallest to largest: {}", "Order these numbers: {}"])
        if rng.random() < 0.35:
            ascending.reverse()
            question = rng.choice(["Sort in descending order: {}", "Sort from largest to smallest: {}", "Sort these numbers, largest first: {}"])
    else:
        length, items = rng.randint(2, 3), []
        while len(items) < length:
            word = rng.choice(NOUNS)
            if word not in items:
                items.append(word)
        ascending = sorted(items)
        question = rng.choice(["Sort these words alphabetically: {}", "Put these words in alphabetical order: {}", "Sort alphabetically: {}", "Sort these words: {}"])
    shown = ", ".join(str(i) for i in items)
    answer = ", ".join(str(i) for i in ascending)
    return ask(SORT, question.format(shown), answer, thought=f"The first one is {ascending[0]}, the last one is {ascending[-1]}.")


def generate(rng: random.Random):
    return rng.choice([compare, count, sort, sort])(rng)
