"""Trains the byte-level BPE on generated conversations and writes tokenizer.json.

    python train_tokenizer.py ../tokenizer.json
"""

import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from chat_format import MARKER_TOKENS, SPECIAL_TOKENS
from generate_data import TRAINING_SEED, draw_conversation

VOCAB_SIZE = 2560
CONVERSATIONS = 30_000
# The published Qwen2 split: words with their leading space, digits one by one.
SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def texts():
    rng = random.Random(f"tokenizer {TRAINING_SEED}")
    for _ in range(CONVERSATIONS):
        for message in draw_conversation(rng).messages:
            yield message["content"]


def main(path: str) -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE - len(MARKER_TOKENS),
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts(), trainer)
    tokenizer.add_tokens([AddedToken(t, normalized=False, special=False) for t in MARKER_TOKENS])
    tokenizer.save(path)
    print(f"{tokenizer.get_vocab_size()} tokens")


if __name__ == "__main__":
    main(sys.argv[1])
