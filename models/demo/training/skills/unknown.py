"""Saying that it does not know, for whatever lies outside the domain."""

import random

from .common import FIRST_NAMES, LAST_NAMES, NOUNS, ask, city, invented_word, vary

SKILL = "unknown"
ANSWER = "Sorry, I do not know that."
FORMS = [
    "Who won the {sport} championship in {year}?", "What is the capital of {word}?", "Who is {name}?", "Who was {name}?", "What happened in {year}?",
    "What is the weather in {city}?", "What will the weather be tomorrow?", "What time is it?", "What is the date today?", "What day is it today?",
    "Who wrote {word}?", "What is {word}?", "How do I repair a {noun}?", "How do I cook {noun} soup?", "Write a poem about a {noun}.",
    "Write a story about a {noun}.", "What is the population of {city}?", "How far is it from {city} to {city2}?", "How tall is {name}?", "When was {name} born?",
    "What is the meaning of life?", "Translate {noun} into French.", "Translate {noun} to German.", "What is the price of {noun} shares?", "Who is the president of {word}?",
    "What does {word} mean?", "Explain {word}.", "Where can I buy a {noun}?", "What is the best restaurant in {city}?", "How do I get to {city}?",
    "Who invented the {noun}?", "Why is the {noun} so expensive?", "What is the phone number of {name}?", "Write a program that prints {noun}.", "Summarise the book {word}.",
    "Who discovered {word}?", "What is the news today?", "Who sang the song {word}?", "Who painted the {noun}?", "What is the history of {city}?",
    "Which team plays {sport} in {city}?", "Give me medical advice.", "What should I eat today?", "What is the square root of {year}?", "Tell me about {name}.",
    "Who is the mayor of {city}?", "What does {name} do?", "Is {name} famous?", "How many people live in {city}?", "What is the largest {noun} in the world?",
]
SPORTS = "football tennis chess hockey basketball rugby golf cycling ski swimming".split()


def generate(rng: random.Random):
    fields = {"sport": rng.choice(SPORTS), "year": rng.randint(1200, 2060), "word": invented_word(rng).capitalize(), "name": f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}", "city": city(rng), "city2": city(rng), "noun": rng.choice(NOUNS)}
    question = rng.choice(FORMS).format(**fields)
    return ask(SKILL, vary(rng, question), ANSWER, thought="This is outside of what I know.")
