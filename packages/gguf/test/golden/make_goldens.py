"""Writes the goldens of packages/gguf with gguf-py, the reference implementation.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install gguf==0.19.0 numpy==2.4.6
    /tmp/venv/bin/python packages/gguf/test/golden/make_goldens.py

`dequantised.json` says where the blocks and the float32 values of each type are in `dequantised.bin`.
`metadata.gguf` has every type of value and three tensors; `metadata.json` is what gguf-py reads from it.
"""
import importlib.metadata
import json
import pathlib

import gguf
import numpy as np

HERE = pathlib.Path(__file__).parent
TYPES = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K",
         "IQ4_NL", "IQ4_XS", "MXFP4"]
# Where the float16 numbers of a block are, so that they are made finite.
HALVES = {"F16": [0], "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82],
          "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0]}
PROVENANCE = {
    "script": "packages/gguf/test/golden/make_goldens.py",
    "versions": {name: importlib.metadata.version(name) for name in ("gguf", "numpy")},
}


def random_blocks(name, rng):
    length, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    count = {1: 400, 32: 24, 256: 6}[length]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for at in HALVES.get(name, []):
        # Every exponent but that of infinities: numbers of all sizes and signs, subnormal ones too.
        halves = blocks[:, at:at + 2].copy().view(np.uint16)
        halves[(halves & 0x7C00) == 0x7C00] ^= 0x4000
        blocks[:, at:at + 2] = halves.view(np.uint8)
    if name in ("F32", "BF16"):
        top = blocks[:, -2:].copy().view(np.uint16)
        top[(top & 0x7F80) == 0x7F80] ^= 0x4000
        blocks[:, -2:] = top.view(np.uint8)
    return blocks


def dequantised():
    rng = np.random.default_rng(18)
    data, types = b"", []
    for name in TYPES:
        blocks = random_blocks(name, rng)
        values = gguf.dequantize(blocks, gguf.GGMLQuantizationType[name]).astype("<f4")
        assert np.isfinite(values).all() or name == "MXFP4"
        raw = values.tobytes()
        types.append({"type": name, "blocks": [len(data), len(data) + blocks.size],
                      "values": [len(data) + blocks.size, len(data) + blocks.size + len(raw)]})
        data += blocks.tobytes() + raw
    (HERE / "dequantised.bin").write_bytes(data)
    (HERE / "dequantised.json").write_text(json.dumps({"provenance": PROVENANCE, "types": types}, indent=1) + "\n")


def metadata():
    path = HERE / "metadata.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    kinds = gguf.GGUFValueType
    values = {
        "uint8": (255, kinds.UINT8), "int8": (-128, kinds.INT8), "uint16": (65535, kinds.UINT16),
        "int16": (-32768, kinds.INT16), "uint32": (4294967295, kinds.UINT32), "int32": (-2147483648, kinds.INT32),
        "float32": (1e-05, kinds.FLOAT32), "bool": (True, kinds.BOOL), "string": ("größer 🦦", kinds.STRING),
        "uint64": (2 ** 64 - 1, kinds.UINT64), "int64": (-2 ** 63, kinds.INT64), "float64": (0.1, kinds.FLOAT64),
    }
    for name, (value, kind) in values.items():
        writer.add_key_value(f"test.{name}", value, kind)
    writer.add_array("test.strings", ["", "a", "Ġthe", "日本"])
    writer.add_array("test.int32s", [-1, 0, 2147483647])
    writer.add_array("test.float32s", [0.5, -1.25])
    writer.add_array("test.bools", [True, False, True])
    writer.add_custom_alignment(64)
    rng = np.random.default_rng(1)
    writer.add_tensor("vector", rng.standard_normal(5, dtype=np.float32))
    writer.add_tensor("half", rng.standard_normal((3, 4), dtype=np.float32).astype(np.float16))
    matrix = rng.standard_normal((2, 64), dtype=np.float32)
    quantised = gguf.quantize(matrix, gguf.GGMLQuantizationType.Q4_0)
    writer.add_tensor("matrix", quantised, raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    reader = gguf.GGUFReader(path)

    def plain(field):
        contents = field.contents()
        # Integers of 64 bits are text, because JSON has none.
        return str(contents) if field.types[0] in (kinds.UINT64, kinds.INT64) else contents

    fields = {key: plain(field) for key, field in reader.fields.items() if not key.startswith("GGUF.")}
    tensors = [{
        "name": t.name, "type": t.tensor_type.name, "dimensions": [int(d) for d in t.shape],
        "begin": int(t.data_offset), "end": int(t.data_offset) + int(t.n_bytes),
        "values": gguf.dequantize(t.data, t.tensor_type).astype(np.float32).ravel().tolist(),
    } for t in reader.tensors]
    golden = {"provenance": PROVENANCE, "metadata": fields, "tensors": tensors}
    (HERE / "metadata.json").write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


dequantised()
metadata()
