"""Thinking before the answer, because the request switches it on or because the user asks for it."""

import random
from dataclasses import replace

from . import arithmetic, documents, extraction, facts, greetings, lists, project, rewording
from .common import Example, message

SKILL = "thinking"
SOURCES = [arithmetic] * 5 + [lists] * 4 + [facts] * 3 + [greetings, project, extraction, documents, rewording]
ASKED = ["{} Think step by step.", "Think first: {}", "Think step by step: {}", "{} Think first.", "{} Please think before you answer.", "Think before you answer. {}", "Think: {}"]


def generate(rng: random.Random) -> Example:
    example = rng.choice(SOURCES).generate(rng)
    if rng.random() < 0.65:
        return replace(example, skill=SKILL, enable_thinking=True)
    key = example.key if example.skill in ("arithmetic", "comparing") else None
    asked = message("user", rng.choice(ASKED).format(example.prompt))
    answer = f"<think>\n{example.thought}\n</think>\n\n{example.answer}"
    return replace(example, skill=SKILL, key=key, messages=[asked, message("assistant", answer)])
