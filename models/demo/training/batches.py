"""Packs conversations of like length into batches of about TOKENS_PER_BATCH positions.

Called by train.py.
"""

import random
from collections.abc import Iterator

import numpy as np
import torch
from tokenizers import Tokenizer

from chat_format import END_OF_TEXT, render
from generate_data import Conversation, draw_conversation

TOKENS_PER_BATCH = 2048
LONGEST = 1024
POOL_SIZE = 512
IGNORED = -100


def rounded_up(length: int) -> int:
    return -(-length // 8) * 8


def encode(tokenizer: Tokenizer, conversation: Conversation) -> tuple[list[int], list[int]]:
    """Token ids and targets (the next id where it belongs to an answer, else IGNORED)."""
    pieces = render(conversation.messages, conversation.enable_thinking, conversation.thought, conversation.tools, conversation.documents)
    ids: list[int] = []
    is_target: list[bool] = []
    # Pieces meet at special tokens or line ends, where the tokenizer splits anyway.
    for text, wanted in pieces:
        piece = tokenizer.encode(text, add_special_tokens=False).ids
        ids += piece
        is_target += [wanted] * len(piece)
    targets = [next_id if wanted else IGNORED for next_id, wanted in zip(ids[1:], is_target[1:])]
    return ids[:-1], targets


def batches(tokenizer: Tokenizer, seed: str) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Shape: tokens and targets [rows, length]; never ends; the same for the same seed.

    A pool of conversations is sorted by length and cut into batches, so that
    little padding is needed; the batches of a pool come in random order.
    """
    rng = random.Random(seed)
    padding = tokenizer.token_to_id(END_OF_TEXT)
    while True:
        pool = []
        while len(pool) < POOL_SIZE:
            ids, targets = encode(tokenizer, draw_conversation(rng))
            if len(ids) <= LONGEST:
                pool.append((ids, targets))
        pool.sort(key=lambda row: len(row[0]))
        groups: list[list] = [[]]
        for row in pool:
            if (len(groups[-1]) + 1) * rounded_up(len(row[0])) > TOKENS_PER_BATCH:
                groups.append([])
            groups[-1].append(row)
        # A batch of one row would be compiled anew.
        groups = [group for group in groups if len(group) > 1]
        rng.shuffle(groups)
        for group in groups:
            shape = (len(group), rounded_up(max(len(ids) for ids, _ in group)))
            tokens = np.full(shape, padding, dtype=np.int64)
            wanted = np.full(shape, IGNORED, dtype=np.int64)
            for row, (ids, targets) in enumerate(group):
                tokens[row, : len(ids)] = ids
                wanted[row, : len(ids)] = targets
            yield torch.from_numpy(tokens), torch.from_numpy(wanted)
