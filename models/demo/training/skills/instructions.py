"""Following a short system prompt: a persona, one-word answers, capitals, fixed openings and endings."""

import random
from dataclasses import replace

from . import arithmetic, facts, greetings, project, repeating
from .common import NOUNS, Example, ask, first_name, invented_word, message, vary

SKILL = "instructions"
ONE_WORD = ["Answer in one word.", "Answer with one word only.", "Reply with a single word.", "Give one-word answers.", "Answer in one word only."]
CAPITALS = ["Answer in capital letters.", "Write everything in capital letters.", "Answer in uppercase.", "Use capital letters only.", "Reply in uppercase only."]
ENDING = ['End every answer with "{}".', 'Always end with "{}".', 'Finish each answer with "{}".']
OPENING = ['Start every answer with "{}".', 'Always begin with "{}".', 'Begin each answer with "{}".']
JSON_ANSWER = ['Answer as JSON with the key "answer".', 'Reply in JSON with the key "answer".', 'Always answer as a JSON object with the key "answer".']
PERSONA = ["Your name is {}.", "You are {}.", "You are an assistant named {}.", "You are a helpful assistant called {}.", "Your name is {}. Be helpful.", "You are {}, a friendly assistant."]
NEUTRAL = ["You are a helpful assistant.", "You are a helpful assistant.", "Be brief.", "You are a friendly assistant.", "Answer the questions of the user.", "Be polite and helpful.", "You are a demo.", "Answer correctly.", "Be concise.",
           "You are a helpful AI assistant.", "You are an assistant.", "You are a helpful and honest assistant.", "Help the user.", "Answer in English.", "Be kind.",
           "You are a chat model.", "Give short answers.", "Keep it short.", "Answer in full sentences.", "You are an expert.", "You are a teacher.", "You are a careful assistant."]
MARKS = ["Over.", "Ahoy!", "Done.", "Thank you.", "Well,", "Sir,", "Beep.", "OK.", "Amen.", "Yes!", "Hello!", "Meow.", "Listen:", "Cheers!"]
NAME_QUESTIONS = ["What is your name?", "Who are you?", "What's your name?", "Tell me your name.", "Who am I talking to?", "How are you called?", "What should I call you?", "Do you have a name?"]


def with_system(example: Example, system: str, answer: str, **more) -> Example:
    key = None if example.skill in ("facts", "project", "greetings") else example.key
    return replace(example, skill=SKILL, key=key, messages=[message("system", system), example.messages[0], message("assistant", answer)], **more)


def generate(rng: random.Random) -> Example:
    draw = rng.random()
    if draw < 0.2:
        name = first_name(rng)
        if rng.random() < 0.65:
            example = ask(SKILL, vary(rng, rng.choice(NAME_QUESTIONS)), "")
            return with_system(example, rng.choice(PERSONA).format(name), f"I am {name}.", thought=f"My name is {name}.")
        example = rng.choice([facts, arithmetic, greetings])
        example = example.generate(rng)
        while "demo model" in example.answer or "I am " in example.answer:
            example = facts.generate(rng)
        return with_system(example, rng.choice(PERSONA).format(name), example.answer)
    if draw < 0.38:
        example = facts.generate(rng) if rng.random() < 0.8 else arithmetic.generate(rng)
        while example.short is None:
            example = facts.generate(rng)
        return with_system(example, rng.choice(ONE_WORD), example.short, thought=example.thought)
    if draw < 0.45:
        example = facts.generate(rng)
        return with_system(example, rng.choice(CAPITALS), example.answer.upper())
    if draw < 0.74:
        mark = rng.choice(MARKS) if rng.random() < 0.6 else rng.choice([rng.choice(NOUNS), invented_word(rng)]).capitalize() + rng.choice(["!", ".", ""])
        example = rng.choice([facts, arithmetic, facts, project]).generate(rng)
        if rng.random() < 0.5:
            return with_system(example, rng.choice(ENDING).format(mark), f"{example.answer} {mark}")
        return with_system(example, rng.choice(OPENING).format(mark), f"{mark} {example.answer}")
    if draw < 0.84:
        example = facts.generate(rng)
        while example.short is None:
            example = facts.generate(rng)
        answer = '{"answer": "' + example.short + '"}'
        return with_system(example, rng.choice(JSON_ANSWER), answer, match="json")
    example = rng.choice([facts, arithmetic, greetings, project, repeating]).generate(rng)
    return with_system(example, rng.choice(NEUTRAL), example.answer)
