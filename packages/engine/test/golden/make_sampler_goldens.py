"""Makes the sampler goldens: which tokens may be drawn, by the logits processors of `transformers` in the documented order.

Usage (from packages/engine, with `torch` and `transformers` installed):
    python test/golden/make_sampler_goldens.py                       # sampler.json beside this file
    python test/golden/make_sampler_goldens.py 10000 /tmp/rows.json  # more rows, to be checked with
    node test/golden/check-sampler-rows.ts /tmp/rows.json

Rows of logits are not stored: both sides compute them from a seed, exactly, in whole numbers. Edits before the temperature
are float32, as the logits are; what follows is float64, so that no set hangs on rounding. Frequency and presence penalties
are written out with torch, as transformers has none.
"""

import base64
import json
import platform
import random
import sys
from pathlib import Path

import torch
import transformers
from transformers.generation.logits_process import (
    MinNewTokensLengthLogitsProcessor,
    MinPLogitsWarper,
    NoBadWordsLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    SuppressTokensLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

ROW_COUNT = 400
DRAWN_COUNT = 16
"""Logits are whole numbers below 2^24 times this."""
SCALES = {"wide": 2**-18, "bell": 2**-20, "flat": 2**-23}


def logits_row(seed: int, size: int, kind: str) -> list[float]:
    """Four draws of 22 bits each, summed; `steps` rounds them so that many are equal."""
    state, row = seed, []
    for _ in range(size):
        total = 0
        for _ in range(4):
            state = (state * 1664525 + 1013904223) % 2**32
            total += state >> 10
        total -= 2**23
        row.append(float((total >> 19) if kind == "steps" else total * SCALES[kind]))
    return row


def random_case(rng: random.Random) -> dict:
    size = rng.choice([8, 50, 130, 300, 300, 700])
    kind = rng.choice(["wide", "bell", "bell", "flat", "steps"])
    ids = lambda count: [rng.randrange(size) for _ in range(count)]
    sometimes = lambda value, off: value if rng.random() < 0.4 else off
    output = ids(rng.randrange(0, 12))
    bad = [ids(rng.randrange(1, 4)) for _ in range(rng.randrange(1, 4))]
    if len(output) > 1:
        bad.append([*output[-rng.randrange(1, 3):], rng.randrange(size)])
    return {
        "seed": rng.randrange(2**32),
        "size": size,
        "kind": kind,
        "prompt": ids(rng.randrange(1, 20)),
        "output": output,
        "allowed": sometimes(sorted(set(ids(rng.randrange(1, min(size, 60))))), None),
        "bad": sometimes(bad, []),
        "min_tokens": rng.choice([0, 0, 6]),
        "ends": sorted(set(ids(2))),
        "bias": sometimes([[id, round(rng.uniform(-100, 100) * rng.choice([1, 0.03]), 3)] for id in sorted(set(ids(4)))], []),
        "repetition": sometimes(round(rng.uniform(0.5, 2), 3), 1.0),
        "frequency": sometimes(round(rng.uniform(-2, 2), 3), 0.0),
        "presence": sometimes(round(rng.uniform(-2, 2), 3), 0.0),
        "temperature": 0.0 if rng.random() < 0.1 else round(rng.uniform(0.05, 2), 3),
        "min_p": sometimes(round(rng.uniform(0.001, 0.5), 4), 0.0),
        "top_k": sometimes(rng.randrange(1, size + 5), 0),
        # Equal logits have no order at the border of top-p, so rows with many of them go without.
        "top_p": 1.0 if kind == "steps" else sometimes(round(rng.uniform(0.05, 0.999), 3), 1.0),
    }


def edit(case: dict, scores: torch.Tensor) -> torch.Tensor:
    """Steps 2 to 6, float32."""
    size, output = case["size"], torch.tensor([case["output"]], dtype=torch.long)
    history = torch.tensor([case["prompt"] + case["output"]], dtype=torch.long)
    if case["allowed"] is not None:
        others = sorted(set(range(size)) - set(case["allowed"]))
        if others:
            scores = SuppressTokensLogitsProcessor(others)(history, scores)
    if case["bad"]:
        # The class passes over a sequence that is as long as all tokens so far and one more; a token in front helps.
        padded = torch.tensor([[-1, *case["output"]]], dtype=torch.long)
        scores = NoBadWordsLogitsProcessor([list(one) for one in sorted({tuple(one) for one in case["bad"]})])(padded, scores)
    if case["min_tokens"]:
        scores = MinNewTokensLengthLogitsProcessor(0, case["min_tokens"], case["ends"])(output, scores)
    if case["bias"]:
        scores = SequenceBiasLogitsProcessor({(id,): float(amount) for id, amount in case["bias"]})(history, scores)
    if case["repetition"] != 1:
        scores = RepetitionPenaltyLogitsProcessor(case["repetition"])(history, scores)
    counts = torch.bincount(output[0], minlength=size).float()[None]
    scores = scores - case["frequency"] * counts
    return scores - case["presence"] * (counts > 0).float()


def narrow(case: dict, scores: torch.Tensor) -> torch.Tensor:
    """Steps 7 to 11, float64: minus infinity for what may not be drawn."""
    if case["temperature"] == 0:
        best = scores.max()
        first = (scores == best).nonzero()[0, 1]
        return torch.full_like(scores, -torch.inf).index_fill(1, first[None], 0)
    no_ids = torch.zeros((1, 0), dtype=torch.long)
    warpers = [TemperatureLogitsWarper(case["temperature"])]
    if case["min_p"] > 0:
        warpers.append(MinPLogitsWarper(case["min_p"]))
    if case["top_k"] > 0:
        warpers.append(TopKLogitsWarper(case["top_k"]))
    if case["top_p"] < 1:
        warpers.append(TopPLogitsWarper(case["top_p"]))
    for warper in warpers:
        scores = warper(no_ids, scores)
    return scores


def bit_mask(kept: list[bool]) -> str:
    """Base64 of one bit for each token, the lowest bit of a byte first."""
    padded = kept + [False] * (-len(kept) % 8)
    return base64.b64encode(bytes(sum(bit << i for i, bit in enumerate(padded[at : at + 8])) for at in range(0, len(padded), 8))).decode()


def make_row(rng: random.Random, drawn: bool) -> dict | None:
    case = random_case(rng)
    if drawn:
        case |= {"size": 8, "kind": rng.choice(["flat", "flat", "bell"])}
        case |= {name: value for name, value in random_case(rng).items() if name in ("temperature", "top_p")}
        case |= {"prompt": [1, 5], "output": [3, 3, 6], "allowed": None, "bad": [[3, 6, 2]], "ends": [0], "bias": [[4, 0.5]], "top_k": rng.choice([0, 6])}
        case["temperature"] = max(case["temperature"], 0.4)
    scores = edit(case, torch.tensor([logits_row(case["seed"], case["size"], case["kind"])], dtype=torch.float32))
    finite = scores[scores > -torch.inf]
    if len(finite) == 0 or (case["top_p"] < 1 and len(finite.unique()) < len(finite)):
        return None
    kept = narrow(case, scores.double())
    row = {**case, "kept": bit_mask((kept[0] > -torch.inf).tolist())}
    if drawn:
        row["probabilities"] = [round(float(value), 9) for value in kept.softmax(-1)[0]]
    return row


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ROW_COUNT
    path = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent / "sampler.json"
    rng = random.Random(20261121)
    rows: list[dict] = []
    while len(rows) < count:
        row = make_row(rng, drawn=len(rows) < DRAWN_COUNT)
        if row is not None:
            rows.append(row)
    provenance = {
        "script": "test/golden/make_sampler_goldens.py",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    path.write_text('{"provenance":' + json.dumps(provenance) + ',"rows":[\n' + lines + "\n]}\n", encoding="utf-8")
    print(f"{len(rows)} rows in {path}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
