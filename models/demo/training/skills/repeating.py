"""Repeating a text to the letter: words, invented words, numbers, other scripts, emoji."""

import random

from .common import FIRST_NAMES, NOUNS, ask, city, invented_word

SKILL = "repeating"
FORMS = ["Repeat: {}", "Repeat: {}", "Repeat after me: {}", "Say: {}", "Repeat this: {}", "Repeat exactly: {}", "Say exactly this: {}", "Echo: {}", "Write this: {}", "Please repeat: {}", "repeat: {}", "Copy this text: {}", 'Say "{}"', 'Repeat "{}"', "Repeat the following text: {}"]
# First and last code point of ranges that are drawn from for other scripts.
SCRIPTS = [(0xC0, 0x17F), (0x3B1, 0x3C9), (0x410, 0x44F), (0x5D0, 0x5EA), (0x627, 0x64A), (0x905, 0x939), (0xE01, 0xE2E), (0x3041, 0x3093), (0x30A1, 0x30F6), (0x4E00, 0x9FA5), (0x4E00, 0x6000), (0xAC00, 0xD7A3), (0x2190, 0x21FF), (0x2600, 0x26FF)]
EMOJI = [(0x1F300, 0x1F5FF), (0x1F600, 0x1F64F), (0x1F680, 0x1F6C5), (0x1F900, 0x1F9FF)]
SUBJECTS = ["The {}", "A {}", "My {}", "Our {}", "This {}", "Every {}"]
VERBS = ["sees", "likes", "finds", "holds", "hides", "wants", "paints", "buys", "has", "moves", "needs", "breaks"]


def foreign(rng: random.Random) -> str:
    low, high = rng.choice(SCRIPTS)
    return "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 6)))


def emoji(rng: random.Random) -> str:
    return "".join(chr(rng.randint(*rng.choice(EMOJI))) for _ in range(rng.randint(1, 3)))


def sentence(rng: random.Random) -> str:
    text = f"{rng.choice(SUBJECTS).format(rng.choice(NOUNS))} {rng.choice(VERBS)} the {rng.choice(NOUNS)}"
    if rng.random() < 0.3:
        text += f" in {city(rng)}"
    return text + rng.choice([".", ".", "!", "?", ""])


def piece(rng: random.Random) -> str:
    draw = rng.random()
    if draw < 0.30:
        return rng.choice(NOUNS)
    if draw < 0.50:
        return invented_word(rng)
    if draw < 0.60:
        return rng.choice(FIRST_NAMES)
    if draw < 0.70:
        return str(rng.randint(0, 99999))
    if draw < 0.82:
        return foreign(rng)
    if draw < 0.92:
        return emoji(rng)
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/#@") for _ in range(rng.randint(2, 8)))


def generate(rng: random.Random):
    draw = rng.random()
    if draw < 0.3:
        text = sentence(rng)
    elif draw < 0.5:
        text = " ".join(rng.choice([piece, piece, invented_word])(rng) for _ in range(rng.randint(1, 3)))
    elif draw < 0.58:
        text = foreign(rng) + rng.choice([" ", ""]) + emoji(rng)
    else:
        text = rng.choice([" ", " ", " ", ", "]).join(piece(rng) for _ in range(rng.randint(2, 7)))
    return ask(SKILL, rng.choice(FORMS).format(text), text, thought="I repeat the text exactly.", key=text)
