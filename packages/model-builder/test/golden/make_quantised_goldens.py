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
