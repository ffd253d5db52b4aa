"""The cases of the goldens: for each family (`model_type`), small configurations as config.json has them.

A case is a dictionary:
  name     what is special about it
  config   keys of config.json beside those of the family's base
  prompts  lengths of the prompts, in tokens (default: one of 40)

Every base has grouped heads and windows and original context lengths that prompts of 40 tokens exceed.
"""

PROMPTS = [40]

LLAMA = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 96,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
}

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}

YARN_DETAILED = {
    "type": "yarn",
    "factor": 8.0,
    "original_max_position_embeddings": 16,
    "beta_fast": 16,
    "beta_slow": 2,
    "attention_factor": 1.3,
}

YARN_UNTRUNCATED = {**YARN, "truncate": False, "mscale": 0.8, "mscale_all_dim": 0.5}

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}

WINDOW = 12


def case(name: str, prompts: list = PROMPTS, **config) -> dict:
    return {"name": name, "config": config, "prompts": prompts}


def cases_of(base: dict, *cases: dict) -> list:
    return [{**entry, "config": {**base, **entry["config"]}} for entry in cases]


def without(base: dict, *keys: str) -> dict:
    return {key: value for key, value in base.items() if key not in keys}


def layers(pattern: str) -> list:
    """Layer types: S for a sliding window, F for full attention."""
    return [{"S": "sliding_attention", "F": "full_attention"}[letter] for letter in pattern]


LLAMA_CASES = cases_of(
    {"model_type": "llama", **LLAMA},
    case("separate head"),
    case("tied", tie_word_embeddings=True),
    case("biases everywhere, one key head", attention_bias=True, mlp_bias=True, num_key_value_heads=1),
    case("heads wider than hidden size over heads, as many key heads", head_dim=32, num_key_value_heads=4, rms_norm_eps=1e-6),
    case(
        "sizes that are not multiples of 32",
        head_dim=48, hidden_size=80, intermediate_size=112, num_attention_heads=5, num_key_value_heads=1,
    ),
    case("linear rope scaling", rope_scaling={"type": "linear", "factor": 4.0}),
    case("llama3 rope scaling", rope_scaling=LLAMA3, rope_theta=500000.0, head_dim=32),
    case("yarn rope scaling", rope_scaling=YARN, head_dim=32),
)

QWEN2 = {"model_type": "qwen2", **LLAMA, "rope_theta": 1000000.0, "rms_norm_eps": 1e-6}
QWEN2_CASES = cases_of(
    QWEN2,
    case("separate head"),
    case("tied", tie_word_embeddings=True),
    case("yarn rope scaling", rope_scaling=YARN, rope_theta=10000.0),
    case("window from the third layer on", use_sliding_window=True, sliding_window=WINDOW, max_window_layers=2),
)

QWEN3 = {"model_type": "qwen3", **LLAMA, "head_dim": 32, "rope_theta": 1000000.0, "rms_norm_eps": 1e-6}
QWEN3_CASES = cases_of(
    QWEN3,
    case("separate head"),
    case("tied", tie_word_embeddings=True),
    case("biases", attention_bias=True),
    case("yarn rope scaling", rope_scaling=YARN, rope_theta=10000.0),
    case("yarn rope scaling, all its settings", rope_scaling=YARN_DETAILED, rope_theta=10000.0),
    case("window from the third layer on", use_sliding_window=True, sliding_window=WINDOW, max_window_layers=2),
)

MISTRAL = {"model_type": "mistral", **LLAMA, "sliding_window": None}
MISTRAL_CASES = cases_of(
    MISTRAL,
    case("no window, heads narrower than hidden size over heads", hidden_size=96, head_dim=16),
    case("window", sliding_window=WINDOW),
    case("window, tied", sliding_window=WINDOW, tie_word_embeddings=True, head_dim=32),
    case("yarn rope scaling", rope_scaling=YARN, head_dim=32),
)

MINISTRAL3_ROPE = {
    "type": "yarn",
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 16,
    "max_position_embeddings": 256,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "llama_4_scaling_beta": 0.4,
}
MINISTRAL3 = {
    "model_type": "ministral3",
    **without(LLAMA, "rope_theta"),
    "head_dim": 32,
    "sliding_window": None,
    "rope_parameters": MINISTRAL3_ROPE,
}
MINISTRAL3_CASES = cases_of(
    MINISTRAL3,
    case("separate head"),
    case("tied", tie_word_embeddings=True),
    case("window, attention factor from mscale", sliding_window=WINDOW, rope_parameters={**MINISTRAL3_ROPE, "mscale_all_dim": 0.5}),
)

PIXTRAL = {
    "model_type": "pixtral",
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "head_dim": 16,
    "image_size": 28,
    "patch_size": 14,
}
MISTRAL3 = {
    "model_type": "mistral3",
    "architectures": ["Mistral3ForConditionalGeneration"],
    "image_token_index": 10,
    "spatial_merge_size": 2,
    "vision_config": PIXTRAL,
    "tie_word_embeddings": False,
}
MISTRAL3_CASES = cases_of(
    MISTRAL3,
    case("text model ministral3", text_config=MINISTRAL3),
    case("text model ministral3, tied", text_config={**MINISTRAL3, "tie_word_embeddings": True}, tie_word_embeddings=True),
    case("text model mistral", text_config={**MISTRAL, "head_dim": 32}),
)

GEMMA = {
    "model_type": "gemma",
    **without(LLAMA, "hidden_act", "rms_norm_eps"),
    "head_dim": 32,
    "rms_norm_eps": 1e-6,
    "hidden_activation": "gelu_pytorch_tanh",
    "tie_word_embeddings": True,
}
GEMMA_CASES = cases_of(
    without(GEMMA, "hidden_activation"),
    case("tied", hidden_act="gelu_pytorch_tanh"),
    case("one key head, biases", hidden_act="gelu_pytorch_tanh", num_key_value_heads=1, attention_bias=True),
    case("activation by its older key", hidden_act="gelu", hidden_activation=None),
)

GEMMA2 = {
    **GEMMA,
    "model_type": "gemma2",
    "query_pre_attn_scalar": 24,
    "sliding_window": WINDOW,
    "attn_logit_softcapping": 2.0,
    "final_logit_softcapping": 3.0,
}
GEMMA2_CASES = cases_of(
    GEMMA2,
    case("windows in every second layer, both caps"),
    case("no caps", attn_logit_softcapping=None, final_logit_softcapping=None),
    case("layer types, biases, separate head", layer_types=layers("FSSF"), attention_bias=True, tie_word_embeddings=False),
)

GEMMA3 = {
    **GEMMA,
    "model_type": "gemma3_text",
    "num_hidden_layers": 6,
    "query_pre_attn_scalar": 24,
    "sliding_window": WINDOW,
    "rope_theta": 1000000.0,
    "rope_local_base_freq": 10000.0,
}
GEMMA3_PARAMETERS = {
    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
}
GEMMA3_CASES = cases_of(
    GEMMA3,
    case("window but every sixth layer"),
    case("linear rope scaling of full layers", rope_scaling={"rope_type": "linear", "factor": 8.0}, sliding_window_pattern=3),
    case("rope settings per layer type", rope_parameters=GEMMA3_PARAMETERS, layer_types=layers("SSFSSF")),
    case("both caps, biases", attn_logit_softcapping=2.0, final_logit_softcapping=3.0, attention_bias=True),
)
SIGLIP = {
    "model_type": "siglip_vision_model",
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
    "vision_use_head": False,
}
GEMMA3_WRAPPER_CASES = cases_of(
    {
        "model_type": "gemma3",
        "architectures": ["Gemma3ForConditionalGeneration"],
        "vision_config": SIGLIP,
        "mm_tokens_per_image": 4,
        "image_token_index": 94,
        "boi_token_index": 92,
        "eoi_token_index": 93,
    },
    case("linear rope scaling of full layers", text_config={**GEMMA3, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}),
    case("rope settings per layer type", text_config={**GEMMA3, "rope_parameters": GEMMA3_PARAMETERS}),
)

GEMMA4 = {
    "model_type": "gemma4_text",
    **without(GEMMA, "model_type", "rope_theta"),
    "num_hidden_layers": 6,
    "head_dim": 16,
    "global_head_dim": 32,
    "sliding_window": WINDOW,
    "layer_types": layers("SSFSSF"),
    "hidden_size_per_layer_input": 0,
    "final_logit_softcapping": 3.0,
    "rope_parameters": {
        "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1000000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    },
}
GEMMA4_E = {**GEMMA4, "hidden_size_per_layer_input": 16, "vocab_size_per_layer_input": 96}
GEMMA4_CASES = cases_of(
    GEMMA4,
    case("dense, wide heads in full layers"),
    case(
        "dense, values are keys in full layers",
        attention_k_eq_v=True, num_global_key_value_heads=1, num_attention_heads=4, num_key_value_heads=2,
    ),
    case("per-layer inputs", **{key: GEMMA4_E[key] for key in ("hidden_size_per_layer_input", "vocab_size_per_layer_input")}),
    case(
        "per-layer inputs, keys and values of earlier layers, wide feed-forward there",
        **{key: GEMMA4_E[key] for key in ("hidden_size_per_layer_input", "vocab_size_per_layer_input")},
        num_kv_shared_layers=3, use_double_wide_mlp=True,
    ),
    case("rotations that config.json leaves out", rope_parameters=None),
)
GEMMA4_VISION = {
    "model_type": "gemma4_vision",
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "patch_size": 4,
    "position_embedding_size": 16,
}
GEMMA4_WRAPPER_CASES = cases_of(
    {
        "model_type": "gemma4",
        "architectures": ["Gemma4ForConditionalGeneration"],
        "vision_config": GEMMA4_VISION,
        "audio_config": None,
        "image_token_id": 94,
        "video_token_id": 91,
        "audio_token_id": 90,
        "boi_token_id": 92,
        "eoi_token_id": 93,
        "boa_token_id": 89,
        "eoa_token_index": 88,
    },
    case("dense", text_config=GEMMA4),
    case("per-layer inputs, keys and values of earlier layers", text_config={**GEMMA4_E, "num_kv_shared_layers": 3}),
)

PHI3 = {
    "model_type": "phi3",
    **LLAMA,
    "sliding_window": None,
    "original_max_position_embeddings": 256,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 2,
}


def longrope(count: int, **more) -> dict:
    """Factors for `count` frequencies, growing."""
    return {
        "type": "longrope",
        "short_factor": [round(1 + 0.05 * i, 2) for i in range(count)],
        "long_factor": [round(1.5 + 0.75 * i, 2) for i in range(count)],
        **more,
    }


# 84 tokens: a prompt of 24 and 48 more stay below, one of 90 is above.
PHI3_LENGTHS = {"original_max_position_embeddings": 84, "max_position_embeddings": 672}
PHI3_CASES = cases_of(
    PHI3,
    case("plain"),
    case("tied, all heads have keys", tie_word_embeddings=True, num_key_value_heads=4),
    case("rotation of three quarters", partial_rotary_factor=0.75, hidden_size=128, num_attention_heads=2, num_key_value_heads=1),
    case("window", sliding_window=WINDOW),
    case("longrope, short and long prompts", [24, 90], rope_scaling=longrope(8), **PHI3_LENGTHS),
    case(
        "longrope on three quarters, attention factor",
        [24, 90],
        rope_scaling=longrope(24, attention_factor=1.2), partial_rotary_factor=0.75,
        hidden_size=128, num_attention_heads=2, num_key_value_heads=1, **PHI3_LENGTHS,
    ),
    case("longrope, window", [24, 90], rope_scaling=longrope(8), sliding_window=WINDOW, **PHI3_LENGTHS),
)

SMOLLM3 = {
    "model_type": "smollm3",
    **LLAMA,
    "tie_word_embeddings": True,
    "bos_token_id": None,
    "eos_token_id": 1,
    "pad_token_id": 1,
}
SMOLLM3_CASES = cases_of(
    SMOLLM3,
    case("no rotation in every fourth layer"),
    case("layers listed, biases, separate head", no_rope_layers=[1, 0, 0, 1], attention_bias=True, mlp_bias=True, tie_word_embeddings=False),
    case("interval of two, yarn", no_rope_layer_interval=2, rope_scaling=YARN),
    case("windows where nothing is rotated", use_sliding_window=True, sliding_window=WINDOW, no_rope_layer_interval=2),
)

GRANITE = {
    "model_type": "granite",
    **LLAMA,
    "embedding_multiplier": 6.0,
    "attention_multiplier": 0.4,
    "residual_multiplier": 0.5,
    "logits_scaling": 0.8,
}
GRANITE_CASES = cases_of(
    GRANITE,
    case("four multipliers"),
    case("tied, biases", tie_word_embeddings=True, attention_bias=True, mlp_bias=True),
    case("multipliers of one", embedding_multiplier=1.0, residual_multiplier=1.0, logits_scaling=1.0, attention_multiplier=0.25),
)

OLMO2 = {"model_type": "olmo2", **LLAMA, "pad_token_id": 1, "eos_token_id": 1}
OLMO2_CASES = cases_of(
    OLMO2,
    case("separate head"),
    case("tied, all heads have keys", tie_word_embeddings=True, num_key_value_heads=4),
    case("linear rope scaling, biases", rope_scaling={"rope_type": "linear", "factor": 2.0}, attention_bias=True),
)

OLMO3 = {**OLMO2, "model_type": "olmo3", "sliding_window": WINDOW, "rope_theta": 500_000.0}
OLMO3_CASES = cases_of(
    OLMO3,
    case("windows but every fourth layer"),
    case("yarn in full layers", rope_scaling=YARN),
    case("layer types, tied", layer_types=layers("FSFS"), tie_word_embeddings=True),
)

GLM4 = {
    "model_type": "glm4",
    **LLAMA,
    "head_dim": 32,
    "attention_bias": True,
    "partial_rotary_factor": 0.5,
    "eos_token_id": [1, 2],
    "pad_token_id": 1,
}
GLM4_CASES = cases_of(
    GLM4,
    case("biases, half of each head is rotated"),
    case("no biases, tied", attention_bias=False, tie_word_embeddings=True),
    case("whole heads are rotated", partial_rotary_factor=1.0),
)

COHERE2 = {
    "model_type": "cohere2",
    **without(LLAMA, "rms_norm_eps"),
    "layer_norm_eps": 1e-5,
    "logit_scale": 0.75,
    "sliding_window": WINDOW,
    "tie_word_embeddings": True,
    "bos_token_id": 5,
    "eos_token_id": 6,
    "pad_token_id": 0,
}
COHERE2_CASES = cases_of(
    COHERE2,
    case("windows but every fourth layer"),
    case("pattern of two, biases", sliding_window_pattern=2, attention_bias=True),
    case("layer types, separate head", layer_types=layers("FSSF"), tie_word_embeddings=False),
)

ERNIE = {"model_type": "ernie4_5", **LLAMA, "head_dim": 32, "rope_theta": 500000.0, "tie_word_embeddings": True, "use_bias": False}
ERNIE_CASES = cases_of(ERNIE, case("tied"), case("biases, separate head", use_bias=True, tie_word_embeddings=False))

ERNIE_MOE = {
    **ERNIE,
    "model_type": "ernie4_5_moe",
    "moe_intermediate_size": 40,
    "moe_num_experts": 12,
    "moe_k": 3,
    "moe_num_shared_experts": 2,
    "moe_layer_start_index": 1,
    "moe_layer_end_index": -1,
    "moe_layer_interval": 1,
}
ERNIE_MOE_CASES = cases_of(
    ERNIE_MOE,
    case("softmax with a bias, an ordinary first layer, two shared experts", prompts=[1, 40, 170]),
    case("every second layer but the last, nothing shared", moe_num_shared_experts=0, moe_layer_interval=2, moe_layer_end_index=2, tie_word_embeddings=False),
)

HUNYUAN = {
    "model_type": "hunyuan_v1_dense",
    **LLAMA,
    "head_dim": 32,
    "use_qk_norm": True,
    "rope_scaling": {
        "type": "dynamic",
        "alpha": 40.0,
        "factor": 1.0,
        "beta_fast": 32,
        "beta_slow": 1,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
    },
    "eos_token_id": 2,
    "pad_token_id": 3,
}
HUNYUAN_CASES = cases_of(
    HUNYUAN,
    case("stretched rope base"),
    case("tied, biases, no scaling", tie_word_embeddings=True, attention_bias=True, rope_scaling=None),
)

HUNYUAN_MOE = {**HUNYUAN, "model_type": "hunyuan_v1_moe", "num_experts": 12, "moe_topk": 3}
HUNYUAN_MOE_CASES = cases_of(
    HUNYUAN_MOE,
    case("a shared expert, stretched rope base", prompts=[1, 40, 170]),
    case("numbers for each layer, biases, tied", moe_topk=[2, 2, 2, 2], attention_bias=True, tie_word_embeddings=True, rope_scaling=None),
)

EXAONE4 = {"model_type": "exaone4", **LLAMA, "sliding_window": WINDOW, "sliding_window_pattern": 4}
EXAONE4_CASES = cases_of(
    EXAONE4,
    case("windows, nothing is rotated in every fourth layer"),
    case("no windows, tied", sliding_window=None, sliding_window_pattern=None, layer_types=layers("FFFF"), tie_word_embeddings=True),
    case("llama3 rope scaling, layer types", layer_types=layers("SFSF"), rope_scaling=LLAMA3, head_dim=32),
)

SEED_OSS = {"model_type": "seed_oss", **LLAMA, "head_dim": 32, "attention_bias": True, "attention_out_bias": False, "mlp_bias": False}
SEED_OSS_CASES = cases_of(
    SEED_OSS,
    case("biases on queries, keys and values"),
    case("biases everywhere, tied", attention_out_bias=True, mlp_bias=True, tie_word_embeddings=True),
    case("no biases", attention_bias=False),
)

ARCEE = {"model_type": "arcee", **LLAMA, "hidden_act": "relu2"}
ARCEE_CASES = cases_of(
    ARCEE,
    case("squared relu"),
    case("biases, tied", attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
    case("yarn rope scaling", rope_scaling=YARN, head_dim=32),
)

NEMOTRON = {
    "model_type": "nemotron",
    **without(LLAMA, "rms_norm_eps"),
    "norm_eps": 1e-5,
    "hidden_act": "relu2",
    "head_dim": 32,
    "partial_rotary_factor": 0.5,
}
NEMOTRON_CASES = cases_of(
    NEMOTRON,
    case("layer norms around one, half of each head is rotated"),
    case("biases, tied, whole heads are rotated", attention_bias=True, mlp_bias=True, tie_word_embeddings=True, partial_rotary_factor=1.0),
    case("heads as wide as the hidden size over their number", num_attention_heads=2, num_key_value_heads=1),
)

STARCODER2 = {
    "model_type": "starcoder2",
    **without(LLAMA, "rms_norm_eps"),
    "norm_epsilon": 1e-5,
    "hidden_act": "gelu_pytorch_tanh",
    "use_bias": True,
    "sliding_window": None,
    "tie_word_embeddings": True,
}
STARCODER2_CASES = cases_of(
    STARCODER2,
    case("tied, biases"),
    case("window, separate head", sliding_window=WINDOW, tie_word_embeddings=False),
    case("no biases", use_bias=False),
)

MIXTRAL = {"model_type": "mixtral", **LLAMA, "num_local_experts": 6, "num_experts_per_tok": 2, "sliding_window": None}
# Prompts of one token, and of more rows than all experts together take at once.
MIXTRAL_CASES = cases_of(
    MIXTRAL,
    case("two of six experts", prompts=[1, 40, 150]),
    case("window, tied, one of three experts", sliding_window=WINDOW, tie_word_embeddings=True, num_local_experts=3, num_experts_per_tok=1),
)

OLMOE = {"model_type": "olmoe", **LLAMA, "intermediate_size": 48, "num_experts": 16, "num_experts_per_tok": 4, "eos_token_id": 1}
OLMOE_CASES = cases_of(
    OLMOE,
    case("scores of all experts", prompts=[1, 40, 200]),
    case("scores of the chosen experts, biases", norm_topk_prob=True, attention_bias=True),
    case("all experts, tied", num_experts=4, tie_word_embeddings=True),
)

QWEN3_MOE = {
    "model_type": "qwen3_moe",
    **LLAMA,
    "head_dim": 32,
    "moe_intermediate_size": 40,
    "num_experts": 12,
    "num_experts_per_tok": 3,
    "norm_topk_prob": True,
    "rms_norm_eps": 1e-6,
}
QWEN3_MOE_CASES = cases_of(
    QWEN3_MOE,
    case("scores of the chosen experts", prompts=[1, 40, 170]),
    case("experts in every second layer", decoder_sparse_step=2, tie_word_embeddings=True),
    case("an ordinary layer, scores of all experts, yarn", mlp_only_layers=[1], norm_topk_prob=False, rope_scaling=YARN),
    case("window", use_sliding_window=True, sliding_window=WINDOW, attention_bias=True),
)

GRANITEMOE = {**GRANITE, "model_type": "granitemoe", "intermediate_size": 40, "num_local_experts": 8, "num_experts_per_tok": 3}
GRANITEMOE_CASES = cases_of(
    GRANITEMOE,
    case("stacked experts, four multipliers", prompts=[1, 40, 150]),
    case("no multipliers, biases", embedding_multiplier=1.0, residual_multiplier=1.0, logits_scaling=1.0, attention_bias=True),
)

GRANITEMOESHARED_CASES = cases_of(
    {**GRANITEMOE, "model_type": "granitemoeshared"},
    case("an expert that all tokens share", shared_intermediate_size=48, prompts=[1, 40, 150]),
    case("no shared expert, no multipliers, biases",
        embedding_multiplier=1.0, residual_multiplier=1.0, logits_scaling=1.0, attention_bias=True),
)

QWEN2_MOE = {
    "model_type": "qwen2_moe",
    **LLAMA,
    "moe_intermediate_size": 40,
    "shared_expert_intermediate_size": 80,
    "num_experts": 12,
    "num_experts_per_tok": 3,
    "rms_norm_eps": 1e-6,
}
QWEN2_MOE_CASES = cases_of(
    QWEN2_MOE,
    case("scores of all experts, a shared expert", prompts=[1, 40, 170]),
    case("scores of the chosen experts, single ordinary layers", norm_topk_prob=True, mlp_only_layers=[2], decoder_sparse_step=2),
    case("no biases, windows in every second layer, tied",
        qkv_bias=False, use_sliding_window=True, sliding_window=WINDOW, max_window_layers=3, tie_word_embeddings=True),
)

GLM4_MOE = {
    "model_type": "glm4_moe",
    **LLAMA,
    "head_dim": 32,
    "moe_intermediate_size": 40,
    "n_routed_experts": 12,
    "n_shared_experts": 1,
    "num_experts_per_tok": 3,
    "first_k_dense_replace": 1,
    "routed_scaling_factor": 1.5,
    "partial_rotary_factor": 0.5,
    "attention_bias": True,
}
GLM4_MOE_CASES = cases_of(
    GLM4_MOE,
    case("sigmoids with a bias, an ordinary first layer", prompts=[1, 40, 170]),
    case("norms of heads, two shared experts, no biases", use_qk_norm=True, n_shared_experts=2, attention_bias=False, first_k_dense_replace=0),
    case("scores as they are, tied", norm_topk_prob=False, tie_word_embeddings=True, routed_scaling_factor=1.0),
    case("groups of experts", n_group=4, topk_group=2),
)

LFM2 = {
    "model_type": "lfm2",
    **without(LLAMA, "rms_norm_eps", "hidden_act", "rope_theta"),
    "norm_eps": 1e-5,
    "max_position_embeddings": 512,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
    "conv_L_cache": 3,
    "block_auto_adjust_ff_dim": False,
    "layer_types": ["conv", "conv", "full_attention", "conv"],
}
LFM2_CASES = cases_of(
    LFM2,
    case("tied", tie_word_embeddings=True, prompts=[1, 300, 40]),
    case("separate head, biases of convolutions, kernel of 4", conv_bias=True, conv_L_cache=4),
    case("adjusted intermediate size", block_auto_adjust_ff_dim=True, block_multiple_of=32, block_ffn_dim_multiplier=1.3),
    case("attention last, layers by their index", layer_types=None, full_attn_idxs=[1, 3]),
)

LFM2_MOE = {
    **LFM2,
    "model_type": "lfm2_moe",
    "moe_intermediate_size": 40,
    "num_dense_layers": 1,
    "num_experts": 12,
    "num_experts_per_tok": 3,
}
del LFM2_MOE["block_auto_adjust_ff_dim"]
LFM2_MOE_CASES = cases_of(
    LFM2_MOE,
    case("sigmoids with a bias, tied", tie_word_embeddings=True, prompts=[1, 300, 40]),
    case("no bias, scores as they are, factor, separate head", use_expert_bias=False, norm_topk_prob=False, routed_scaling_factor=1.5, conv_bias=True),
    case("experts in all layers, attention first", num_dense_layers=0, layer_types=["full_attention", "conv", "full_attention", "conv"]),
)

QWEN3_5_TEXT = {
    "model_type": "qwen3_5_text",
    **without(LLAMA, "rope_theta"),
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 512,
    "head_dim": 64,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000000.0,
        "partial_rotary_factor": 0.25,
        "mrope_interleaved": True,
        "mrope_section": [3, 3, 2],
    },
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 32,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}
QWEN3_5_TEXT_CASES = cases_of(
    QWEN3_5_TEXT,
    case("separate head", prompts=[1, 300, 40]),
    case("tied, as many heads of keys as of values", tie_word_embeddings=True, linear_num_key_heads=4),
    case("heads of different sizes, biases, attention first",
        linear_key_head_dim=16, linear_value_head_dim=48, attention_bias=True,
        layer_types=["full_attention", "linear_attention", "full_attention", "linear_attention"]),
)

QWEN3_5 = {
    "model_type": "qwen3_5",
    "text_config": QWEN3_5_TEXT,
    "vision_config": {
        "depth": 1, "hidden_size": 32, "intermediate_size": 32, "num_heads": 2, "patch_size": 14,
        "out_hidden_size": 64, "num_position_embeddings": 16,
    },
    "image_token_id": 90, "video_token_id": 91, "vision_start_token_id": 92, "vision_end_token_id": 93,
    "tie_word_embeddings": False,
}
QWEN3_5_CASES = [case("text part of a wrapper", **QWEN3_5)]

QWEN3_5_MOE_TEXT = {
    **without(QWEN3_5_TEXT, "intermediate_size"),
    "model_type": "qwen3_5_moe_text",
    "moe_intermediate_size": 40,
    "shared_expert_intermediate_size": 48,
    "num_experts": 12,
    "num_experts_per_tok": 3,
}
QWEN3_5_MOE_TEXT_CASES = cases_of(
    QWEN3_5_MOE_TEXT,
    case("separate head", prompts=[1, 300, 40]),
    case("attention in every second layer, biases, heads of different sizes",
        full_attention_interval=2, attention_bias=True, linear_key_head_dim=16, linear_value_head_dim=48),
)
QWEN3_NEXT = {
    **QWEN3_5_MOE_TEXT,
    "model_type": "qwen3_next",
    "intermediate_size": 96,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000000.0, "partial_rotary_factor": 0.25},
}
QWEN3_NEXT_CASES = cases_of(
    QWEN3_NEXT,
    case("separate head", prompts=[1, 300, 40]),
    case("an ordinary layer, heads of different sizes, tied",
        mlp_only_layers=[1], norm_topk_prob=False, linear_key_head_dim=16, linear_value_head_dim=48, linear_num_value_heads=6, tie_word_embeddings=True),
)
QWEN3_5_MOE_CASES = [
    case("text part of a wrapper", **{**QWEN3_5, "model_type": "qwen3_5_moe", "text_config": QWEN3_5_MOE_TEXT}),
]
GRANITEMOEHYBRID = {
    **GRANITE,
    "model_type": "granitemoehybrid",
    "max_position_embeddings": 512,
    "num_local_experts": 0,
    "num_experts_per_tok": 0,
    "shared_intermediate_size": 96,
    "position_embedding_type": "nope",
    "mamba_n_heads": 8,
    "mamba_d_head": 16,
    "mamba_d_state": 32,
    "mamba_n_groups": 1,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
    "mamba_chunk_size": 16,
    "layer_types": ["mamba", "mamba", "attention", "mamba"],
}
GRANITEMOEHYBRID_CASES = cases_of(
    GRANITEMOEHYBRID,
    case("dense, tied", tie_word_embeddings=True, prompts=[1, 300, 40]),
    case("two groups, biases, rotation, attention first", mamba_n_groups=2, mamba_proj_bias=True, mamba_conv_bias=False,
        attention_bias=True, position_embedding_type="rope", layer_types=["full_attention", "linear_attention"] * 2),
    case("experts and a shared MLP", intermediate_size=40, num_local_experts=8, num_experts_per_tok=3),
)

FALCON_H1 = {
    "model_type": "falcon_h1",
    **LLAMA,
    "max_position_embeddings": 512,
    "head_dim": 32,
    "mamba_d_ssm": 96,
    "mamba_n_heads": 6,
    "mamba_d_head": 16,
    "mamba_d_state": 32,
    "mamba_n_groups": 1,
    "mamba_d_conv": 4,
    "mamba_chunk_size": 16,
    "mamba_rms_norm": False,
    "embedding_multiplier": 5.5,
    "lm_head_multiplier": 0.9,
    "key_multiplier": 0.7,
    "attention_in_multiplier": 1.2,
    "attention_out_multiplier": 0.8,
    "ssm_in_multiplier": 1.3,
    "ssm_out_multiplier": 0.6,
    "ssm_multipliers": [0.8, 1.25, 0.9, 1.1, 0.7],
    "mlp_multipliers": [0.85, 1.3],
}
FALCON_H1_CASES = cases_of(
    FALCON_H1,
    case("gate alone, all multipliers", prompts=[1, 300, 40]),
    case("norm in front of the gate, two groups", mamba_rms_norm=True, mamba_n_groups=2, tie_word_embeddings=True),
    case("norm behind the gate, width by the factor, no multipliers", mamba_rms_norm=True, mamba_norm_before_gate=False, mamba_d_ssm=None,
        mamba_expand=2, mamba_n_heads=4, mamba_d_head="auto", ssm_multipliers=None, mlp_multipliers=None, mamba_conv_bias=False),
)

NEMOTRON_H = {
    "model_type": "nemotron_h",
    **without(LLAMA, "rms_norm_eps", "hidden_act", "rope_theta", "num_hidden_layers"),
    "max_position_embeddings": 512,
    "num_hidden_layers": 6,
    "head_dim": 32,
    "layer_norm_epsilon": 1e-5,
    "mamba_num_heads": 8,
    "mamba_head_dim": 16,
    "ssm_state_size": 32,
    "n_groups": 2,
    "conv_kernel": 4,
    "chunk_size": 16,
    "hybrid_override_pattern": "M-M*-M",
}
NEMOTRON_H_EXPERTS = {
    "hybrid_override_pattern": "MEM*EM",
    "n_routed_experts": 12,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "num_experts_per_tok": 3,
    "norm_topk_prob": True,
    "moe_intermediate_size": 40,
    "moe_shared_expert_intermediate_size": 72,
    "routed_scaling_factor": 2.5,
}
NEMOTRON_H_CASES = cases_of(
    NEMOTRON_H,
    case("separate head, Mamba-2 last", prompts=[1, 300, 40]),
    case("MLP first and last, biases, one group", hybrid_override_pattern="-MM*M-", n_groups=1, use_bias=True, mlp_bias=True, use_conv_bias=False),
    case("attention last, heads of 48", hybrid_override_pattern="M-M-*", num_hidden_layers=5, mamba_head_dim=48, mamba_num_heads=4),
    case("experts by sigmoids with a bias, a shared one", prompts=[1, 40, 170], **NEMOTRON_H_EXPERTS),
    case("experts first, beside an MLP, scores as they are", **{**NEMOTRON_H_EXPERTS, "hybrid_override_pattern": "EM-*ME", "norm_topk_prob": False}),
    case("experts of a latent size", **NEMOTRON_H_EXPERTS, moe_latent_size=48),
    case("groups of experts", **{**NEMOTRON_H_EXPERTS, "n_group": 3, "topk_group": 2}),
)

GPT_OSS_YARN = {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False, "original_max_position_embeddings": 16}
GPT_OSS = {
    "model_type": "gpt_oss",
    **without(LLAMA, "rope_theta"),
    "head_dim": 32,
    "intermediate_size": 48,
    "num_local_experts": 8,
    "num_experts_per_tok": 3,
    "sliding_window": WINDOW,
    "swiglu_limit": 1.5,
    "attention_bias": True,
    "rope_theta": 150000.0,
    "rope_scaling": GPT_OSS_YARN,
    "pad_token_id": 1,
    "eos_token_id": 2,
}
GPT_OSS_CASES = cases_of(
    GPT_OSS,
    case("sinks, windows in every second layer, clamped gates", prompts=[1, 40, 200]),
    case("layer types, no biases of attention, tied", attention_bias=False, tie_word_embeddings=True, layer_types=layers("FSSF")),
    case("limit of the published models", swiglu_limit=7.0),
    case("rotation that config.json leaves out", rope_scaling=None),
)

# Heads of 16 plain and 16 rotated channels, whose keys are latent rows of 32.
LATENT = {
    **LLAMA,
    "num_key_value_heads": 4,
    "kv_lora_rank": 32,
    "q_lora_rank": 24,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 16,
    "v_head_dim": 16,
}
LATENT_EXPERTS = {
    "moe_intermediate_size": 40,
    "n_routed_experts": 12,
    "n_shared_experts": 1,
    "num_experts_per_tok": 3,
    "first_k_dense_replace": 1,
    "routed_scaling_factor": 1.5,
}
YARN_LATENT = {"type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16, "mscale": 0.7, "mscale_all_dim": 0.9}

DEEPSEEK_V2 = {"model_type": "deepseek_v2", **LATENT, **LATENT_EXPERTS, "q_lora_rank": None, "n_shared_experts": 2, "max_position_embeddings": 512}
DEEPSEEK_V2_CASES = cases_of(
    DEEPSEEK_V2,
    case("one matrix of queries, yarn of scores and rotation", prompts=[1, 300, 40], rope_scaling=YARN_LATENT),
    case("latent queries, groups of experts", q_lora_rank=40, topk_method="group_limited_greedy", n_group=4, topk_group=2, tie_word_embeddings=True),
    case("experts in all layers, other sizes of heads", first_k_dense_replace=0, qk_nope_head_dim=40, v_head_dim=48, kv_lora_rank=80, qk_rope_head_dim=32),
)

DEEPSEEK_V3 = {"model_type": "deepseek_v3", **LATENT, **LATENT_EXPERTS, "n_group": 4, "topk_group": 2}
DEEPSEEK_V3_CASES = cases_of(
    {**DEEPSEEK_V3, "max_position_embeddings": 512},
    case("groups of experts by sigmoids with a bias, yarn", prompts=[1, 300, 40], rope_scaling={**YARN_LATENT, "mscale": 0.9}),
    case("all experts in one group, one matrix of queries, pairs half a head apart", n_group=1, topk_group=1, q_lora_rank=None, rope_interleave=False),
    case("scores as they are, tied, three shared experts", norm_topk_prob=False, tie_word_embeddings=True, n_shared_experts=3, first_k_dense_replace=2),
    case("settings of yarn that the default type does not read", rope_scaling={**YARN_LATENT, "type": "default"}),
)

GLM4_MOE_LITE = {
    "model_type": "glm4_moe_lite",
    **LATENT,
    **without(LATENT_EXPERTS, "first_k_dense_replace"),
    "max_position_embeddings": 512,
    "qk_nope_head_dim": 48,
    "v_head_dim": 64,
    "rms_norm_eps": 1e-3,
}
GLM4_MOE_LITE_CASES = cases_of(
    GLM4_MOE_LITE,
    case("an ordinary first layer", prompts=[1, 300, 40]),
    case("ordinary layers between, yarn", mlp_layer_types=["sparse", "dense", "sparse", "dense"], rope_parameters={**YARN, "rope_theta": 10000.0, "mscale_all_dim": 1.0}, rope_theta=None),
)

MINICPM3 = {"model_type": "minicpm3", **without(LATENT, "tie_word_embeddings"), "max_position_embeddings": 512, "scale_emb": 3, "scale_depth": 1.4, "dim_model_base": 96}
MINICPM3_CASES = cases_of(
    MINICPM3,
    case("tied by default", prompts=[1, 300, 40]),
    case("short and long factors, one matrix of queries", [24, 90], rope_scaling=longrope(8, original_max_position_embeddings=84), max_position_embeddings=672, q_lora_rank=None, v_head_dim=None, scale_depth=None, dim_model_base=None, scale_emb=2, tie_word_embeddings=False),
)

FAMILIES = {
    "llama": LLAMA_CASES,
    "qwen2": QWEN2_CASES,
    "qwen3": QWEN3_CASES,
    "mistral": MISTRAL_CASES,
    "ministral3": MINISTRAL3_CASES,
    "mistral3": MISTRAL3_CASES,
    "gemma": GEMMA_CASES,
    "gemma2": GEMMA2_CASES,
    "gemma3_text": GEMMA3_CASES,
    "gemma3": GEMMA3_WRAPPER_CASES,
    "gemma4_text": GEMMA4_CASES,
    "gemma4": GEMMA4_WRAPPER_CASES,
    "phi3": PHI3_CASES,
    "smollm3": SMOLLM3_CASES,
    "granite": GRANITE_CASES,
    "olmo2": OLMO2_CASES,
    "olmo3": OLMO3_CASES,
    "glm4": GLM4_CASES,
    "cohere2": COHERE2_CASES,
    "ernie4_5": ERNIE_CASES,
    "hunyuan_v1_dense": HUNYUAN_CASES,
    "exaone4": EXAONE4_CASES,
    "seed_oss": SEED_OSS_CASES,
    "arcee": ARCEE_CASES,
    "nemotron": NEMOTRON_CASES,
    "starcoder2": STARCODER2_CASES,
    "mixtral": MIXTRAL_CASES,
    "olmoe": OLMOE_CASES,
    "qwen3_moe": QWEN3_MOE_CASES,
    "granitemoe": GRANITEMOE_CASES,
    "lfm2": LFM2_CASES,
    "qwen3_5": QWEN3_5_CASES,
    "qwen3_5_text": QWEN3_5_TEXT_CASES,
    "gpt_oss": GPT_OSS_CASES,
    "qwen3_5_moe": QWEN3_5_MOE_CASES,
    "qwen3_5_moe_text": QWEN3_5_MOE_TEXT_CASES,
    "lfm2_moe": LFM2_MOE_CASES,
    "granitemoeshared": GRANITEMOESHARED_CASES,
    "qwen2_moe": QWEN2_MOE_CASES,
    "glm4_moe": GLM4_MOE_CASES,
    "granitemoehybrid": GRANITEMOEHYBRID_CASES,
    "falcon_h1": FALCON_H1_CASES,
    "nemotron_h": NEMOTRON_H_CASES,
    "ernie4_5_moe": ERNIE_MOE_CASES,
    "hunyuan_v1_moe": HUNYUAN_MOE_CASES,
    "qwen3_next": QWEN3_NEXT_CASES,
    "deepseek_v2": DEEPSEEK_V2_CASES,
    "deepseek_v3": DEEPSEEK_V3_CASES,
    "glm4_moe_lite": GLM4_MOE_LITE_CASES,
    "minicpm3": MINICPM3_CASES,
}
