"""Remembering what the user said some turns ago: a name, a number, a city, a colour, an animal."""

import random

from .common import NOUNS, Example, city, first_name, message

SKILL = "memory"
TINTS = "red blue green yellow black white orange purple brown pink grey silver gold".split()
PETS = "dog cat horse rabbit parrot turtle hamster goldfish snake pony duck goat".split()
# Each entry: introductions, acknowledgement, questions, answer; {v} is the remembered value.
SLOTS = {
    "name": (["My name is {v}.", "I am {v}.", "Hello, my name is {v}.", "Hi, I am {v}.", "Call me {v}.", "I'm {v}.", "Hi, I'm {v}", "my name is {v}"], "Nice to meet you, {v}!", ["What is my name?", "Do you remember my name?", "What's my name?", "Who am I?", "Tell me my name.", "How am I called?", "Say my name."], "Your name is {v}."),
    "number": (["Remember the number {v}.", "My number is {v}.", "The number is {v}.", "Please remember the number {v}.", "My favourite number is {v}.", "Keep the number {v} in mind."], "I will remember {v}.", ["What is the number?", "Which number did I tell you?", "What was the number?", "What number should you remember?", "What is my number?", "Tell me the number."], "The number is {v}."),
    "city": (["I live in {v}.", "I am from {v}.", "My home is in {v}.", "I live in {v} now.", "My city is {v}."], "{v} is a nice place.", ["Where do I live?", "In which city do I live?", "What is my city?", "Where is my home?", "Where am I from?"], "You live in {v}."),
    "colour": (["My favourite colour is {v}.", "I like the colour {v}.", "My favorite color is {v}.", "The colour I like most is {v}."], "{v} is a nice colour.", ["What is my favourite colour?", "Which colour do I like?", "What is my favorite color?", "What colour do I like?"], "Your favourite colour is {v}."),
    "pet": (["I have a {v}.", "My pet is a {v}.", "I own a {v}.", "At home I have a {v}."], "A {v} is a good companion.", ["Which pet do I have?", "What pet do I have?", "Which animal do I have?", "What animal do I own?"], "You have a {v}."),
    "word": (["Remember the word {v}.", "The secret word is {v}.", "The password is {v}.", "Please remember the word {v}.", "Keep the word {v} in mind."], "I will remember {v}.", ["What is the word?", "What is the secret word?", "What was the word?", "Which word did I tell you?", "What is the password?", "Which word should you remember?"], "The word is {v}."),
}


def draw_value(rng: random.Random, slot: str) -> str:
    return {
        "name": lambda: first_name(rng),
        "number": lambda: str(rng.randint(0, rng.choice([99, 999, 9999]))),
        "city": lambda: city(rng),
        "colour": lambda: rng.choice(TINTS),
        "pet": lambda: rng.choice(PETS),
        "word": lambda: rng.choice(NOUNS),
    }[slot]()


def upper_first(text: str) -> str:
    return text[0].upper() + text[1:]


def generate(rng: random.Random, filler) -> Example:
    """filler(rng) gives an unrelated plain example to stand between statement and question."""
    slots = rng.sample(list(SLOTS), rng.choice([1, 1, 2, 2, 3]))
    values = {slot: draw_value(rng, slot) for slot in slots}
    messages = []
    for slot in slots:
        said, reply, _, _ = SLOTS[slot]
        messages += [message("user", rng.choice(said).format(v=values[slot])), message("assistant", upper_first(reply.format(v=values[slot])))]
        for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 4])):
            messages += filler(rng).messages
    # Only what was said can be asked, and sometimes what was never said.
    if rng.random() < 0.12:
        missing = rng.choice([slot for slot in ("name", "city", "colour", "pet") if slot not in values] or ["none"])
        if missing != "none":
            messages += [message("user", rng.choice(SLOTS[missing][2])), message("assistant", "You have not told me that.")]
            return Example(SKILL, messages, thought="I look for it in the conversation and do not find it.")
    order = rng.sample(slots, len(slots))
    for slot in order[: rng.choice([1, 1, 2])]:
        messages += [message("user", rng.choice(SLOTS[slot][2])), message("assistant", SLOTS[slot][3].format(v=values[slot]))]
        last = values[slot]
    return Example(SKILL, messages, thought=f"The user said {last}.")
