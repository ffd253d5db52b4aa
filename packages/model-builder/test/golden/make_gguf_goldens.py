"""Writes gguf-converter.json: what llama.cpp's own converter makes of the small seeded checkpoints of decoders/*.json.

For each case the metadata that describe the model, and a hash over names, dimensions and bytes of all tensors. The test compares the
files that it writes by rule (`family-gguf.ts`) with them, so that the rules are those of the converter and not of the code that reads
the files. Cases that the converter refuses are left out.

Run:  python make_gguf_goldens.py <llama.cpp> <version>        (a source tree with conversion/ and gguf-py/; needs torch, transformers)
"""

import hashlib
import json
import logging
import pathlib
import sys
import tempfile
from unittest import mock

import numpy as np
import torch
from safetensors.numpy import save_file

from seeded import seeded_tensor

FOLDER = pathlib.Path(__file__).parent
LLAMA_CPP = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(LLAMA_CPP), str(LLAMA_CPP / "gguf-py")]

import conversion  # noqa: E402
import gguf  # noqa: E402

# `architectures` of config.json, which the converter goes by.
CLASSES = {
    "arcee": "ArceeForCausalLM",
    "deepseek_v2": "DeepseekV2ForCausalLM",
    "deepseek_v3": "DeepseekV3ForCausalLM",
    "ernie4_5": "Ernie4_5ForCausalLM",
    "ernie4_5_moe": "Ernie4_5_MoeForCausalLM",
    "exaone4": "Exaone4ForCausalLM",
    "falcon_h1": "FalconH1ForCausalLM",
    "gemma4_text": "Gemma4ForCausalLM",
    "glm4": "Glm4ForCausalLM",
    "glm4_moe": "Glm4MoeForCausalLM",
    "glm4_moe_lite": "Glm4MoeLiteForCausalLM",
    "gpt_oss": "GptOssForCausalLM",
    "granite": "GraniteForCausalLM",
    "granitemoe": "GraniteMoeForCausalLM",
    "granitemoehybrid": "GraniteMoeHybridForCausalLM",
    "granitemoeshared": "GraniteMoeSharedForCausalLM",
    "hunyuan_v1_dense": "HunYuanDenseV1ForCausalLM",
    "hunyuan_v1_moe": "HunYuanMoEV1ForCausalLM",
    "lfm2": "Lfm2ForCausalLM",
    "lfm2_moe": "Lfm2MoeForCausalLM",
    "ministral3": "Ministral3ForCausalLM",
    "mixtral": "MixtralForCausalLM",
    "nemotron": "NemotronForCausalLM",
    "nemotron_h": "NemotronHForCausalLM",
    "olmo2": "Olmo2ForCausalLM",
    "olmo3": "Olmo3ForCausalLM",
    "olmoe": "OlmoeForCausalLM",
    "phi3": "Phi3ForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen2_moe": "Qwen2MoeForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "qwen3_5_moe_text": "Qwen3_5MoeForCausalLM",
    "qwen3_5_text": "Qwen3_5ForCausalLM",
    "qwen3_moe": "Qwen3MoeForCausalLM",
    "qwen3_next": "Qwen3NextForCausalLM",
    "seed_oss": "SeedOssForCausalLM",
    "smollm3": "SmolLM3ForCausalLM",
    "starcoder2": "Starcoder2ForCausalLM",
}
# Keys that the converter wants and transformers has defaults for.
MORE_KEYS = {
    "gemma4_text": {"num_kv_shared_layers": 0, "moe_intermediate_size": None},
    "glm4_moe_lite": {"first_k_dense_replace": 1},
    "hunyuan_v1_moe": {"moe_intermediate_size": [96] * 4, "num_shared_expert": [1] * 4},
}


def exact_exp(values: torch.Tensor) -> torch.Tensor:
    """Torch's own in float32 may be off by the last bit, which depends on the machine."""
    return EXP(values.double()).to(values.dtype)


EXP = torch.exp


def no_vocabulary(model) -> None:
    """Tokenizers have tests of their own."""
    model.gguf_writer.add_tokenizer_model("none")


def convert(family: str, case: dict) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config = {**MORE_KEYS.get(family, {}), "architectures": [CLASSES[family]], **case["config"]}
        (folder / "config.json").write_text(json.dumps(config))
        # The converter of Gemma cuts the embedding to the number of tokens.
        vocabulary = {"model": {"vocab": {f"t{i}": i for i in range(config["vocab_size"])}}, "added_tokens": []}
        (folder / "tokenizer.json").write_text(json.dumps(vocabulary))
        tensors = {
            tensor: seeded_tensor(case["seed"], tensor, tuple(shape), scale, offset)
            for tensor, (shape, scale, offset) in case["tensors"].items()
        }
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        converter = conversion.get_model_class(CLASSES[family])
        # The converters of Qwen 3.5 and Qwen3-Next want layers that predict further tokens, unless they are told that there are none.
        converter.no_mtp = family.startswith(("qwen3_5", "qwen3_next"))
        for part in (converter, *(value for value in vars(converter).values() if isinstance(value, type))):
            part.set_vocab = no_vocabulary
        file = folder / "model.gguf"
        # Transformers adds keys of experts, by which the converter takes a Nemotron-H for one that has some.
        read = conversion.ModelBase.load_hparams
        plain = (lambda *_, **__: dict(config)) if family == "nemotron_h" else read
        with (
            mock.patch.object(conversion.ModelBase, "load_hparams", plain),
            mock.patch.object(torch, "exp", exact_exp),
        ):
            converter(folder, gguf.LlamaFileType.ALL_F32, file).write()
        reader = gguf.GGUFReader(file)
        return {"metadata": metadata_of(reader), "tensors": hash_of(reader)}


def metadata_of(reader) -> dict:
    prefix = reader.fields["general.architecture"].contents() + "."
    return {
        name: field.contents()
        for name, field in sorted(reader.fields.items())
        if name.startswith(prefix) or name == "general.architecture"
    }


def hash_of(reader) -> str:
    """SHA-256 over name, dimensions and float32 values of the tensors, by name."""
    digest = hashlib.sha256()
    for tensor in sorted(reader.tensors, key=lambda each: each.name):
        assert tensor.tensor_type == gguf.GGMLQuantizationType.F32, tensor.name
        digest.update(f"{tensor.name} {','.join(str(int(size)) for size in tensor.shape)}\n".encode())
        digest.update(np.ascontiguousarray(tensor.data).tobytes())
    return digest.hexdigest()


def main() -> None:
    logging.disable(logging.CRITICAL)
    families = {}
    for family in CLASSES:
        families[family] = {}
        for case in json.loads((FOLDER / "decoders" / f"{family}.json").read_text())["cases"]:
            try:
                families[family][case["name"]] = convert(family, case)
            except (AssertionError, IndexError, KeyError, TypeError, ValueError) as error:
                print(f"{family}, {case['name']}: {type(error).__name__}: {error}", flush=True)
    golden = {"provenance": {"script": pathlib.Path(__file__).name, "llama.cpp": sys.argv[2]}, "families": families}
    (FOLDER / "gguf-converter.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
