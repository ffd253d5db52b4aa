"""Writes decoders/<family>.json: what transformers computes for small seeded checkpoints of each family.

The weights are not stored. `seeded.py` repeats `src/testing/seeded-weights.ts` bit for bit, so the tests make the same
checkpoint from names, shapes and the seed; a sum of the weights' bits proves that they did.

Run:  python make_goldens.py [family ...]        (needs torch, transformers and safetensors)
"""

import json
import math
import pathlib
import platform
import sys
import tempfile

import numpy as np
import torch
import transformers

from families import FAMILIES
from oracle import continue_greedily, load_model, logits_of, write_checkpoint
from seeded import bit_sum, seeded_tokens

FOLDER = pathlib.Path(__file__).parent / "decoders"
GREEDY_LENGTH = 48
# No choice of a token may be closer than this to another one: the tests compare tokens one by one.
SMALLEST_LEAD = 1e-3
# A continuation that repeats a few tokens would hide faults.
FEWEST_TOKENS = 8
# Coprime to the vocabulary, so that all columns are seen.
LOGIT_STRIDE = 23
SEEDS = 40


def run_case(family: str, index: int, case: dict) -> dict:
    """Tries seeds until every greedy choice is clear and several tokens are chosen."""
    for attempt in range(SEEDS):
        result = run_seed(case, 1000 * (1 + list(FAMILIES).index(family)) + 50 * index + attempt)
        if result is not None:
            return result
    raise ValueError(f"{family}, {case['name']}: no seed of {SEEDS} gives clear choices of several tokens")


def run_seed(case: dict, seed: int) -> dict | None:
    config = case["config"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        checkpoint = write_checkpoint(folder, config, seed)
        model = load_model(folder, config)
    vocabulary = config.get("text_config", config)["vocab_size"]
    # Ids above are those of images in some configurations.
    limit = vocabulary - 16
    prompts = []
    for number, length in enumerate(case["prompts"]):
        prompt = seeded_tokens(seed + 7 * number, length, limit)
        logits = logits_of(model, prompt)
        deviation = float(logits.std())
        if not 0.4 < deviation < 2.5:
            raise ValueError(f"{case['name']}: the logits have a deviation of {deviation}")
        greedy, lead = continue_greedily(model, prompt, GREEDY_LENGTH)
        if lead < SMALLEST_LEAD or len(set(greedy)) < FEWEST_TOKENS:
            return None
        prompts.append(
            {
                "tokens": prompt,
                "logits": rounded(logits.flatten()[::LOGIT_STRIDE]),
                "lastLogits": rounded(logits[-1]),
                "greedy": greedy,
                "smallestLead": round(lead, 6),
            }
        )
    weights = checkpoint["weights"].values()
    return {
        "name": case["name"],
        "seed": seed,
        "config": config,
        "tensors": {key: [list(shape), scale, offset] for key, (shape, scale, offset) in checkpoint["tensors"].items()},
        "weightBitSum": bit_sum(weights),
        "prompts": prompts,
    }


def rounded(values: np.ndarray) -> list:
    return [round(float(value), 6) for value in values]


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    FOLDER.mkdir(exist_ok=True)
    for family in sys.argv[1:] or FAMILIES:
        golden = {
            "family": family,
            "provenance": {
                "script": "make_goldens.py",
                "python": platform.python_version(),
                "torch": torch.__version__,
                "transformers": transformers.__version__,
                "numpy": np.__version__,
                "attention": "eager, float32",
            },
            "logitStride": LOGIT_STRIDE,
            "cases": [run_case(family, index, case) for index, case in enumerate(FAMILIES[family])],
        }
        text = json.dumps(golden, separators=(",", ":")).replace('{"name"', '\n{"name"').replace('{"tokens"', '\n{"tokens"')
        (FOLDER / f"{family}.json").write_text(text + "\n")
        leads = [prompt["smallestLead"] for case in golden["cases"] for prompt in case["prompts"]]
        print(f"{family}: {len(golden['cases'])} cases, smallest lead {min(leads)}", flush=True)


if __name__ == "__main__":
    main()
