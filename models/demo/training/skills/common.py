"""What every skill shares: the example record, name lists and ways to vary a prompt.

Used by all skill modules. Nothing here knows of tokens or of the chat template.
"""

import random
import re
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Example:
    """One dialogue whose last message is the answer to learn.

    key: what must not be shared between training and held-out data; the
    normalised prompt where a skill names nothing better.
    thought: the text between <think> and </think> when thinking is asked for.
    short: the answer in one word, for system prompts that ask for it.
    """

    skill: str
    messages: list[dict]
    thought: str = ""
    short: str | None = None
    key: str | None = None
    match: str = "exact"
    documents: list[dict] = field(default_factory=list)
    tools: list[dict] = field(default_factory=list)
    enable_thinking: bool | None = None

    @property
    def prompt(self) -> str:
        return self.messages[-2]["content"]

    @property
    def answer(self) -> str:
        return self.messages[-1]["content"]

    @property
    def is_plain(self) -> bool:
        """True for a single question and answer that may stand anywhere in a conversation."""
        return len(self.messages) == 2 and not self.documents and not self.tools

    def with_answer(self, answer: str) -> "Example":
        return replace(self, messages=[*self.messages[:-1], message("assistant", answer)])


def message(role: str, content: str) -> dict:
    return {"role": role, "content": content}


def ask(skill: str, question: str, answer: str, **more) -> Example:
    return Example(skill, [message("user", question), message("assistant", answer)], **more)


def normalise(text: str) -> str:
    """Lower case, words only: two prompts that differ less than this count as the same."""
    folded = re.sub(r"[^\w]+", " ", text.lower()).strip()
    return folded or text


POLITE_STARTS = ["Please tell me: ", "Hey, ", "Hi, ", "Tell me, ", "Quick question: ", "One question: ", "Question: ", "Please answer: "]


def vary(rng: random.Random, question: str) -> str:
    """The same question as people type it: other casing, no question mark, a polite start."""
    draw = rng.random()
    if draw < 0.45:
        return question
    if draw < 0.60:
        start = rng.choice(POLITE_STARTS)
        return start + question[0].lower() + question[1:] if rng.random() < 0.5 else start + question
    if draw < 0.72:
        return question.rstrip("?.!")
    if draw < 0.82:
        return question.lower()
    if draw < 0.92:
        return question.lower().rstrip("?.!")
    if draw < 0.95:
        return question.rstrip("?.!").upper()
    return question + rng.choice([" Please.", "?", " Thanks!", " Thank you."])


def join_words(words: list[str]) -> str:
    """["a", "b", "c"] becomes "a, b and c"."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


FIRST_NAMES = """Anna Ben Clara David Emma Felix Greta Hugo Ida Jonas Karin Leo Maria Nils Olga Paul Quinn Rosa Sam Tina
Ugo Vera Walter Xenia Yara Zoe Alice Bruno Carla Diego Elena Frank Gina Henry Irene Jack Kira Lukas Mia Noah Oscar Petra
Rita Simon Theo Ursula Victor Wendy Adam Bella Chloe Daniel Eva Finn Grace Hannah Isaac Julia Kevin Laura Martin Nora
Oliver Paula Robert Sofia Thomas Viola William Amir Bilal Chen Dmitri Esra Fatima Goran Hiroshi Indira Jamal Kenji Leila
Mei Nadia Omar Priya Ravi Sara Tariq Yuki""".split()
LAST_NAMES = """Smith Miller Rossi Weber Novak Silva Tanaka Kumar Lopez Moreau Jensen Bauer Costa Evans Fischer Garcia
Hansen Ivanov Keller Larsen Mason Nguyen Olsen Parker Reed Schmidt Turner Wagner Young Zimmer Brown Clark Davis""".split()
CITIES = """Paris London Berlin Rome Madrid Vienna Oslo Lisbon Prague Dublin Athens Helsinki Warsaw Budapest Tokyo Delhi
Cairo Lima Boston Chicago Toronto Sydney Milan Munich Hamburg Zurich Geneva Bolzano Merano Venice Naples Turin Lyon Porto
Seville Krakow Kyoto Osaka Seoul Nairobi Quito Bogota Havana Denver Seattle Austin Dallas Miami Perth Graz Linz Basel
Bergen Malmo Ghent Bruges Leeds Bristol Glasgow Cardiff""".split()
NOUNS = """apple river mountain window garden bottle candle forest silver orange pencil table chair lamp cloud stone
bridge ocean island rocket planet guitar violin basket button carpet castle circle coffee cotton dragon engine flower
hammer jacket kettle ladder lemon letter market mirror monkey needle paper pepper pillow pocket potato rabbit ribbon
saddle sailor shadow signal spider spoon sugar summer temple ticket tiger tomato tunnel turtle valley winter wizard
yellow zebra bread butter cheese honey milk water wine salt fish bird horse sheep house door road train plane ship
book page word song drum flag gold iron king queen knight leaf tree root seed wind rain snow fire star moon sun""".split()

SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


def invented_word(rng: random.Random) -> str:
    """A word that no list holds, so that copying it cannot be learned by heart."""
    word = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 4)))
    return word + rng.choice(["", "", "n", "r", "s", "x", "l"])


def first_name(rng: random.Random) -> str:
    return rng.choice(FIRST_NAMES) if rng.random() < 0.8 else invented_word(rng).capitalize()


def city(rng: random.Random) -> str:
    return rng.choice(CITIES) if rng.random() < 0.85 else invented_word(rng).capitalize()
