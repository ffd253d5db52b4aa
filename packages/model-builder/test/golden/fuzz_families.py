"""Writes folders with random configurations of one family, seeded weights, and the logits that transformers computes.

Each folder has config.json, model.safetensors and expected.json (tokens; logits of every position, row after row). Half of
the configurations are as transformers writes them when it saves a model. One that transformers refuses is left out.

Run:  python fuzz_families.py <family> <count> <seed> <folder>        (`pnpm fuzz families` runs it)
"""

import contextlib
import io
import json
import pathlib
import random
import shutil
import sys

import torch
import transformers
from transformers import AutoConfig

from families import FAMILIES, LLAMA3, YARN, YARN_DETAILED, YARN_LATENT, YARN_UNTRUNCATED, longrope
from oracle import load_model, logits_of, write_checkpoint
from seeded import seeded_tokens

# Values that a key may take where the family's configuration has it.
VALUES = {
    "hidden_size": [32, 48, 64, 96, 120],
    "intermediate_size": [16, 40, 96, 130],
    "num_hidden_layers": [1, 2, 3, 5, 8],
    "num_attention_heads": [1, 2, 4, 6],
    "num_key_value_heads": [1, 2, 3, 4, 6, None],
    "head_dim": [16, 32, 48, 64, 80, None],
    "vocab_size": [70, 96, 129],
    "rms_norm_eps": [1e-3, 1e-6],
    "layer_norm_eps": [1e-3, 1e-6],
    "norm_eps": [1e-3, 1e-6],
    "norm_epsilon": [1e-3, 1e-6],
    "hidden_act": ["silu", "gelu", "gelu_pytorch_tanh", "gelu_new", "relu", "relu2", "swish"],
    "hidden_activation": ["silu", "gelu", "gelu_pytorch_tanh", None],
    "tie_word_embeddings": [True, False],
    "attention_bias": [True, False],
    "attention_out_bias": [True, False],
    "mlp_bias": [True, False],
    "use_bias": [True, False],
    "sliding_window": [1, 2, 5, 16, 100, None],
    "use_sliding_window": [True, False],
    "max_window_layers": [0, 1, 2, 4],
    "query_pre_attn_scalar": [16, 40, 64],
    "attn_logit_softcapping": [1.0, 5.0, None],
    "final_logit_softcapping": [1.0, 5.0, None],
    "no_rope_layer_interval": [1, 2, 3],
    "embedding_multiplier": [1, 3.5],
    "attention_multiplier": [0.1, 1.0],
    "residual_multiplier": [0.22, 1.0],
    "logits_scaling": [0.5, 2.0],
    "logit_scale": [0.25, 1.0],
    "attention_k_eq_v": [True, False],
    "num_kv_shared_layers": [0, 1, 2],
    "use_double_wide_mlp": [True, False],
    "hidden_size_per_layer_input": [0, 8, 24],
    "moe_intermediate_size": [16, 40, 72],
    "shared_intermediate_size": [0, 40, 96],
    "shared_expert_intermediate_size": [16, 48],
    "num_experts": [2, 5, 12],
    "num_local_experts": [0, 2, 8],
    "num_experts_per_tok": [1, 2, 3],
    "norm_topk_prob": [True, False],
    "n_routed_experts": [3, 8, 12],
    "routed_scaling_factor": [1.0, 2.5],
    "moe_shared_expert_intermediate_size": [16, 72],
    "moe_latent_size": [32, 48, None],
    "moe_num_experts": [3, 8, 12],
    "moe_k": [1, 2, 3],
    "moe_topk": [1, 2, 3],
    "moe_num_shared_experts": [0, 1, 2],
    "moe_layer_start_index": [0, 1, 2],
    "moe_layer_end_index": [-1, 0, 2],
    "moe_layer_interval": [1, 2],
    "decoder_sparse_step": [1, 2],
    "mlp_only_layers": [[], [0], [1, 2]],
    "linear_conv_kernel_dim": [2, 3, 4],
    "linear_key_head_dim": [16, 32, 48],
    "linear_value_head_dim": [16, 24, 64],
    "linear_num_key_heads": [1, 2, 4],
    "linear_num_value_heads": [2, 4, 6],
    "position_embedding_type": ["rope", "nope"],
    "mamba_n_heads": [2, 4, 6, 8],
    "mamba_d_head": [16, 24, 32, "auto"],
    "mamba_d_state": [16, 20, 48, 128],
    "mamba_n_groups": [1, 2, 3],
    "mamba_d_conv": [2, 3, 4],
    "mamba_expand": [1, 2, 3],
    "mamba_d_ssm": [64, 96, 128, None],
    "mamba_conv_bias": [True, False],
    "mamba_proj_bias": [True, False],
    "mamba_rms_norm": [True, False],
    "mamba_norm_before_gate": [True, False],
    "key_multiplier": [0.3, 1.0],
    "ssm_in_multiplier": [0.5, 1.0],
    "ssm_out_multiplier": [0.5, 1.0],
    "attention_in_multiplier": [0.5, 1.0],
    "mlp_multipliers": [[0.5, 2.0], [1.0, 1.0], None],
    "ssm_multipliers": [[0.5, 2.0, 0.7, 1.5, 1.0], None],
    "mamba_num_heads": [2, 4, 6, 8],
    "mamba_head_dim": [16, 24, 48],
    "ssm_state_size": [16, 20, 48, 128],
    "n_groups": [1, 2, 3],
    "conv_kernel": [2, 3, 4],
    "use_conv_bias": [True, False],
    "layer_norm_epsilon": [1e-3, 1e-6],
    "kv_lora_rank": [16, 48, 80, 256],
    "q_lora_rank": [16, 24, 40, None],
    "qk_nope_head_dim": [8, 16, 24, 40, 64],
    "qk_rope_head_dim": [16, 32, 64],
    "v_head_dim": [16, 32, 48, 24],
    "n_group": [1, 2, 4],
    "topk_group": [1, 2],
    "topk_method": ["greedy", "group_limited_greedy"],
    "n_shared_experts": [1, 2, 3],
    "first_k_dense_replace": [0, 1, 2],
    "rope_interleave": [True, False],
    "mlp_layer_types": [None],
    "scale_emb": [1, 3.5],
    "scale_depth": [0.7, 1.4, None],
    "dim_model_base": [64, 150, None],
}

# Kinds of layers of a family that has others than windows and full attention.
LAYER_KINDS = {
    "lfm2": ["conv", "full_attention"],
    "lfm2_moe": ["conv", "full_attention"],
    "qwen3_5_text": ["linear_attention", "full_attention"],
    "qwen3_5_moe_text": ["linear_attention", "full_attention"],
    "qwen3_next": ["linear_attention", "full_attention"],
    "granitemoehybrid": ["mamba", "attention"],
}

# Keys that configurations of the Hub carry beside the declared ones.
EXTRAS = {
    "head_dim": [16, 32, 64],
    "rope_theta": [100.0, 10000.0, 1000000.0],
    "partial_rotary_factor": [0.25, 0.5, 0.75, 1.0],
    "global_head_dim": [16, 32, 64],
    "num_global_key_value_heads": [1, 2],
    "rope_local_base_freq": [500.0, 10000.0],
    "sliding_window_pattern": [1, 2, 3],
}

ROPE_SCALINGS = [
    None,
    {"rope_type": "default"},
    {"type": "linear", "factor": 3.0},
    {"rope_type": "dynamic", "factor": 2.0},
    LLAMA3,
    YARN,
    YARN_DETAILED,
    YARN_UNTRUNCATED,
    YARN_LATENT,
    {"type": "yarn", "factor": 2.0},
    longrope(8),
]


def draw(family: str, source: random.Random) -> dict:
    config = json.loads(json.dumps(source.choice(FAMILIES[family])["config"]))
    text = config.get("text_config", config)
    declared = AutoConfig.for_model(text["model_type"]).to_dict().keys() | {"head_dim"} & text.keys()
    known = {key: values for key, values in VALUES.items() if key in declared}
    extras = {key: values for key, values in EXTRAS.items() if key in text or source.random() < 0.1}
    # Sizes of a recurrent layer depend on each other, so fewer of them are drawn.
    share = 0.3 if len(known) < 30 else 0.15
    for key, values in {**known, **extras}.items():
        if source.random() < share:
            text[key] = source.choice(values)
    heads = text["num_attention_heads"]
    if "kv_lora_rank" in declared:
        text["num_key_value_heads"] = heads
    elif heads % (text["num_key_value_heads"] or heads) != 0:
        text["num_key_value_heads"] = source.choice([count for count in range(1, heads + 1) if heads % count == 0])
    if "rope_parameters" not in text and source.random() < 0.3:
        text["rope_scaling"] = source.choice(ROPE_SCALINGS)
    count = text["num_hidden_layers"]
    kinds = LAYER_KINDS.get(text["model_type"])
    if "hybrid_override_pattern" in text:
        if count != len(text["hybrid_override_pattern"]) or source.random() < 0.4:
            text["hybrid_override_pattern"] = "".join(source.choice("M-*E") for _ in range(count))
    elif kinds is not None or "layer_types" in declared and source.random() < 0.4:
        if kinds is None or count != len(text.get("layer_types") or []) or source.random() < 0.4:
            text["layer_types"] = [source.choice(kinds or ["full_attention", "sliding_attention"]) for _ in range(count)]
    elif len(text.get("layer_types") or []) != text["num_hidden_layers"]:
        text.pop("layer_types", None)
    # Two names of one number.
    if "num_experts" in text:
        text.pop("num_local_experts", None)
    # Transformers never ties these; the build refuses a stored head that differs from the embedding.
    if text["model_type"] == "nemotron_h":
        text["tie_word_embeddings"] = False
    if "text_config" in config:
        config["tie_word_embeddings"] = text["tie_word_embeddings"]
    return config


def write_folder(folder: pathlib.Path, config: dict, seed: int, length: int, saves: bool) -> None:
    write_checkpoint(folder, config, seed)
    if saves:
        AutoConfig.from_pretrained(folder).save_pretrained(folder)
    model = load_model(folder, config)
    tokens = seeded_tokens(seed, length, 60)
    logits = logits_of(model, tokens)
    if not (abs(logits) < 1e4).all():
        raise ValueError("the logits are too large to compare")
    expected = {"tokens": tokens, "logits": [round(float(value), 6) for value in logits.flatten()]}
    (folder / "expected.json").write_text(json.dumps(expected))


def main() -> None:
    family, count, seed, target = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    source = random.Random(f"{family} {seed}")
    for index in range(count):
        folder = target / f"{index:04}"
        config = draw(family, source)
        length = source.choice([1, 7, 40, 100])
        saves = source.random() < 0.5
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                write_folder(folder, config, seed + index, length, saves)
        except Exception as error:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"{index:04}: transformers refuses: {str(error).strip().splitlines()[-1][:150]}")


if __name__ == "__main__":
    main()
