"""Draws training conversations without end, and the held-out prompts once.

    python generate_data.py heldout ../evaluation/heldout.jsonl   # write the held-out prompts
    python generate_data.py check                                 # prove that none is trained on
    python generate_data.py show                                  # print some conversations

An example is held out when a hash of its key falls into a fixed class, so
training and evaluation can never share one, whatever the seeds.
"""

import json
import random
import sys
import zlib
from dataclasses import dataclass

from skills import arithmetic, documents, extraction, facts, greetings, instructions, lists, memory, project, repeating, rewording, thinking, unknown
from skills.common import Example, normalise

HELD_OUT_OF = 24
TRAINING_SEED, HELD_OUT_SEED = 1, 2
# How often each skill is drawn.
MIX = [
    (greetings, 5), (project, 3), (facts, 6), (arithmetic, 20), (lists, 28), (extraction, 7), (repeating, 5),
    (rewording, 13), (thinking, 19), (instructions, 12), (memory, 6), (documents, 10), (unknown, 3),
]
FILLERS = [greetings, project, facts, arithmetic, lists, repeating, rewording]


# Prompts that people try first must be sure to be learned.
ALWAYS_TRAIN = {"what is the capital of france", "what is ortler", "who are you", "hello", "hi", "hey", "thanks", "thank you"}


def asked_text(example: Example) -> str:
    return " ".join([m["content"] for m in example.messages[:-1]] + [d["text"] for d in example.documents])


def is_held_out(example: Example) -> bool:
    key = example.key or normalise(asked_text(example))
    return key not in ALWAYS_TRAIN and zlib.crc32(key.encode()) % HELD_OUT_OF == 0


def draw(rng: random.Random, module, held_out: bool) -> Example:
    while True:
        if module is memory:
            example = memory.generate(rng, lambda r: draw(r, r.choice(FILLERS), False))
        else:
            example = module.generate(rng)
        if is_held_out(example) == held_out:
            return example


@dataclass(frozen=True)
class Conversation:
    messages: list[dict]
    enable_thinking: bool | None = None
    thought: str = ""
    documents: tuple = ()
    tools: tuple = ()


TOOL_NAMES = ["get_weather", "search", "send_mail", "get_time", "convert", "lookup", "book_flight"]


def draw_tools(rng: random.Random) -> tuple:
    """Tools that are shown but never called: the model answers as without them."""
    names = rng.sample(TOOL_NAMES, rng.randint(1, 2))
    return tuple({"type": "function", "function": {"name": n, "description": n.replace("_", " "), "parameters": {"type": "object", "properties": {}}}} for n in names)


def draw_conversation(rng: random.Random) -> Conversation:
    """One example with as many plain turns before it as the draw says, now and then very many."""
    modules, weights = zip(*MIX)
    pick = lambda: draw(rng, rng.choices(modules, weights)[0], False)
    example = pick()
    depth = rng.choices([0, 1, 3, 8, 24], [61, 18, 13, 6, 2])[0]
    earlier: list[dict] = []
    system = [m for m in example.messages[:1] if m["role"] == "system"]
    for _ in range(rng.randint(0, depth) if depth else 0):
        other = pick()
        if other.is_plain and not system and not other.enable_thinking:
            earlier += other.messages
        elif system and other.is_plain and system[0]["content"] in instructions.NEUTRAL and not other.enable_thinking:
            earlier += other.messages
    messages = system + earlier + example.messages[len(system) :]
    switch = example.enable_thinking
    if switch is None and rng.random() < 0.05 and "<think>" not in example.answer:
        switch = False
    tools = draw_tools(rng) if rng.random() < 0.015 else ()
    return Conversation(messages, switch, example.thought, tuple(example.documents), tools)


def held_out_examples(count_per_skill: int = 65) -> list[Example]:
    rng = random.Random(HELD_OUT_SEED)
    chosen, seen = [], set()
    for module, _ in MIX:
        wanted = count_per_skill * (2 if module in (facts, arithmetic, lists) else 1)
        tries = 0
        while wanted and tries < 200_000:
            tries += 1
            example = draw(rng, module, True)
            key = normalise(asked_text(example))
            if key not in seen:
                seen.add(key)
                chosen.append(example)
                wanted -= 1
    return chosen


def to_record(example: Example) -> dict:
    expected = example.answer.split("</think>")[-1].strip()
    record = {"skill": example.skill, "messages": example.messages[:-1], "expected": expected, "match": example.match}
    if example.documents:
        record["documents"] = example.documents
    if example.enable_thinking is not None:
        record["chat_template_kwargs"] = {"enable_thinking": example.enable_thinking}
    return record


def check(count: int = 200_000) -> None:
    held_out = {asked_text(e).lower() for e in held_out_examples()}
    rng = random.Random(TRAINING_SEED)
    modules, weights = zip(*MIX)
    for _ in range(count):
        example = draw(rng, rng.choices(modules, weights)[0], False)
        if asked_text(example).lower() in held_out:
            raise SystemExit(f"held-out prompt in the training data: {example.messages}")
    print(f"{len(held_out)} held-out prompts, none among {count} training examples")


if __name__ == "__main__":
    command = sys.argv[1] if len(sys.argv) > 1 else "show"
    if command == "heldout":
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            for example in held_out_examples():
                file.write(json.dumps(to_record(example), ensure_ascii=False) + "\n")
    elif command == "check":
        check()
    else:
        rng = random.Random(0)
        for _ in range(12):
            print(json.dumps(draw_conversation(rng).__dict__, ensure_ascii=False, indent=1))
