"""transformers as an oracle: a checkpoint folder with seeded weights, loaded and run as a user would."""

import json
import math
import pathlib

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

from seeded import seeded_tensor

VISION_WRAPPERS = {"mistral3", "gemma3", "gemma4", "qwen3_5", "qwen3_5_moe"}
NORMS_AFTER_BLOCKS = {"olmo2", "olmo3", "exaone4"}


def model_class(config: dict):
    return AutoModelForImageTextToText if config["model_type"] in VISION_WRAPPERS else AutoModelForCausalLM


def write_checkpoint(folder: pathlib.Path, config: dict, seed: int) -> dict:
    """Writes config.json and model.safetensors with the names that transformers gives a checkpoint.

    Returns, by name: shape, scale and offset of the seeded values.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    draft = model_class(config).from_config(AutoConfig.from_pretrained(folder)).to(torch.float32)
    draft.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps(config))
    initial = load_file(folder / "model.safetensors")
    tied = not any(name.endswith("lm_head.weight") for name in initial)
    embedding = embedding_weight(config, tied)
    tensors = {name: (value.shape, *scale_and_offset(name, value, tied, embedding)) for name, value in sorted(initial.items())}
    weights = {name: seeded_tensor(seed, name, *parameters) for name, parameters in tensors.items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return {"tensors": tensors, "weights": weights}


def embedding_weight(config: dict, tied: bool) -> float:
    """How the embedding is scaled beside matrices, so that neither it nor the layers decide alone."""
    text = config.get("text_config", config)
    if text["model_type"].startswith("gemma") or "embedding_multiplier" in text or "scale_emb" in text:
        return 0.5
    if not tied:
        return (text["hidden_size"] / 3) ** 0.5
    return 2.0 if text["model_type"] in NORMS_AFTER_BLOCKS else 1.0


def scale_and_offset(name: str, value: np.ndarray, tied: bool, embedding: float) -> tuple:
    """Scale and offset of a uniform distribution, so that activations and logits have a deviation of about one.

    Vectors vary around the value that initialisation gives them: norms around one, or around zero where the model adds one.
    With a tied head, layers weigh more than the embedding, or every token would be followed by itself.
    """
    if value.ndim < 2 or value.size == max(value.shape):
        return 0.25, round(float(value.flat[0]), 3) + 0.0
    # Experts are stacked, in gpt-oss with inputs first; their biases are vectors.
    if name.endswith("_proj_bias"):
        return 0.25, 0.0
    inputs = value.shape[1] if name.endswith(("experts.gate_up_proj", "experts.down_proj")) else value.shape[-1]
    scale = math.sqrt(3 / (inputs if value.ndim == 3 else math.prod(value.shape[1:])))
    if name.endswith("embed_tokens.weight"):
        scale *= embedding
    elif tied and name.endswith(("o_proj.weight", "down_proj.weight", "c_proj.weight")):
        scale *= 2.5
    return round(scale, 6), 0.0


def load_model(folder: pathlib.Path, config: dict):
    """The model in float32 with eager attention. Fails where a weight is missing or left over."""
    model, report = model_class(config).from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
    )
    faults = {key: value for key, value in report.items() if value}
    if faults:
        raise ValueError(f"loading {config['model_type']}: {faults}")
    return model.eval()


def logits_of(model, tokens: list) -> np.ndarray:
    """Logits of every position, computed without a cache. Shape: `[tokens, vocabulary]`."""
    with torch.no_grad():
        return model(torch.tensor([tokens]), use_cache=False).logits[0].numpy()


def continue_greedily(model, prompt: list, count: int) -> tuple:
    """The next `count` tokens, each from a run of the whole sequence, and the smallest lead of a choice over the runner-up."""
    history = list(prompt)
    smallest = math.inf
    for _ in range(count):
        row = logits_of(model, history)[-1]
        runner_up, best = np.sort(row)[-2:]
        smallest = min(smallest, float(best - runner_up))
        history.append(int(row.argmax()))
    return history[len(prompt):], smallest
