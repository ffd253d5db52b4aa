"""Writes quantised/<case>/: small linear layers, packed as the programs that quantise checkpoints pack them, and their values.

Each case is a folder with config.json (its `quantization_config`, versions, and what the reader must make of it) and
model.safetensors: the tensors of `layer`, and the dequantised matrix as `expected`. Packing is written here from the published
definitions; `compressed-tensors` packs its own cases.

Run:  python make_quantised_goldens.py        (needs numpy, torch, safetensors and compressed-tensors)
"""

import json
import pathlib
import platform
import shutil

import numpy as np
import torch
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parent / "quantised"
OUTPUTS, INPUTS = 24, 64


def write(name: str, quantization_config: dict, tensors: dict, expected: torch.Tensor, **facts) -> None:
    folder = FOLDER / name
    folder.mkdir(parents=True)
    assert expected.dtype == torch.float32
    tensors = {f"layer.{key}": value.contiguous() for key, value in tensors.items()}
    save_file({**tensors, "expected": expected.contiguous()}, folder / "model.safetensors")
    made_by = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
    if quantization_config["quant_method"] == "compressed-tensors":
        made_by["compressed-tensors"] = quantization_config["version"]
    config = {"quantization_config": quantization_config, "golden": {"made_by": made_by, **facts}}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def scales_of(rng, groups: int, dtype=torch.float16) -> torch.Tensor:
    """[outputs, groups], small enough that float16 has them below its normal numbers too."""
    return torch.tensor(rng.uniform(2e-5, 0.02, (OUTPUTS, groups)), dtype=torch.float32).to(dtype)


def expected_of(codes, zeros, scales, group_of) -> torch.Tensor:
    """codes [outputs, inputs], zeros and scales [outputs, groups]."""
    levels = torch.tensor(codes.astype(np.int32) - zeros.astype(np.int32)[:, group_of])
    return levels.to(torch.float32) * scales.to(torch.float32)[:, group_of]


def pack_columns(values: np.ndarray, bits: int) -> np.ndarray:
    """[rows, columns] to words of consecutive columns, the first one in the lowest bits."""
    per_word = 32 // bits
    words = np.zeros((values.shape[0], values.shape[1] // per_word), dtype=np.uint32)
    for i in range(per_word):
        words |= values[:, i::per_word].astype(np.uint32) << np.uint32(bits * i)
    return words


def int32(words: np.ndarray) -> torch.Tensor:
    return torch.tensor(words.view(np.int32).copy())


def gptq(name: str, bits: int, group_size: int, *, sym: bool, version: int, desc_act: bool = False,
         scale_type=torch.float16, seed: int, **facts) -> None:
    rng = np.random.default_rng(seed)
    size = INPUTS if group_size == -1 else group_size
    groups = INPUTS // size
    codes = rng.integers(0, 2**bits, (OUTPUTS, INPUTS), dtype=np.uint8)
    middle = 2 ** (bits - 1)
    zeros = np.full((OUTPUTS, groups), middle, dtype=np.uint8)
    if not sym:
        zeros = rng.integers(0, 2**bits, (OUTPUTS, groups), dtype=np.uint8)
        zeros[5] = 0  # which version 1 borrows from the next zero point
        zeros[6] = np.maximum(zeros[6], 2)
        zeros[7::8] = np.maximum(zeros[7::8], 2)
    group_of = np.arange(INPUTS) // size
    if desc_act:
        group_of = group_of[rng.permutation(INPUTS)]
    scales = scales_of(rng, groups, scale_type)
    qzeros = pack_columns(zeros.T.copy(), bits)
    if version == 1:
        qzeros = qzeros - np.uint32(0x11111111 if bits == 4 else 0x01010101)  # wraps
    tensors = {
        "qweight": int32(pack_columns(codes, bits).T.copy()),
        "qzeros": int32(qzeros),
        "scales": scales.T,
        "g_idx": torch.tensor(group_of.astype(np.int32)),
    }
    config = {
        "quant_method": "gptq", "bits": bits, "group_size": group_size, "desc_act": desc_act, "sym": sym,
        "checkpoint_format": "gptq" if version == 1 else "gptq_v2", "lm_head": False, "pack_dtype": "int32",
    }
    write(name, config, tensors, expected_of(codes, zeros, scales, group_of), **facts)


shutil.rmtree(FOLDER, ignore_errors=True)
gptq("gptq-4bit-sym", 4, 32, sym=True, version=1, seed=1, format="q4", type="GPTQ 4-bit")
gptq("gptq-4bit-asym-v1", 4, 32, sym=False, version=1, seed=2, format="q5", type="GPTQ 4-bit")
gptq("gptq-4bit-asym-v2", 4, 32, sym=False, version=2, seed=3, format="q5", type="GPTQ 4-bit")
gptq("gptq-4bit-row", 4, -1, sym=True, version=1, seed=4, format="q4", type="GPTQ 4-bit")
gptq("gptq-8bit-sym", 8, 32, sym=True, version=1, seed=5, format="q8", type="GPTQ 8-bit")
gptq("gptq-8bit-asym-v1", 8, 64, sym=False, version=1, seed=6, format=None, type="GPTQ 8-bit")
gptq("gptq-4bit-bf16-scales", 4, 32, sym=True, version=1, seed=7, scale_type=torch.bfloat16, format="q4",
     type="GPTQ 4-bit")
gptq("gptq-4bit-f32-scales", 4, 32, sym=True, version=1, seed=8, scale_type=torch.float32, format=None,
     type="GPTQ 4-bit")
gptq("gptq-4bit-act-order", 4, 32, sym=False, version=2, desc_act=True, seed=9, format=None,
     type="GPTQ 4-bit with act-order")
gptq("gptq-4bit-group-16", 4, 16, sym=True, version=1, seed=10, format=None, type="GPTQ 4-bit")


def awq(name: str, group_size: int, *, seed: int, **facts) -> None:
    rng = np.random.default_rng(seed)
    size = INPUTS if group_size == -1 else group_size
    groups = INPUTS // size
    codes = rng.integers(0, 16, (OUTPUTS, INPUTS), dtype=np.uint8)
    zeros = rng.integers(0, 16, (OUTPUTS, groups), dtype=np.uint8)
    scales = scales_of(rng, groups)
    order = np.array([0, 2, 4, 6, 1, 3, 5, 7])  # the output at each nibble of a word

    def pack(values: np.ndarray) -> torch.Tensor:
        return int32(pack_columns(values.T.reshape(-1, 8)[:, order].reshape(values.T.shape), 4))

    tensors = {"qweight": pack(codes), "qzeros": pack(zeros), "scales": scales.T}
    config = {"quant_method": "awq", "bits": 4, "group_size": group_size, "version": "gemm", "zero_point": True,
              "modules_to_not_convert": ["lm_head"]}
    write(name, config, tensors, expected_of(codes, zeros, scales, np.arange(INPUTS) // size), **facts)


awq("awq", 32, seed=20, format="q5", type="AWQ 4-bit")
awq("awq-row", -1, seed=21, format="q5", type="AWQ 4-bit")


import compressed_tensors  # noqa: E402
from compressed_tensors.compressors import BaseCompressor  # noqa: E402
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme  # noqa: E402
from compressed_tensors.quantization.lifecycle.forward import dequantize  # noqa: E402


def compressed(name: str, format_name: str, args: dict, *, seed: int, actorder: bool = False, scale_type=torch.bfloat16,
               **facts) -> None:
    """Weights from a scale, zero point and levels, so that compressing them gives those levels."""
    rng = np.random.default_rng(seed)
    arguments = QuantizationArgs(**args)
    scheme = QuantizationScheme(targets=["Linear"], weights=arguments)
    strategy = arguments.strategy
    shape = {"group": (OUTPUTS, INPUTS // (arguments.group_size or 1)), "channel": (OUTPUTS, 1), "tensor": (1,)}
    if strategy == "block":
        rows, columns = arguments.block_structure
        shape["block"] = (-(-OUTPUTS // rows), -(-INPUTS // columns))
    scale = torch.tensor(rng.uniform(2e-4, 0.02, shape[strategy]), dtype=torch.float32).to(scale_type)
    zero_point = torch.zeros(scale.shape, dtype=torch.int8)
    half = 2 ** (arguments.num_bits - 1)
    if not arguments.symmetric:
        zero_point = torch.tensor(rng.integers(-half, half, scale.shape), dtype=torch.int8)
    if arguments.type == "float":
        values = torch.tensor(rng.normal(0, 60, (OUTPUTS, INPUTS)), dtype=torch.float32)
        levels = values.clamp(-448, 448).to(torch.float8_e4m3fn)
    else:
        levels = torch.tensor(rng.integers(-half, half, (OUTPUTS, INPUTS)), dtype=torch.int8)
    wide_scale = scale.to(torch.float32)
    weight = dequantize(levels, wide_scale, None if arguments.symmetric else zero_point, arguments)
    state = {"weight": weight, "weight_scale": wide_scale}
    if not arguments.symmetric:
        state["weight_zero_point"] = zero_point
    packed = BaseCompressor.get_value_from_registry(format_name).compress(state, scheme)
    packed["weight_scale"] = scale
    restored = BaseCompressor.get_value_from_registry(format_name).decompress({**packed, "weight_scale": wide_scale}, scheme)
    assert torch.equal(restored["weight"], weight), name
    if actorder:
        group_of = rng.permutation(np.arange(INPUTS) // arguments.group_size)
        packed["weight_g_idx"] = torch.tensor(group_of.astype(np.int32))
        weight = levels.to(torch.float32) * wide_scale[:, group_of]
    config = {
        "quant_method": "compressed-tensors", "format": format_name, "quantization_status": "compressed",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {**args, "actorder": "group" if actorder else None},
                                      "input_activations": None, "output_activations": None}},
        "ignore": ["lm_head", "re:.*gate$"], "kv_cache_scheme": None,
        "version": compressed_tensors.__version__,
    }
    write(name, config, packed, weight, **facts)


def ints(bits: int, strategy: str, symmetric: bool = True, group_size: int | None = None) -> dict:
    return {"num_bits": bits, "type": "int", "symmetric": symmetric, "strategy": strategy, "group_size": group_size}


compressed("packed-w4-group", "pack-quantized", ints(4, "group", group_size=32), seed=30, format="q4",
           type="compressed-tensors INT4")
compressed("packed-w4-group-asym", "pack-quantized", ints(4, "group", False, 32), seed=31, format="q5",
           type="compressed-tensors INT4")
compressed("packed-w4-channel", "pack-quantized", ints(4, "channel"), seed=32, format="q4", type="compressed-tensors INT4")
compressed("packed-w8-group", "pack-quantized", ints(8, "group", group_size=32), seed=33, format="q8",
           type="compressed-tensors INT8")
compressed("packed-w8-channel-asym", "pack-quantized", ints(8, "channel", False), seed=34, format=None,
           type="compressed-tensors INT8")
compressed("packed-w4-act-order", "pack-quantized", ints(4, "group", group_size=32), seed=35, actorder=True, format=None,
           type="compressed-tensors INT4 with act-order")
compressed("int8-channel", "int-quantized", ints(8, "channel"), seed=36, format="q8", type="compressed-tensors INT8")
compressed("int8-tensor", "int-quantized", ints(8, "tensor"), seed=37, scale_type=torch.float16, format="q8",
           type="compressed-tensors INT8")
compressed("int8-channel-asym", "naive-quantized", ints(8, "channel", False), seed=38, format=None,
           type="compressed-tensors INT8")
FLOAT8 = {"num_bits": 8, "type": "float", "symmetric": True}
compressed("float8-channel", "float-quantized", {**FLOAT8, "strategy": "channel"}, seed=39, format=None, type="FP8")
compressed("float8-tensor", "float-quantized", {**FLOAT8, "strategy": "tensor"}, seed=40, format=None, type="FP8")
compressed("float8-block", "float-quantized", {**FLOAT8, "strategy": "block", "block_structure": [16, 48]}, seed=41,
           scale_type=torch.float32, format=None, type="FP8")


def fp8(name: str, block: list | None, scale: torch.Tensor, *, seed: int, scale_name: str = "weight_scale_inv", **config) -> None:
    """Every byte but the two NaNs, as DeepSeek's and Mistral's checkpoints have them."""
    rng = np.random.default_rng(seed)
    finite = np.array([byte for byte in range(256) if byte & 0x7F != 0x7F], dtype=np.uint8)
    codes = np.concatenate([finite, rng.choice(finite, OUTPUTS * INPUTS - len(finite))]).reshape(OUTPUTS, INPUTS)
    weight = torch.tensor(codes).view(torch.float8_e4m3fn)
    wide = scale.to(torch.float32)
    if block is not None:
        rows, columns = block
        wide = wide.repeat_interleave(rows, 0)[:OUTPUTS].repeat_interleave(columns, 1)[:, :INPUTS]
    tensors = {"weight": weight, scale_name: scale}
    if config.get("activation_scheme") == "static":
        tensors["activation_scale"] = torch.tensor(0.5, dtype=torch.bfloat16)
    section = {"quant_method": "fp8", **config, **({} if block is None else {"weight_block_size": block})}
    write(name, section, tensors, weight.to(torch.float32) * wide, format=None, type="FP8")


generator = torch.Generator().manual_seed(50)
fp8("fp8-blocks", [16, 32], torch.rand(2, 2, generator=generator) / 100, seed=50, fmt="e4m3", activation_scheme="dynamic",
    modules_to_not_convert=["lm_head"])
fp8("fp8-blocks-128", [128, 128], torch.rand(1, 1, generator=generator) / 100, seed=51, fmt="e4m3", activation_scheme="dynamic")
fp8("fp8-blocks-powers-of-two", [16, 16], torch.tensor(np.arange(112, 120, dtype=np.uint8).reshape(2, 4)).view(torch.float8_e8m0fnu),
    seed=52, scale_fmt="ue8m0")
fp8("fp8-static", None, torch.tensor(0.0123, dtype=torch.bfloat16), seed=53, activation_scheme="static", weight_block_size=None)
fp8("fbgemm-fp8", None, torch.rand(OUTPUTS, 1, generator=generator) / 100, seed=54, scale_name="weight_scale",
    **{"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0})
