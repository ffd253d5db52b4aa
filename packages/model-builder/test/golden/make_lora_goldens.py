"""Writes lora.json: what peft computes for small seeded checkpoints with small seeded adapters.

Neither weights nor adapters are stored: both are made from their seeds, here and in the test, with the arithmetic of
`seeded.py`. peft loads the adapter folder as it would load a trained one and runs it beside the base, unmerged.

Run:  python make_lora_goldens.py        (needs torch, transformers, peft and safetensors)
"""

import json
import math
import pathlib
import platform
import tempfile

import numpy as np
import peft
import torch
import transformers
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

from seeded import seeded_tensor, seeded_tokens

FOLDER = pathlib.Path(__file__).parent
PROMPT_LENGTH = 64

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

TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
EVERY_MATRIX = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

CASES = [
    {
        "name": "llama, queries and values, F32",
        "model_type": "llama", "seed": 21, "type": "F32", "config": {},
        "adapter": {"r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "v_proj"]},
    },
    {
        "name": "qwen3, every matrix, rank-stabilised, BF16",
        "model_type": "qwen3", "seed": 22, "type": "BF16", "config": {"head_dim": 32},
        "adapter": {"r": 4, "lora_alpha": 6, "use_rslora": True, "target_modules": EVERY_MATRIX},
    },
    {
        "name": "qwen2, ranks and alphas of their own, F16",
        "model_type": "qwen2", "seed": 23, "type": "F16", "config": {"num_hidden_layers": 3},
        "adapter": {
            "r": 8, "lora_alpha": 8, "target_modules": EVERY_MATRIX,
            "rank_pattern": {"up_proj": 2, "layers.1.self_attn.o_proj": 3, "^model.layers.2.mlp.down_proj": 5},
            "alpha_pattern": {"q_proj": 20, "model.layers.0.mlp.gate_proj": 1},
        },
    },
    {
        "name": "llama, separate output matrix, one layer only",
        "model_type": "llama", "seed": 24, "type": "F32", "config": {"tie_word_embeddings": False, "attention_bias": True},
        "adapter": {"r": 1, "lora_alpha": 3, "target_modules": ["k_proj", "down_proj"], "layers_to_transform": [1]},
    },
]


def scale_and_offset(name: str, shape: tuple, tied: bool) -> tuple:
    """As `seededTensors` of `src/testing/tiny-model.ts`."""
    if name.endswith("norm.weight"):
        return 0.25, 1.0
    if name.endswith(".bias"):
        return 0.25, 0.0
    if name == "model.embed_tokens.weight" and not tied:
        return 1.0, 0.0
    return math.sqrt(3 / shape[1]), 0.0


def run_case(case: dict) -> dict:
    settings = {**BASE, **case["config"]}
    config = AutoConfig.for_model(case["model_type"], **settings)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").to(torch.float32).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            shape = tuple(parameter.shape)
            weights = seeded_tensor(case["seed"], name, shape, *scale_and_offset(name, shape, settings["tie_word_embeddings"]))
            parameter.copy_(torch.from_numpy(weights))
    prompt = seeded_tokens(case["seed"], PROMPT_LENGTH, 256)
    with torch.no_grad():
        base_logits = model(torch.tensor([prompt])).logits[0, -1]
    with tempfile.TemporaryDirectory() as folder:
        wrapped = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", **case["adapter"]))
        wrapped.save_pretrained(folder)
        path = pathlib.Path(folder)
        adapter_config = json.loads((path / "adapter_config.json").read_text())
        state = {}
        for name, value in sorted(peft.get_peft_model_state_dict(wrapped).items()):
            tensor = torch.from_numpy(seeded_tensor(case["seed"], name, tuple(value.shape), 0.25, 0.0))
            state[name] = tensor.to(TYPES[case["type"]])
        save_file(state, path / "adapter_model.safetensors")
        loaded = peft.PeftModel.from_pretrained(wrapped.unload(), folder).eval()
        with torch.no_grad():
            logits = loaded(torch.tensor([prompt])).logits[0]
    adapter_config["target_modules"].sort()
    return {
        "name": case["name"],
        "modelType": case["model_type"],
        "seed": case["seed"],
        "config": settings,
        "adapterType": case["type"],
        "adapterConfig": adapter_config,
        "adapterShapes": {name: list(value.shape) for name, value in state.items()},
        "prompt": prompt,
        "logitStride": 7,
        "logits": [[round(float(x), 6) for x in row[::7]] for row in logits],
        "lastLogits": [round(float(x), 6) for x in logits[-1]],
        "largestChange": round(float((logits[-1] - base_logits).abs().max()), 6),
    }


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    golden = {
        "provenance": {
            "script": "make_lora_goldens.py",
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "peft": peft.__version__,
            "numpy": np.__version__,
        },
        "cases": [run_case(case) for case in CASES],
    }
    text = json.dumps(golden, separators=(",", ":"))
    (FOLDER / "lora.json").write_text(text.replace('{"name"', '\n{"name"') + "\n")
    for case in golden["cases"]:
        print(f"{case['name']}: {len(case['adapterShapes'])} tensors, largest change {case['largestChange']}")


if __name__ == "__main__":
    main()
