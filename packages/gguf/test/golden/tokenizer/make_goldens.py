"""Makes the tokenizer goldens: small vocabularies as GGUF metadata, and the ids that llama.cpp and `tokenizers` give for texts.

Usage, from packages/gguf, with `tokenizers`, `sentencepiece`, `transformers`, `gguf`, `xllamacpp` and `llama-cpp-python` installed:
    python test/golden/tokenizer/make_goldens.py [byte-level] [sentencepiece]

- byte-level.json: one byte-level vocabulary, trained without a split, so that its tokens reach across words and every split
  changes the ids. For each `tokenizer.ggml.pre`: the ids of the published pipeline, computed by `tokenizers`, and those of
  llama.cpp for the same vocabulary in a GGUF file, where they differ.
- sentencepiece.json: a vocabulary of sentencepiece with byte tokens, user-defined tokens and equal scores, as metadata of the
  kinds `llama` (with and without the space prefix, and as Phi-3) and `gemma4`, and the ids of llama.cpp.
"""

import contextlib
import json
import platform
import sys
import tempfile
import urllib.request
from importlib.metadata import version
from pathlib import Path

import gguf
import numpy as np
import sentencepiece
import tokenizers
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers.tokenization_utils_base import generate_merges

HERE = Path(__file__).parent
TEXTS = json.loads((HERE / "../../../../engine/test/golden/tokenizer-texts.json").read_text())["texts"]
# Long repetitions say no more than short ones.
SAMPLE = [text[:60] for text in TEXTS[:150] + TEXTS[150::4]] + [
    "HelloWORLD McDonald's iPhone15 XMLHttpRequest éCole ÉCOLE", "a1b22c333d4444e55555", "１２３４ ４５６７８", "we'Ve I'LL don'T",
    "Foo//bar\n\n/baz//\n", "...\n\n\n x", "x\r\n\r\ny", "你好ABC世界123", "カタカナひらがな漢字 한글", "$100 <= €200^2 | `code` ~tilde~",
    " 's 'S 'll", "\t\tif x:\n\t\t\treturn", "  \u3000 \u2003x", "व्यवहार में", "ไม่เป็นไร", "ǅ ǈ ʰ ª", "_snake_case__x", "a\u0301b\u0308c",
]
TOKEN = gguf.TokenType
IDS = {"bos": 0, "eos": 1, "unknown": 2, "padding": 3}

CASE = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
CL100K = CASE + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = CL100K.replace("{1,3}", "")
QWEN35 = CASE + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
          r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
          r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT_4O = (TEKKEN.replace(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + CASE + "?|")
          .replace(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + CASE + "?|").replace(r"|\p{N}|", r"|\p{N}{1,3}|"))
SEED_CODER = CASE + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
DEEPSEEK_V3 = [
    r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]
KIMI = (r"[\p{Han}]+|" + GPT_4O.replace(r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]")
        .replace(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]").replace(r"[\r\n/]*", r"[\r\n]*"))
GROUPED_DIGITS = r"\d{1,3}(?=(?:\d{3})*\b)"
AFMOE = [
    r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))",
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e00-\u0e7f\u0e80-\u0eff"
    "\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+",
    DEEPSEEK_V3[2]]
LETTERS = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376"
    "\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-"
    "\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a"
    "\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4"
    "\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc"
    "\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f"
    "\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b"
    "\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    "\U000118a0-\U000118df\U0001e900-\U0001e943"
)
DEEPSEEK_LLM = [r"[\r\n]", r"\s?[" + LETTERS + "]+", "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+$", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"]
DEEPSEEK_CODER = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"]


def split(regex):
    return pre_tokenizers.Split(Regex(regex), "isolated")


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
GPT2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
DIGITS = pre_tokenizers.Digits(individual_digits=True)
NFC = normalizers.NFC()
GPT2_REGEX = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
FALCON = [pre_tokenizers.Punctuation("contiguous"), GPT2, pre_tokenizers.Digits(individual_digits=False), split("[0-9][0-9][0-9]")]

# name: normalizer, stages, ignore_merges
PIPELINES = {
    "default": (None, [split(r"[\p{P}\$\+<=>\^~\|]+"), split(GPT2_REGEX), split(r"\p{N}+"), split("[0-9][0-9][0-9]"), BYTES], False),
    **{name: (None, [GPT2], False) for name in ["gpt-2", "phi-2", "exaone4", "granite-docling", "mellum", "gigachat", "a.x-4.0", "trillion"]},
    **{name: (NFC, [GPT2], False) for name in ["olmo", "mpt"]},
    **{name: (None, [DIGITS, GPT2], False) for name in ["smollm", "starcoder", "refact", "minerva-7b"]},
    "command-r": (NFC, [DIGITS, GPT2], False),
    "falcon": (None, FALCON, False),
    **{name: (None, [split(CL100K), BYTES], True)
       for name in ["llama-bpe", "llama-v3", "llama3", "lfm2", "pixtral", "midm-2.0", "falcon3", "falcon-h1", "glm4"]},
    **{name: (None, [split(CL100K), BYTES], False) for name in ["dbrx", "smaug-bpe", "chatglm-bpe"]},
    **{name: (NFC, [split(QWEN2), BYTES], False) for name in ["qwen2", "deepseek-r1-qwen"]},
    **{name: (None, [split(QWEN2), BYTES], False) for name in ["hunyuan", "megrez", "kormo"]},
    "qwen35": (NFC, [split(QWEN35), BYTES], False),
    "seed-coder": (None, [split(SEED_CODER), BYTES], False),
    **{name: (None, [split(GPT_4O), BYTES], False) for name in ["gpt-4o", "llama4"]},
    "tiny_aya": (None, [split(GROUPED_DIGITS), split(GPT_4O), BYTES], False),
    "afmoe": (None, [*map(split, AFMOE), BYTES], False),
    "tekken": (None, [split(TEKKEN), BYTES], True),
    "kimi-k2": (None, [split(KIMI), BYTES], True),
    "deepseek-llm": (None, [*map(split, DEEPSEEK_LLM), DIGITS, BYTES], False),
    "deepseek-coder": (None, [*map(split, DEEPSEEK_CODER), DIGITS, BYTES], False),
    **{name: (None, [*map(split, DEEPSEEK_V3), BYTES], False) for name in ["deepseek-v3", "hunyuan-dense"]},
}


def write_gguf(path, metadata):
    """A whole model, because the server of llama.cpp loads no vocabulary alone."""
    writer = gguf.GGUFWriter(path, metadata["general.architecture"])
    writer.add_context_length(512)
    writer.add_embedding_length(32)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    for key, value in metadata.items():
        if key == "general.architecture":
            continue
        if isinstance(value, list):
            writer.add_array(key, value)
        elif isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        else:
            writer.add_string(key, value)
    tables = {"token_embd": len(metadata["tokenizer.ggml.tokens"]), "output": len(metadata["tokenizer.ggml.tokens"])}
    matrices = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
    for name, rows in {**tables, **{f"blk.0.{matrix}": 32 for matrix in matrices}}.items():
        writer.add_tensor(f"{name}.weight", np.zeros((rows, 32), np.float32))
    for name in ["output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"]:
        writer.add_tensor(f"{name}.weight", np.zeros(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def server_ids(metadata, texts):
    """The ids of llama.cpp's server, and those of a text with the tokens around it."""
    import xllamacpp

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "vocabulary.gguf")
        write_gguf(path, metadata)
        params = xllamacpp.CommonParams()
        params.model.path = path
        params.n_ctx, params.n_parallel, params.warmup = 256, 1, False
        server = xllamacpp.Server(params)

        def ids_of(text, adds_special):
            body = json.dumps({"content": text, "add_special": adds_special, "parse_special": True}).encode()
            request = urllib.request.Request(f"{server.listening_address}/tokenize", body, {"content-type": "application/json"})
            with urllib.request.urlopen(request) as response:
                return json.load(response)["tokens"]

        ids, ends = [ids_of(text, False) for text in texts], ids_of("a", True)
        del server
        return ids, ends


def library_ids(metadata, texts):
    """The same of the library, with the tokens that end a generation."""
    import llama_cpp

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "vocabulary.gguf")
        write_gguf(path, metadata)
        model = llama_cpp.Llama(path, vocab_only=True, verbose=False)
        ids = [model.tokenize(text.encode(), add_bos=False, special=True) for text in texts]
        ends = model.tokenize(b"a", add_bos=True, special=True)
        vocabulary = llama_cpp.llama_model_get_vocab(model._model.model)
        eog = [i for i in range(len(metadata["tokenizer.ggml.tokens"])) if llama_cpp.llama_vocab_is_eog(vocabulary, i)]
        model.close()
        return ids, ends, eog


def provenance(**more):
    return {"script": Path(__file__).name, "python": platform.python_version(), "tokenizers": tokenizers.__version__,
            "gguf": version("gguf"), **more}


def write(name, value):
    (HERE / name).write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n")


def byte_level_metadata():
    """Trained on the texts themselves, without a split: tokens hold spaces, digits, signs and letters together."""
    special = ["<|startoftext|>", "<|im_end|>", "<|unknown|>", "<|pad|>", "<|im_start|>", "<think>", "<unused0>"]
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = BYTES
    trainer = trainers.BpeTrainer(vocab_size=1000, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    trained.train_from_iterator([text for text in TEXTS if "<" not in text] * 2, trainer)
    model = json.loads(trained.to_str())["model"]
    learned = [token for token, _ in sorted(model["vocab"].items(), key=lambda item: item[1])]
    # Words that no merge makes: found only where merges are ignored.
    learned += ["\u0120unmerged", "Unmerged"]
    types = [TOKEN.CONTROL] * 5 + [TOKEN.USER_DEFINED, TOKEN.UNUSED] + [TOKEN.NORMAL] * len(learned)
    return {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": special + learned,
        "tokenizer.ggml.token_type": [int(kind) for kind in types],
        "tokenizer.ggml.merges": [" ".join(merge) for merge in model["merges"]],
        **{f"tokenizer.ggml.{role}_token_id": i for role, i in IDS.items()},
    }


def published_ids(metadata, name, texts):
    normalizer, stages, ignore_merges = PIPELINES[name]
    tokens = metadata["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges, ignore_merges=ignore_merges))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(stages)
    tokenizer.add_special_tokens(tokens[:5])
    tokenizer.add_tokens([tokenizers.AddedToken("<think>", normalized=False, special=False)])
    return [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]


def make_byte_level():
    metadata = byte_level_metadata()
    texts = SAMPLE + ["an unmerged word", "Unmerged unmerged words"]
    base = published_ids(metadata, "gpt-2", texts)
    cases = []
    for name in PIPELINES:
        ids = published_ids(metadata, name, texts)
        theirs, ends = server_ids({**metadata, "tokenizer.ggml.pre": name}, texts)
        case = {
            "ids": {i: own for i, own in enumerate(ids) if own != base[i]},
            "llamaIds": {i: other for i, other in enumerate(theirs) if other != ids[i]},
            "addsBos": ends[0] == 0,
        }
        known = next((c for c in cases if {k: c[k] for k in case} == case), None)
        if known is None:
            cases.append({"names": [name], **case})
        else:
            known["names"].append(name)
        print(name, len(case["ids"]), "differ from gpt-2;", len(case["llamaIds"]), "differ from llama.cpp", flush=True)
    write("byte-level.json", {"provenance": provenance(xllamacpp=version("xllamacpp")), "metadata": metadata, "texts": texts, "ids": base, "cases": cases})


def sentencepiece_metadata():
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "model")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([line for text in TEXTS for line in text.split("\n") if line and "\0" not in line] * 2),
            model_prefix=prefix, model_type="bpe", vocab_size=1200, byte_fallback=True, character_coverage=0.98,
            normalization_rule_name="identity", remove_extra_whitespaces=False, allow_whitespace_only_pieces=True, split_digits=True,
            user_defined_symbols=["<think>", "\n", "\n\n", "\u2581\u2581", "\u2581\u2581\u2581", "<table>"],
            control_symbols=["<end_of_turn>", "<|endoftext|>"], minloglevel=2)
        model = sentencepiece.SentencePieceProcessor(model_file=prefix + ".model")
    tokens, scores, types = [], [], []
    for i in range(model.vocab_size()):
        piece, kind = model.id_to_piece(i), TOKEN.NORMAL
        if model.is_unknown(i):
            kind = TOKEN.UNKNOWN
        elif model.is_control(i):
            kind = TOKEN.CONTROL
        elif model.is_unused(i):
            kind = TOKEN.UNUSED
        elif model.is_byte(i):
            kind = TOKEN.BYTE
        elif piece in ("<think>", "\n", "\n\n", "\u2581\u2581", "\u2581\u2581\u2581", "<table>"):
            kind = TOKEN.USER_DEFINED
            piece = piece.replace("\u2581", " ")
        tokens.append(piece)
        scores.append(float(model.get_score(i)) if kind != TOKEN.USER_DEFINED else -1000.0)
        types.append(int(kind))
    # Every fourth of the rarer tokens shares the score of the one before.
    for i in range(900, len(scores), 4):
        if types[i] == types[i - 1] == int(TOKEN.NORMAL):
            scores[i] = scores[i - 1]
    return {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": scores,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.bos_token_id": tokens.index("<s>"),
        "tokenizer.ggml.eos_token_id": tokens.index("</s>"),
        "tokenizer.ggml.unknown_token_id": tokens.index("<unk>"),
    }


def make_sentencepiece():
    metadata = sentencepiece_metadata()
    tokens, scores, types = (metadata[f"tokenizer.ggml.{key}"] for key in ("tokens", "scores", "token_type"))
    mergeable = {t: i for i, t in enumerate(tokens) if types[i] == int(TOKEN.NORMAL)}
    merges = generate_merges(mergeable, {t: scores[i] for t, i in mergeable.items()})
    more = {
        "llama": {},
        "llama without a space prefix": {"tokenizer.ggml.add_space_prefix": False},
        # It has no added tokens of white space, with which "drops white space behind it" would compete.
        "Phi-3": {"general.architecture": "phi3", "general.name": "Phi-3", "tokenizer.ggml.token_type":
                  [int(TOKEN.NORMAL) if kind == TOKEN.USER_DEFINED and not tokens[i].strip() else kind for i, kind in enumerate(types)]},
        "gemma4": {"tokenizer.ggml.model": "gemma4", "tokenizer.ggml.merges": [" ".join(merge) for merge in merges]},
    }
    texts = SAMPLE + ["a  b   c    d", "<end_of_turn>  a", "<think> x </think>", " <table>\n\n\n\n</table>", "</s> </s>\n x", "\n\n\na\n"]
    cases = []
    for name, change in more.items():
        whole = {**metadata, **change}
        if name == "gemma4":
            del whole["tokenizer.ggml.pre"]
        written = dict(whole)
        if name == "Phi-3":  # llama.cpp goes by the name; its loader of the architecture wants more of the file.
            written["general.architecture"] = "llama"
        ids, ends, eog = library_ids(written, texts)
        cases.append({"name": name, "metadata": change, "ids": ids, "addsBos": ends[0] == whole["tokenizer.ggml.bos_token_id"],
                      "llamaEndIds": eog})
        print(name, sum(map(len, ids)), "ids", flush=True)
    write("sentencepiece.json", {
        "provenance": provenance(**{"llama-cpp-python": version("llama-cpp-python")}, sentencepiece=sentencepiece.__version__, transformers=transformers.__version__),
        "metadata": metadata, "texts": texts, "cases": cases})


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["byte-level", "sentencepiece"]
    if "byte-level" in wanted:
        make_byte_level()
    if "sentencepiece" in wanted:
        make_sentencepiece()
