"""Writes decoders.json: what transformers computes for small seeded checkpoints.

The weights are not stored. `seeded_tensor` repeats `src/testing/seeded-weights.ts` bit for bit, so the test
makes the same checkpoint from the seed; a sum of the weights' bits in the golden proves that it did.

Run:  python make_goldens.py        (needs torch and transformers)
"""

import json
import math
import pathlib
import platform

import numpy as np
import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

FOLDER = pathlib.Path(__file__).parent
PROMPT_LENGTH = 64
GREEDY_LENGTH = 32
GOLDEN_RATIO = 0x9E3779B9
MASK = 0xFFFFFFFF


def hash_text(text: str) -> int:
    value = 0x811C9DC5
    for byte in text.encode("utf-8"):
        value = ((value ^ byte) * 0x01000193) & MASK
    return value


def mix(x: np.ndarray) -> np.ndarray:
    """MurmurHash3's finaliser on 32-bit numbers held in uint64."""
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & MASK
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & MASK
    return x ^ (x >> 16)


def seeded_tensor(seed: int, name: str, shape: tuple, scale: float, offset: float) -> np.ndarray:
    base = (hash_text(name) + seed * GOLDEN_RATIO) & MASK
    index = np.arange(math.prod(shape), dtype=np.uint64)
    bits = mix((np.uint64(base) + index * np.uint64(GOLDEN_RATIO)) & np.uint64(MASK))
    uniform = ((bits >> np.uint64(8)).astype(np.float64) / 0x800000 - 1).astype(np.float32)
    return (np.float32(offset) + uniform * np.float32(scale)).astype(np.float32).reshape(shape)


def scale_and_offset(name: str, shape: tuple, tied: bool) -> tuple:
    if name.endswith("norm.weight"):
        return 0.25, 1.0
    if name.endswith(".bias"):
        return 0.25, 0.0
    if name == "model.embed_tokens.weight" and not tied:
        return 1.0, 0.0
    return math.sqrt(3 / shape[1]), 0.0


BASE = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "vocab_size": 288,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-6,
    "hidden_act": "silu",
    "rope_theta": 10000,
    "tie_word_embeddings": True,
    "attention_bias": False,
}

LLAMA3_SCALING = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}

CASES = [
    {"name": "llama, tied", "model_type": "llama", "seed": 1, "config": {}},
    {
        "name": "llama, llama3 rope scaling, separate head, epsilon 1e-5",
        "model_type": "llama",
        "seed": 2,
        "config": {"rope_scaling": LLAMA3_SCALING, "rope_theta": 500000, "tie_word_embeddings": False, "rms_norm_eps": 1e-5},
    },
    {
        "name": "llama, linear rope scaling, all heads have keys",
        "model_type": "llama",
        "seed": 3,
        "config": {"rope_scaling": {"rope_type": "linear", "factor": 4.0}, "num_key_value_heads": 4},
    },
    {
        "name": "llama, biases everywhere, three layers, one key head",
        "model_type": "llama",
        "seed": 4,
        "config": {"attention_bias": True, "mlp_bias": True, "num_hidden_layers": 3, "num_key_value_heads": 1},
    },
    {
        "name": "llama, head size not hidden size over heads, sizes not multiples of 32",
        "model_type": "llama",
        "seed": 5,
        "config": {"head_dim": 48, "hidden_size": 80, "intermediate_size": 112, "num_attention_heads": 3, "num_key_value_heads": 1},
    },
    {"name": "qwen2, tied", "model_type": "qwen2", "seed": 6, "config": {"rope_theta": 1000000}},
    {"name": "qwen2, separate head", "model_type": "qwen2", "seed": 7, "config": {"tie_word_embeddings": False, "hidden_size": 96, "num_attention_heads": 6, "num_key_value_heads": 2}},
    {"name": "qwen3, tied, wide heads", "model_type": "qwen3", "seed": 8, "config": {"head_dim": 32, "rope_theta": 1000000}},
    {
        "name": "qwen3, separate head, biases",
        "model_type": "qwen3",
        "seed": 9,
        "config": {"head_dim": 32, "tie_word_embeddings": False, "attention_bias": True},
    },
]


def bit_sum(state: dict) -> int:
    """Sum of the weights' bits as 32-bit numbers, modulo 2**32: equal only for equal weights."""
    total = 0
    for value in state.values():
        total += int(value.view(np.uint32).astype(np.uint64).sum())
    return total & MASK


def run_case(case: dict) -> dict:
    config_json = {"model_type": case["model_type"], **BASE, **case["config"]}
    settings = {key: value for key, value in config_json.items() if key != "model_type"}
    config = AutoConfig.for_model(case["model_type"], **settings)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").to(torch.float32).eval()
    tied = config_json["tie_word_embeddings"]
    weights = {}
    for name, parameter in model.named_parameters():
        shape = tuple(parameter.shape)
        weights[name] = seeded_tensor(case["seed"], name, shape, *scale_and_offset(name, shape, tied))
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(weights[name]))
    prompt = [int(value) for value in mix(np.arange(PROMPT_LENGTH, dtype=np.uint64) + np.uint64(case["seed"])) % 256]
    with torch.no_grad():
        logits = model(torch.tensor([prompt])).logits[0]
        history = list(prompt)
        smallest_margin = math.inf
        for _ in range(GREEDY_LENGTH):
            row = model(torch.tensor([history])).logits[0, -1]
            top = torch.topk(row, 2)
            smallest_margin = min(smallest_margin, float(top.values[0] - top.values[1]))
            history.append(int(top.indices[0]))
    return {
        "name": case["name"],
        "modelType": case["model_type"],
        "seed": case["seed"],
        "config": {**BASE, **case["config"]},
        "weightCount": sum(int(value.size) for value in weights.values()),
        "weightBitSum": bit_sum(weights),
        "prompt": prompt,
        # Every 7th score of every position, and in full for the last position: enough to catch any fault.
        "logitStride": 7,
        "logits": [[round(float(x), 6) for x in row[::7]] for row in logits],
        "lastLogits": [round(float(x), 6) for x in logits[-1]],
        "greedy": history[PROMPT_LENGTH:],
        "smallestGreedyMargin": round(smallest_margin, 6),
    }


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    golden = {
        "provenance": {
            "script": "make_goldens.py",
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "numpy": np.__version__,
            "attention": "eager, float32",
        },
        "cases": [run_case(case) for case in CASES],
    }
    text = json.dumps(golden, separators=(",", ":"))
    (FOLDER / "decoders.json").write_text(text.replace('{"name"', '\n{"name"') + "\n")
    for case in golden["cases"]:
        print(f"{case['name']}: {case['weightCount']} weights, margin {case['smallestGreedyMargin']}")


if __name__ == "__main__":
    main()
