"""Rewording: upper and lower case, reversed word lists, plural, past tense, polite requests, spelling."""

import random

from .common import NOUNS, ask, invented_word

SKILL = "rewording"
PLURALS = {"knife": "knives", "leaf": "leaves", "wolf": "wolves", "child": "children", "man": "men", "woman": "women", "foot": "feet", "tooth": "teeth", "mouse": "mice", "goose": "geese", "box": "boxes", "bus": "buses", "glass": "glasses", "city": "cities", "baby": "babies", "party": "parties", "story": "stories", "potato": "potatoes", "tomato": "tomatoes", "hero": "heroes", "fish": "fish", "sheep": "sheep", "person": "people", "life": "lives", "wife": "wives", "match": "matches", "brush": "brushes", "country": "countries", "lady": "ladies", "berry": "berries", "bench": "benches", "church": "churches"}
REGULAR = """apple river mountain window garden bottle candle forest table chair lamp cloud stone bridge ocean island rocket planet guitar violin basket
button carpet castle circle engine flower hammer jacket kettle ladder lemon letter market mirror monkey needle paper pillow pocket rabbit ribbon sailor
shadow signal spider spoon temple ticket tiger tunnel turtle valley winter wizard zebra bird horse house door road train plane ship book page word song drum
flag king queen knight tree root seed dog cat car friend doctor teacher""".split()
PAST = dict(p.split(":") for p in """go:went|see:saw|eat:ate|drink:drank|run:ran|write:wrote|read:read|give:gave|take:took|come:came|make:made|find:found|think:thought|
buy:bought|bring:brought|sing:sang|swim:swam|speak:spoke|break:broke|drive:drove|fly:flew|grow:grew|know:knew|sleep:slept|keep:kept|leave:left|lose:lost|meet:met|
pay:paid|say:said|sell:sold|send:sent|sit:sat|stand:stood|teach:taught|tell:told|understand:understood|win:won|begin:began|build:built|catch:caught|choose:chose|
do:did|draw:drew|fall:fell|feel:felt|fight:fought|forget:forgot|get:got|have:had|hear:heard|hold:held|walk:walked|talk:talked|play:played|work:worked|open:opened|
close:closed|help:helped|look:looked|ask:asked|answer:answered|call:called|cook:cooked|dance:danced|jump:jumped|laugh:laughed|learn:learned|like:liked|listen:listened|
live:lived|love:loved|move:moved|paint:painted|push:pushed|rain:rained|smile:smiled|start:started|stop:stopped|study:studied|travel:travelled|try:tried|use:used|
wait:waited|wash:washed|watch:watched|want:wanted""".replace("\n", "").split("|"))
ACTIONS = ["open the door", "close the window", "give me the book", "send me the letter", "help me", "wait here", "come here", "call me tomorrow", "bring me a glass of water", "turn off the light", "turn on the lamp", "sit down", "listen to me", "read this page", "show me the way", "write your name", "clean the table", "pay the bill", "stop the car", "speak slowly", "send the report", "check the list", "take the train", "wash the car", "feed the cat", "buy some bread", "lock the door", "answer the phone", "park the car", "move the chair"]


def words(rng: random.Random, low: int, high: int) -> list[str]:
    return [rng.choice(NOUNS) for _ in range(rng.randint(low, high))]


def upper(rng):
    text = " ".join(words(rng, 1, 4))
    form = rng.choice(["Write in capital letters: {}", "Write in uppercase: {}", "Uppercase: {}", "Convert to uppercase: {}", "Put this in capitals: {}"])
    return form.format(text), text.upper()


def lower(rng):
    text = " ".join(words(rng, 1, 4))
    form = rng.choice(["Write in lowercase: {}", "Lowercase: {}", "Convert to lowercase: {}", "Write in small letters: {}"])
    return form.format(text.upper()), text


def backwards(rng):
    items = rng.sample(NOUNS, rng.randint(2, 6))
    form, glue = rng.choice([("Reverse the order of these words: {}", " "), ("Reverse this list: {}", ", "), ("Write these words in reverse order: {}", " "), ("Reverse the words: {}", " "), ("Write this list backwards: {}", ", ")])
    return form.format(glue.join(items)), glue.join(reversed(items))


def plural(rng):
    if rng.random() < 0.5:
        word, many = rng.choice(list(PLURALS.items()))
    else:
        word = rng.choice(REGULAR)
        many = word + "s"
    form = rng.choice(["What is the plural of {}?", "Plural of {}?", "Write the plural of {}.", "Give me the plural of {}.", "What's the plural of {}?", 'What is the plural of "{}"?'])
    return form.format(word), f"The plural of {word} is {many}."


def past(rng):
    word, before = rng.choice(list(PAST.items()))
    form = rng.choice(["What is the past tense of {}?", "Past tense of {}?", "Write the past tense of {}.", "Give me the past tense of {}.", "What's the past tense of {}?", 'What is the past tense of "{}"?'])
    return form.format(word), f"The past tense of {word} is {before}."


def polite(rng):
    action = rng.choice(ACTIONS)
    form = rng.choice(["Make this polite: {}", "Say this politely: {}", "Rewrite politely: {}", "Reword this politely: {}", "Make it polite: {}", "Turn this into a polite request: {}"])
    said = rng.choice([action, action[0].upper() + action[1:]])
    return form.format(said + rng.choice([".", "!", ""])), f"Could you please {action}?"


def spell(rng):
    word = rng.choice(NOUNS) if rng.random() < 0.7 else invented_word(rng)
    form = rng.choice(["Spell the word {}.", "Spell {}.", "How do you spell {}?", "Spell it: {}"])
    return form.format(word), "-".join(word)


KINDS = [upper, lower, backwards, backwards, plural, past, polite, spell]


def generate(rng: random.Random):
    question, answer = rng.choice(KINDS)(rng)
    return ask(SKILL, question, answer, thought="I change the text as asked.")
