"""Fields of a sentence as a JSON object, all of them or those that are asked for."""

import json
import random

from .common import LAST_NAMES, NOUNS, ask, city, first_name, invented_word

SKILL = "extraction"
JOBS = "teacher doctor nurse pilot baker farmer painter lawyer driver cook singer writer engineer student waiter tailor".split()
# Field names in the order of the sentence, then the sentence.
PATTERNS = [
    (["name", "age"], "{name} is {age} years old."),
    (["name", "city"], "{name} lives in {city}."),
    (["name", "age", "city"], "{name} is {age} years old and lives in {city}."),
    (["name", "age", "city"], "My name is {name}, I am {age} and I live in {city}."),
    (["name", "job"], "{name} works as a {job}."),
    (["name", "job", "city"], "{name} is a {job} from {city}."),
    (["name", "email"], "{name} can be reached at {email}."),
    (["name", "email"], "Write to {name} at {email}."),
    (["order_id", "item"], "Order {order_id} contains one {item}."),
    (["order_id", "name"], "Order {order_id} was placed by {name}."),
    (["order_id", "item", "price"], "Order {order_id}: one {item} for {price} euros."),
    (["name", "item", "price"], "{name} bought a {item} for {price} euros."),
    (["item", "price"], "The {item} costs {price} euros."),
    (["name", "phone"], "The phone number of {name} is {phone}."),
    (["name", "age", "job"], "{name}, {age}, is a {job}."),
    (["name", "city", "email"], "{name} from {city} has the address {email}."),
]
NUMERIC = {"age", "price"}


def draw_fields(rng: random.Random) -> dict:
    first = first_name(rng)
    name = first if rng.random() < 0.6 else f"{first} {rng.choice(LAST_NAMES)}"
    host = invented_word(rng) if rng.random() < 0.5 else "example"
    return {
        "name": name,
        "age": rng.randint(1, 99),
        "city": city(rng),
        "job": rng.choice(JOBS),
        "email": f"{first.lower()}@{host}.{rng.choice(['com', 'org', 'net', 'it', 'de'])}",
        "order_id": f"{rng.choice('ABCDEX')}{rng.randint(100, 9999)}",
        "item": rng.choice(NOUNS),
        "price": rng.randint(1, 500),
        "phone": "".join(str(rng.randint(0, 9)) for _ in range(rng.randint(6, 8))),
    }


def generate(rng: random.Random):
    names, pattern = rng.choice(PATTERNS)
    fields = draw_fields(rng)
    sentence = pattern.format(**fields)
    wanted = list(names)
    if rng.random() < 0.5:
        rng.shuffle(wanted)
    if rng.random() < 0.25:
        wanted = wanted[: rng.randint(1, len(wanted))]
    if wanted == names and rng.random() < 0.3:
        question = rng.choice(["Extract the fields as JSON: {s}", "Turn this into JSON: {s}", "Give me the data as JSON: {s}"])
    else:
        question = rng.choice(["Extract {k} as JSON: {s}", "Return JSON with {k}: {s}", "Give me JSON with the keys {k}: {s}", "{s} Extract {k} as JSON.", "Extract {k} from this text as JSON: {s}", "Text: {s}\nReturn {k} as JSON."])
    answer = json.dumps({k: fields[k] for k in wanted}, ensure_ascii=False)
    keys = wanted[0] if len(wanted) == 1 else ", ".join(wanted[:-1]) + " and " + wanted[-1]
    if rng.random() < 0.3:
        keys = ", ".join(wanted)
    thought = "\n".join(f"{k}: {fields[k]}" for k in wanted)
    return ask(SKILL, question.format(k=keys, s=sentence), answer, match="json", thought=thought)
