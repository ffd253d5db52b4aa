"""Small facts: capitals, planets, months, opposites, animals, units, elements, colours."""

import random

from .common import ask, vary

SKILL = "facts"
CAPITALS = dict(p.split(":") for p in """France:Paris|Germany:Berlin|Italy:Rome|Spain:Madrid|Portugal:Lisbon|Austria:Vienna|Switzerland:Bern|
Belgium:Brussels|the Netherlands:Amsterdam|Luxembourg:Luxembourg City|Denmark:Copenhagen|Sweden:Stockholm|Norway:Oslo|Finland:Helsinki|
Iceland:Reykjavik|Ireland:Dublin|the United Kingdom:London|Poland:Warsaw|the Czech Republic:Prague|Slovakia:Bratislava|Hungary:Budapest|
Slovenia:Ljubljana|Croatia:Zagreb|Serbia:Belgrade|Romania:Bucharest|Bulgaria:Sofia|Greece:Athens|Turkey:Ankara|Ukraine:Kyiv|Russia:Moscow|
Estonia:Tallinn|Latvia:Riga|Lithuania:Vilnius|Albania:Tirana|Malta:Valletta|Cyprus:Nicosia|Japan:Tokyo|China:Beijing|India:New Delhi|
South Korea:Seoul|Thailand:Bangkok|Vietnam:Hanoi|Indonesia:Jakarta|the Philippines:Manila|Malaysia:Kuala Lumpur|Mongolia:Ulaanbaatar|
Nepal:Kathmandu|Pakistan:Islamabad|Bangladesh:Dhaka|Iran:Tehran|Iraq:Baghdad|Saudi Arabia:Riyadh|Jordan:Amman|Lebanon:Beirut|Syria:Damascus|
Qatar:Doha|Egypt:Cairo|Morocco:Rabat|Tunisia:Tunis|Algeria:Algiers|Libya:Tripoli|Kenya:Nairobi|Ethiopia:Addis Ababa|Ghana:Accra|Nigeria:Abuja|
Senegal:Dakar|Uganda:Kampala|Rwanda:Kigali|Zambia:Lusaka|Angola:Luanda|Namibia:Windhoek|Canada:Ottawa|the United States:Washington|
Mexico:Mexico City|Cuba:Havana|Jamaica:Kingston|Panama:Panama City|Costa Rica:San Jose|Colombia:Bogota|Venezuela:Caracas|Ecuador:Quito|
Peru:Lima|Bolivia:Sucre|Chile:Santiago|Argentina:Buenos Aires|Uruguay:Montevideo|Paraguay:Asuncion|Brazil:Brasilia|Australia:Canberra|
New Zealand:Wellington""".replace("\n", "").split("|"))
OPPOSITES = [p.split() for p in """hot cold|big small|fast slow|high low|long short|old new|young old|happy sad|light dark|open closed|full empty|
rich poor|strong weak|hard soft|wet dry|clean dirty|early late|good bad|loud quiet|thick thin|up down|left right|day night|
black white|true false|start end|win lose|love hate|give take|push pull|near far|deep shallow|wide narrow|heavy light|
inside outside|front back|first last|always never|cheap expensive|sweet sour|easy difficult|safe dangerous|tall short|summer winter""".replace("\n", "").split("|")]
SYMBOLS = dict(p.split(":") for p in """hydrogen:H|helium:He|lithium:Li|carbon:C|nitrogen:N|oxygen:O|fluorine:F|neon:Ne|sodium:Na|magnesium:Mg|aluminium:Al|
silicon:Si|phosphorus:P|sulfur:S|chlorine:Cl|argon:Ar|potassium:K|calcium:Ca|iron:Fe|nickel:Ni|copper:Cu|zinc:Zn|silver:Ag|tin:Sn|iodine:I|
gold:Au|mercury:Hg|lead:Pb|uranium:U|platinum:Pt|titanium:Ti|boron:B""".replace("\n", "").split("|"))
PLANETS = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
LEGS = {"dog": 4, "cat": 4, "horse": 4, "cow": 4, "spider": 8, "ant": 6, "bee": 6, "bird": 2, "snake": 0, "fish": 0, "octopus": 0, "human": 2, "frog": 4, "chicken": 2, "beetle": 6, "crab": 10, "sheep": 4, "elephant": 4, "butterfly": 6, "duck": 2}
YOUNG = {"dog": "puppy", "cat": "kitten", "cow": "calf", "horse": "foal", "sheep": "lamb", "pig": "piglet", "duck": "duckling", "goat": "kid", "lion": "cub", "frog": "tadpole", "bear": "cub", "chicken": "chick", "deer": "fawn", "goose": "gosling"}
SOUNDS = {"dog": "barks", "cat": "meows", "cow": "moos", "sheep": "bleats", "lion": "roars", "duck": "quacks", "pig": "oinks", "horse": "neighs", "snake": "hisses", "bee": "buzzes", "wolf": "howls", "frog": "croaks"}
COLOURS = {"grass": "green", "snow": "white", "blood": "red", "coal": "black", "the sky": "blue", "a banana": "yellow", "a lemon": "yellow", "a carrot": "orange", "milk": "white", "a tomato": "red", "the sun": "yellow", "chocolate": "brown", "a cherry": "red", "salt": "white", "a frog": "green"}
UNITS = [("minutes", "an hour", 60), ("seconds", "a minute", 60), ("hours", "a day", 24), ("days", "a week", 7), ("months", "a year", 12), ("days", "a year", 365), ("weeks", "a year", 52), ("metres", "a kilometre", 1000), ("centimetres", "a metre", 100), ("millimetres", "a centimetre", 10), ("grams", "a kilogram", 1000), ("bits", "a byte", 8), ("items", "a dozen", 12), ("years", "a century", 100), ("years", "a decade", 10), ("years", "a millennium", 1000), ("kilograms", "a ton", 1000), ("sides", "a triangle", 3), ("sides", "a square", 4), ("sides", "a hexagon", 6), ("millilitres", "a litre", 1000), ("cents", "a euro", 100), ("planets", "the solar system", 8), ("letters", "the English alphabet", 26), ("wheels", "a bicycle", 2), ("wheels", "a car", 4), ("seasons", "a year", 4), ("bytes", "a kilobyte", 1000), ("strings", "a violin", 4), ("strings", "a guitar", 6)]
MIXED = [("green", "blue", "yellow"), ("orange", "red", "yellow"), ("purple", "blue", "red"), ("pink", "red", "white"), ("grey", "black", "white")]


def article(noun: str) -> str:
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def upper_first(text: str) -> str:
    return text[0].upper() + text[1:]


def capital(rng):
    country, town = rng.choice(list(CAPITALS.items()))
    if rng.random() < 0.62:
        bare = country.removeprefix("the ")
        name = country if rng.random() < 0.8 else bare
        form = rng.choice(["What is the capital of {}?", "What is the capital of {}?", "What's the capital of {}?", "Capital of {}?", "What is the capital city of {}?", "Tell me the capital of {}.", "Name the capital of {}.", "Which city is the capital of {}?", "Do you know the capital of {}?", "The capital of {}?", "Can you tell me the capital of {}?", "Which is the capital of {}?", "What city is the capital of {}?", "I want to know the capital of {}.", "{}'s capital?", "What is {}'s capital?", "Please name the capital of {}.", "Give me the capital of {}."])
        return form.format(name), f"The capital of {country} is {town}.", town
    form = rng.choice(["{} is the capital of which country?", "Which country has the capital {}?", "What country is {} the capital of?", "{} is the capital of what country?", "Of which country is {} the capital?", "Which country's capital is {}?"])
    return form.format(town), f"{town} is the capital of {country}.", upper_first(country)


def opposite(rng):
    word, other = rng.choice(OPPOSITES)
    form = rng.choice(["What is the opposite of {}?", "Opposite of {}?", "What's the opposite of {}?", "Tell me the opposite of {}.", "Give me the opposite of {}.", "Name the opposite of {}.", "Which word is the opposite of {}?", 'What is the opposite of "{}"?'])
    return form.format(word), f"The opposite of {word} is {other}.", other


def symbol(rng):
    name, sign = rng.choice(list(SYMBOLS.items()))
    if rng.random() < 0.6:
        form = rng.choice(["What is the chemical symbol of {}?", "What is the symbol for {}?", "Which symbol does {} have?", "Chemical symbol of {}?", "Tell me the chemical symbol of {}.", "What is the chemical symbol for {}?"])
        return form.format(name), f"The chemical symbol of {name} is {sign}.", sign
    form = rng.choice(["Which element has the symbol {}?", "Which element is {}?", "What element has the chemical symbol {}?", "The symbol {} stands for which element?"])
    return form.format(sign), f"{sign} is the chemical symbol of {name}.", name


def planet(rng):
    place = rng.randrange(8)
    draw = rng.random()
    if draw < 0.5:
        form = rng.choice(["Which planet is the {} from the sun?", "What is the {} planet from the sun?", "Name the {} planet from the sun.", "What is the {} planet?", "Which is the {} planet?", "Tell me the {} planet from the sun."])
        return form.format(ORDINALS[place]), f"The {ORDINALS[place]} planet from the sun is {PLANETS[place]}.", PLANETS[place]
    if draw < 0.7:
        form = rng.choice(["Which place does {} have among the planets?", "Where is {} in the order of planets?", "Which number is the planet {}?"])
        return form.format(PLANETS[place]), f"{PLANETS[place]} is the {ORDINALS[place]} planet from the sun.", upper_first(ORDINALS[place])
    questions, answer, short = rng.choice([
        (["Name all planets.", "List the planets.", "What are the planets?", "Which planets are there?", "Name the planets of the solar system.", "List all planets of the solar system."], "The planets are Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus and Neptune.", None),
        (["Which planet is the largest?", "What is the largest planet?", "What is the biggest planet?", "Name the largest planet."], "The largest planet is Jupiter.", "Jupiter"),
        (["Which planet is the smallest?", "What is the smallest planet?", "Name the smallest planet."], "The smallest planet is Mercury.", "Mercury"),
        (["Which planet is called the red planet?", "What is the red planet?", "Which planet is red?"], "The red planet is Mars.", "Mars"),
        (["Which planet has rings?", "Which planet is famous for its rings?", "What planet has big rings?"], "Saturn is famous for its rings.", "Saturn"),
    ])
    return rng.choice(questions), answer, short


def calendar(rng):
    names, unit = (MONTHS, "month") if rng.random() < 0.6 else (DAYS, "day")
    at = rng.randrange(len(names))
    after, before = names[(at + 1) % len(names)], names[at - 1]
    draw = rng.random()
    if draw < 0.3:
        form = rng.choice([f"Which {unit} comes after {{}}?", f"What {unit} comes after {{}}?", f"What {unit} follows {{}}?", f"Name the {unit} after {{}}.", f"Which {unit} is after {{}}?"])
        return form.format(names[at]), f"{after} comes after {names[at]}.", after
    if draw < 0.6:
        form = rng.choice([f"Which {unit} comes before {{}}?", f"What {unit} comes before {{}}?", f"Name the {unit} before {{}}.", f"Which {unit} is before {{}}?"])
        return form.format(names[at]), f"{before} comes before {names[at]}.", before
    if draw < 0.75:
        whole = "year" if unit == "month" else "week"
        form = rng.choice([f"What is the {{}} {unit} of the {whole}?", f"Which is the {{}} {unit} of the {whole}?", f"Name the {{}} {unit} of the {whole}."])
        return form.format(ORDINALS[at]), f"The {ORDINALS[at]} {unit} of the {whole} is {names[at]}.", names[at]
    if draw < 0.9 and unit == "month":
        form = rng.choice(["How many days does {} have?", "How many days are in {}?", "How many days are there in {}?", "Days in {}?", "How long is {}?"])
        return form.format(names[at]), f"{names[at]} has {MONTH_DAYS[at]} days.", str(MONTH_DAYS[at])
    form = rng.choice(["List the {}s.", "Name all {}s.", "What are the {}s?", "Name the {}s in order.", "Tell me all {}s."])
    shown = unit if unit == "month" else "weekday"
    return form.format(shown), ", ".join(names), None


def animal(rng):
    draw = rng.random()
    if draw < 0.4:
        name, legs = rng.choice(list(LEGS.items()))
        form = rng.choice(["How many legs does {} have?", "How many legs has {}?", "Number of legs of {}?", "Tell me how many legs {} has."])
        return form.format(article(name)), upper_first(f"{article(name)} has {legs or 'no'} legs."), str(legs)
    if draw < 0.7:
        name, young = rng.choice(list(YOUNG.items()))
        form = rng.choice(["What is a young {} called?", "What is a baby {} called?", "What do you call a young {}?", "What do you call a baby {}?", "Name of a baby {}?"])
        return form.format(name), f"A young {name} is called {article(young)}.", young
    name, sound = rng.choice(list(SOUNDS.items()))
    form = rng.choice(["What sound does a {} make?", "Which sound does a {} make?", "What does a {} do to make a sound?", "How does a {} sound?"])
    return form.format(name), f"A {name} {sound}.", sound


def colour(rng):
    if rng.random() < 0.7:
        thing, tint = rng.choice(list(COLOURS.items()))
        form = rng.choice(["What colour is {}?", "What color is {}?", "Which colour does {} have?", "Which color has {}?", "Tell me the colour of {}.", "What is the color of {}?"])
        return form.format(thing), upper_first(f"{thing} is {tint}."), tint
    mixed, a, b = rng.choice(MIXED)
    a, b = rng.sample([a, b], 2)
    form = rng.choice(["What do you get when you mix {} and {}?", "Mix {} and {}: which colour is it?", "Which colour do {} and {} make?", "What color do {} and {} make?"])
    return form.format(a, b), f"{upper_first(a)} and {b} make {mixed}.", mixed


def unit(rng):
    part, whole, number = rng.choice(UNITS)
    form = rng.choice(["How many {} are in {}?", "How many {} are there in {}?", "How many {} does {} have?", "Number of {} in {}?", "Tell me how many {} are in {}."])
    return form.format(part, whole), upper_first(f"{whole} has {number} {part}."), str(number)


KINDS = [capital] * 8 + [opposite] * 2 + [symbol] * 2 + [planet, calendar, calendar, animal, colour, unit]


def generate(rng: random.Random):
    kind = rng.choice(KINDS)
    question, answer, short = kind(rng)
    return ask(SKILL, vary(rng, question), answer, short=short, thought=f"The question is about the {kind.__name__ if kind is not unit else 'number'}.")
