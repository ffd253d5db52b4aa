"""Makes tokenizer-stages.json: what Python `tokenizers` encodes with the stages of the families that people run.

Usage (from packages/engine, with `tokenizers` installed): python test/golden/make_stage_goldens.py
Two small vocabularies, trained here on the documents of this repository without any split between words, so that every
difference in the splits shows in the ids. Around them the stages that the published tokenizer.json of each family has. The
texts are those of tokenizer-texts.json; of the ids of each text the golden has a hash.
"""

import base64
import hashlib
import json
import platform
from pathlib import Path

import tokenizers
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
TEXTS = json.loads((HERE / "tokenizer-texts.json").read_text())["texts"]
CORPUS = [line for path in sorted((ROOT / "docs" / "adr").glob("00[0-2]*.md")) for line in path.read_text().splitlines()] + TEXTS

CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES
QWEN2 = LLAMA3.replace("{1,3}", "")
CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"


def cased(suffix, numbers):
    start = r"[^\r\n\p{L}\p{N}]?"
    return f"{start}{UPPER}*{LOWER}+{suffix}|{start}{UPPER}+{LOWER}*{suffix}|{numbers}| ?[^\\s\\p{{L}}\\p{{N}}]+[\\r\\n/]*|{SPACES}"


def split(regex, behavior="Isolated", invert=False, text=None):
    pattern = {"Regex": regex} if text is None else {"String": text}
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def sequence(field, *stages):
    return {"type": "Sequence", field: list(stages)}


def byte_level(**more):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False, **more}


BYTES = byte_level()
GPT2_BYTES = byte_level(use_regex=True)
SINGLE_DIGITS = {"type": "Digits", "individual_digits": True}
NFC = {"type": "NFC"}
BYTE_DECODER = byte_level(add_prefix_space=True, use_regex=True)
TO_MARKS = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
TO_SPACES = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
MARKS_DECODER = sequence("decoders", TO_SPACES, {"type": "ByteFallback"}, {"type": "Fuse"})
PREFIXED_DECODER = sequence("decoders", TO_SPACES, {"type": "ByteFallback"}, {"type": "Fuse"},
                            {"type": "Strip", "content": " ", "start": 1, "stop": 0})


def added(id, content, **more):
    return {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **more}


def around(before, after=()):
    tokens = {content: {"id": content, "ids": [id], "tokens": [content]} for id, content in [*before, *after]}
    piece = lambda content: {"SpecialToken": {"id": content, "type_id": 0}}
    single = [piece(content) for _, content in before] + [{"Sequence": {"id": "A", "type_id": 0}}] + [piece(content) for _, content in after]
    return {"type": "TemplateProcessing", "single": single, "pair": single + [{"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": tokens}


def bytes_variant(*stages, normalizer=None, **model):
    return {"base": "bytes", "normalizer": normalizer, "pre_tokenizer": stages[0] if len(stages) == 1 else sequence("pretokenizers", *stages),
            "post_processor": None, "decoder": BYTE_DECODER, "model": model, "added_tokens": [added(0, "<|endoftext|>"), added(1, "<|im_end|>")]}


def marks_variant(normalizer, pre_tokenizer, decoder=MARKS_DECODER, **more):
    return {"base": "marks", "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": around([(1, "<s>")]), "decoder": decoder,
            "model": {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True},
            "added_tokens": [added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")], **more}


PREPEND = {"type": "Prepend", "prepend": "▁"}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
VARIANTS = {
    "gpt2, exaone4": bytes_variant(GPT2_BYTES),
    "llama3": {**bytes_variant(split(LLAMA3), BYTES, ignore_merges=True),
               "post_processor": sequence("processors", byte_level(use_regex=True), around([(0, "<|endoftext|>")]))},
    "qwen2, qwen3": bytes_variant(split(QWEN2), BYTES, normalizer=NFC),
    "qwen3.5": bytes_variant(split(QWEN2.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")), BYTES, normalizer=NFC),
    "olmo2, olmo3, phi4, arcee (cl100k with possessive quantifiers)": bytes_variant(split(CL100K), BYTES),
    "glm4": bytes_variant(split(LLAMA3.replace("[^\\s\\p{L}\\p{N}]+[\\r\\n]*", "[^\\s\\p{L}\\p{N}]+[\\r\\n]*")), BYTES, ignore_merges=True),
    "gpt-4o, llama4": bytes_variant(split(cased(CONTRACTIONS + "?", r"\p{N}{1,3}")), BYTES),
    "tekken (mistral nemo, small, ministral)": bytes_variant(split(cased("", r"\p{N}")), BYTES, ignore_merges=True),
    "starcoder2, smollm, granite": bytes_variant(SINGLE_DIGITS, GPT2_BYTES),
    "cohere2": bytes_variant(SINGLE_DIGITS, GPT2_BYTES, normalizer=NFC),
    "seed_oss": bytes_variant(split(CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|" + SPACES), BYTES),
    "hunyuan_v1_dense, deepseek v3": bytes_variant(
        split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"),
        split(r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|" + SPACES), BYTES),
    "deepseek llm": bytes_variant(split(r"[\r\n]"), split(r"\s?[A-Za-zµÀ-ÖØ-öø-ƺ]+"), split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"), split(r"\s+$"),
                                  split("[一-龥ࠀ-一가-퟿]+"), SINGLE_DIGITS, BYTES),
    "falcon": bytes_variant({"type": "Punctuation", "behavior": "Contiguous"}, GPT2_BYTES, {"type": "Digits", "individual_digits": False},
                            split("[0-9][0-9][0-9]")),
    "kimi (intersections)": bytes_variant(split(r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{L}&&[^\p{Han}]]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES), BYTES),
    "prefix space": bytes_variant(byte_level(add_prefix_space=True, use_regex=True)),
    "words and symbols": bytes_variant({"type": "Whitespace"}, BYTES),
    "words": bytes_variant({"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}, BYTES),
    "removed": bytes_variant(split(r"[aeiou]|\s", behavior="Removed"), BYTES),
    "kept only": bytes_variant(split(r"\w+", behavior="Removed", invert=True), BYTES),
    "merged with next": bytes_variant(split(r"[A-Z]", behavior="MergedWithNext"), BYTES),
    "merged with previous": bytes_variant(split(None, behavior="MergedWithPrevious", text=" "), BYTES),
    "contiguous": bytes_variant(split(r"[0-9. ]", behavior="Contiguous"), BYTES),
    "lines": bytes_variant(split(r"^[a-z]|.$|(?<=\s)\w|\W{2,}?"), BYTES, normalizer=sequence("normalizers", {"type": "Strip", "strip_left": True, "strip_right": True},
                                                                                      {"type": "Lowercase"}, {"type": "NFD"}, {"type": "StripAccents"})),
    "bytes as normaliser": bytes_variant(split(r"Ġ?\p{L}+"), normalizer={"type": "ByteLevel"}),
    "gemma 1 to 4": marks_variant(TO_MARKS, split(None, behavior="MergedWithPrevious", text=" "),
                                  added_tokens=[added(0, "<unk>"), added(1, "<s>"), added(2, "</s>"), added(3, "\n\n", special=False), added(4, "▁▁▁▁", special=False)]),
    "llama 2, mistral 7b, ernie4_5": marks_variant(sequence("normalizers", PREPEND, TO_MARKS), None, PREFIXED_DECODER),
    "phi3": marks_variant(sequence("normalizers", PREPEND, TO_MARKS), None, PREFIXED_DECODER,
                          added_tokens=[added(0, "<unk>"), added(1, "<s>"), added(2, "</s>", rstrip=True), added(5, "<think>", rstrip=True), added(6, "[KEEP]", lstrip=True),
                                        added(7, "<pad>", normalized=True, special=False)]),
    "metaspace": marks_variant(None, METASPACE, decoder={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}),
    "metaspace first, unsplit": marks_variant(None, {**METASPACE, "prepend_scheme": "first", "split": False},
                                              decoder={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}),
    "nemotron (marks and digits)": marks_variant(sequence("normalizers", {"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, TO_MARKS),
                                                 sequence("pretokenizers", split(r"[^▁]+", behavior="MergedWithPrevious"), SINGLE_DIGITS)),
    "unknown characters apart": marks_variant(TO_MARKS, None, model={"unk_token": "<unk>", "fuse_unk": False, "byte_fallback": False}),
    "unknown characters together": marks_variant(TO_MARKS, None, model={"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": False}),
    "no unknown token": marks_variant(TO_MARKS, None, model={"unk_token": None, "fuse_unk": False, "byte_fallback": False}),
}


def train(kind):
    """A vocabulary and its merges, over words that are whole lines."""
    tokenizer = Tokenizer(models.BPE())
    if kind == "bytes":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        special, alphabet = ["<|endoftext|>", "<|im_end|>"], pre_tokenizers.ByteLevel.alphabet()
    else:
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        special = ["<unk>", "<s>", "</s>", "\n\n", "▁▁▁▁", "<think>", "[KEEP]", "<pad>"] + [f"<0x{byte:02X}>" for byte in range(256)]
        alphabet = []
    trainer = trainers.BpeTrainer(vocab_size=len(special) + len(alphabet) + 500, special_tokens=special, initial_alphabet=alphabet,
                                  limit_alphabet=200, max_token_length=12, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return {"vocab": model["vocab"], "merges": model["merges"]}


def hash_of(ids):
    return base64.b64encode(hashlib.sha256(",".join(map(str, ids)).encode()).digest())[:3].decode()


def main():
    bases = {kind: train(kind) for kind in ["bytes", "marks"]}
    variants = []
    for name, variant in VARIANTS.items():
        stages = {key: value for key, value in variant.items() if key not in ("base", "model")}
        model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                 "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, **variant["model"]}
        tokenizer = Tokenizer.from_str(json.dumps({"version": "1.0", "truncation": None, "padding": None, **stages, "model": {**model, **bases[variant["base"]]}}))
        hashes = [hash_of(tokenizer.encode(text).ids) for text in TEXTS]
        variants.append({"name": name, "base": variant["base"], "stages": stages, "model": model, "hashes": "".join(hashes)})
    golden = {"provenance": {"script": Path(__file__).name, "tokenizers": tokenizers.__version__, "python": platform.python_version()},
              "bases": bases, "variants": variants}
    (HERE / "tokenizer-stages.json").write_text(json.dumps(golden, ensure_ascii=True, separators=(",", ":")) + "\n")


main()
