"""Answering from a given text: `documents` of the request, or a context in the message."""

import random

from .common import NOUNS, Example, ask, city, first_name, invented_word
from .extraction import JOBS

SKILL = "documents"
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
TINTS = "red blue green yellow black white orange purple brown pink".split()
# Each entry: title, fact sentence, questions, answer. {n} name, {o} other fields.
FACTS = [
    ("{n}", "{n} lives in {c}.", ["Where does {n} live?", "In which city does {n} live?"], "{n} lives in {c}."),
    ("{n}", "{n} is {k} years old.", ["How old is {n}?", "What is the age of {n}?"], "{n} is {k} years old."),
    ("{n}", "{n} works as a {j}.", ["What is the job of {n}?", "What does {n} work as?", "What is {n}'s job?"], "{n} works as a {j}."),
    ("{n}", "{n} has a {t} {i}.", ["What does {n} have?", "What does {n} own?"], "{n} has a {t} {i}."),
    ("{n}", "{n} likes {i}.", ["What does {n} like?"], "{n} likes {i}."),
    ("Prices", "The {i} costs {k} euros.", ["How much does the {i} cost?", "What is the price of the {i}?", "How much is the {i}?"], "The {i} costs {k} euros."),
    ("Meeting", "The meeting is on {d} at {h} o'clock.", ["When is the meeting?", "On which day is the meeting?", "What time is the meeting?"], "The meeting is on {d} at {h} o'clock."),
    ("Project {w}", "Project {w} is led by {n}.", ["Who leads project {w}?", "Who is the leader of project {w}?"], "Project {w} is led by {n}."),
    ("{w}", "The capital of {w} is {x}.", ["What is the capital of {w}?", "Which city is the capital of {w}?"], "The capital of {w} is {x}."),
    ("Store", "The {i} is in room {k}.", ["Where is the {i}?", "In which room is the {i}?"], "The {i} is in room {k}."),
    ("Shop", "The shop in {c} opens at {h} o'clock.", ["When does the shop in {c} open?", "At what time does the shop in {c} open?"], "The shop in {c} opens at {h} o'clock."),
]
MISSING = "The text does not say that."


def draw_fact(rng: random.Random):
    title, fact, questions, answer = rng.choice(FACTS)
    fields = {"n": first_name(rng), "c": city(rng), "k": rng.randint(1, 99), "j": rng.choice(JOBS), "t": rng.choice(TINTS), "i": rng.choice(NOUNS), "d": rng.choice(DAYS), "h": rng.randint(1, 12), "w": invented_word(rng).capitalize(), "x": invented_word(rng).capitalize()}
    return title.format(**fields), fact.format(**fields), rng.choice(questions).format(**fields), answer.format(**fields)


def generate(rng: random.Random) -> Example:
    facts, subjects = [], set()
    while len(facts) < rng.choice([1, 2, 2, 3, 4]):
        fact = draw_fact(rng)
        if fact[2] not in subjects and fact[0] not in subjects:
            facts.append(fact)
            subjects |= {fact[2], fact[0]}
    title, sentence, question, answer = rng.choice(facts)
    if rng.random() < 0.12:
        _, _, question, _ = draw_fact(rng)
        answer = next((a for _, _, q, a in facts if q == question), MISSING)
        if answer == MISSING and any(question.split()[-1] in f[1] for f in facts):
            question, answer = facts[0][2], facts[0][3]
    thought = f"I look for the answer in the text: {answer}"
    if rng.random() < 0.5:
        documents = [{"title": f[0], "text": f[1]} for f in facts]
        return ask(SKILL, question, answer, thought=thought, documents=documents)
    context = " ".join(f[1] for f in facts)
    form = rng.choice(["Context: {c}\nQuestion: {q}", "{c} {q}", "Text: {c}\n{q}", "{c}\n{q}", "Use this text: {c}\n\n{q}", "Answer from the text.\nText: {c}\nQuestion: {q}"])
    return ask(SKILL, form.format(c=context, q=question), answer, thought=thought)
