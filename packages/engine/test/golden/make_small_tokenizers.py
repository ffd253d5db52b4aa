"""Trains the small tokenizers of golden/tokenizers/: shapes that no npm package carries in a small file.

Usage (from packages/engine, with `tokenizers` installed): python test/golden/make_small_tokenizers.py
- llama2_style: sentencepiece-like BPE with byte fallback, `▁` put first by a normalizer, first space stripped.
- metaspace: the same vocabulary idea through the Metaspace stages, with a template that adds both ends.
- digits: byte-level BPE with single digits, stripping added tokens and a compatibility normalizer.
"""

import json
import platform
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent / "tokenizers"
CORPUS = [
    "The quick brown fox jumps over the lazy dog. Hello world, hello again. I thought I would sail about a little.",
    "def f(x):\n    return x + 1\nif a and b: print('hello world')\n", "Zwei Bäume stehen vor dem Haus. L'été dernier.",
    "1 22 333 4444 2026-11-20 3.14", "Привет, мир. Привет.", "wordsword words   with  spaces",
] * 20
BYTES = [f"<0x{b:02X}>" for b in range(256)]


def save(name, tokenizer, config):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    value = json.loads(tokenizer.to_str())
    (folder / "tokenizer.json").write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "provenance.json").write_text(json.dumps(
        {"script": Path(__file__).name, "tokenizers": tokenizers.__version__, "python": platform.python_version()}) + "\n")


def with_byte_fallback(trained, byte_level_specials):
    """The trained vocabulary with <unk>, <s>, </s> and 256 byte tokens in front, as sentencepiece orders them."""
    value = json.loads(trained.to_str())["model"]
    learned = [t for t, _ in sorted(value["vocab"].items(), key=lambda item: item[1])]
    vocab = {token: i for i, token in enumerate(byte_level_specials + BYTES + [t for t in learned if t not in byte_level_specials])}
    merges = [tuple(m) for m in value["merges"]]
    return models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)


def llama2_style():
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trained.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trained.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>", "<s>", "</s>"]))
    tokenizer = Tokenizer(with_byte_fallback(trained, ["<unk>", "<s>", "</s>"]))
    tokenizer.normalizer = trained.normalizer
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    save("llama2_style", tokenizer, {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"})


def metaspace():
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    trained.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>", "<s>", "</s>"]))
    tokenizer = Tokenizer(with_byte_fallback(trained, ["<unk>", "<s>", "</s>"]))
    tokenizer.pre_tokenizer = trained.pre_tokenizer
    tokenizer.decoder = decoders.Sequence([decoders.Metaspace(prepend_scheme="first", split=True), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="$A $B", special_tokens=[("<s>", 1), ("</s>", 2)])
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    tokenizer.add_tokens([AddedToken("[KEEP]", normalized=True)])
    save("metaspace", tokenizer, {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"})


def digits():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=520, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"]))
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_tokens([AddedToken("[LEFT]", lstrip=True, normalized=False), AddedToken("[RIGHT]", rstrip=True, normalized=False),
                          AddedToken("[BOTH]", lstrip=True, rstrip=True, normalized=True), AddedToken("ａdded é", normalized=True),
                          AddedToken("  ", normalized=False)])
    save("digits", tokenizer, {"bos_token": "<|endoftext|>", "eos_token": "<|im_end|>"})


llama2_style()
metaspace()
digits()
