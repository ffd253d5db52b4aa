"""Writes folders of small random models with onnxruntime-genai's model builder, and what its runtime computes for them.

Each folder is as the builder left it. goldens.json has, for every folder, the logits of a prompt and greedy tokens from
onnxruntime-genai's own run; of the float32 folders also the distance to transformers on the same weights.

Run:  python make_genai_goldens.py        (needs onnxruntime-genai, onnx, onnx_ir, torch and transformers)
"""

import importlib.metadata
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime_genai
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

FOLDER = pathlib.Path(__file__).parent
PROMPT_LENGTH = 40
GREEDY_LENGTH = 16
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "num_hidden_layers": 2,
    "max_position_embeddings": 96,
    "vocab_size": 259,
    "bos_token_id": 256,
    "eos_token_id": 258,
    "pad_token_id": 256,
    "tie_word_embeddings": True,
    "rms_norm_eps": 1e-6,
}
ADVICE = {"do_sample": True, "temperature": 0.7, "top_k": 20, "top_p": 0.8, "eos_token_id": [258, 256]}
WINDOW = {
    "use_sliding_window": True,
    "sliding_window": 12,
    "layer_types": ["sliding_attention", "full_attention"],
}
ALL_FILES = ["*"]
GRAPH_FILES = ["model.onnx", "genai_config.json"]
# `keeps` is for folders that are not run, and names the files of them that are kept.
MODELS = {
    "llama-f32": {"type": "llama", "precision": "fp32"},
    "qwen3-int4": {"type": "qwen3", "precision": "int4", "advice": ADVICE},
    "qwen2-int8": {"type": "qwen2", "precision": "int8"},
    # The first layer sees the last 12 tokens. `whole`: its cache has all tokens; `bounded`: only those of the window.
    "qwen2-window-whole": {
        "type": "qwen2",
        "precision": "fp32",
        "config": WINDOW,
        "options": ["windowed_kv_cache=false"],
    },
    "qwen2-window-bounded": {"type": "qwen2", "precision": "fp32", "config": WINDOW, "keeps": GRAPH_FILES},
    # The builder names the window in the settings and leaves it out of the graph, because no layer is marked as local.
    "mistral-window-missing": {
        "type": "mistral",
        "precision": "fp32",
        "config": {"sliding_window": 12},
        "keeps": GRAPH_FILES,
    },
    # For devices, so not run here.
    "qwen3-webgpu": {"type": "qwen3", "precision": "int4", "provider": "webgpu", "keeps": ALL_FILES},
    "qwen3-cuda": {"type": "qwen3", "precision": "fp16", "provider": "cuda", "keeps": GRAPH_FILES},
    "llama-dml": {"type": "llama", "precision": "fp16", "provider": "dml", "keeps": GRAPH_FILES},
}


def write_tokenizer(folder: pathlib.Path) -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={text: id for id, text in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in SPECIAL_TOKENS])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=SPECIAL_TOKENS[0],
        eos_token=SPECIAL_TOKENS[2],
        pad_token=SPECIAL_TOKENS[0],
    )
    fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)


def write_checkpoint(folder: pathlib.Path, model: dict) -> torch.nn.Module:
    """Weights large enough that logits differ between tokens and the choice of a token is clear."""
    config = AutoConfig.for_model(model["type"], **SHAPE, **model.get("config", {}))
    torch.manual_seed(1)
    made = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if name.endswith("norm.weight"):
                parameter.copy_(1 + 0.2 * torch.randn(parameter.shape))
            elif name.endswith(".bias"):
                parameter.copy_(0.2 * torch.randn(parameter.shape))
            else:
                parameter.copy_(torch.randn(parameter.shape) * (1.2 / parameter.shape[1] ** 0.5))
    made.save_pretrained(folder)
    write_tokenizer(folder)
    # The library writes its own end tokens there; a checkpoint without advice has no such file.
    (folder / "generation_config.json").unlink(missing_ok=True)
    if "advice" in model:
        (folder / "generation_config.json").write_text(json.dumps(model["advice"]))
    return made


def build(name: str, model: dict, checkpoint: pathlib.Path, output: pathlib.Path) -> list[str]:
    options = ["hf_token=false", *model.get("options", [])]
    command = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", str(checkpoint), "-o", str(output)]
    command += ["-p", model["precision"], "-e", model.get("provider", "cpu"), "-c", str(checkpoint / "cache")]
    command += ["--extra_options", *options]
    subprocess.run(command, check=True)
    return ["-p", model["precision"], "-e", model.get("provider", "cpu"), "--extra_options", *options]


def prompt_ids() -> list[int]:
    return [(7919 + i * 104_729 + i * i * 31) % 256 for i in range(PROMPT_LENGTH)]


def run(folder: pathlib.Path) -> dict:
    """Greedy tokens of the runtime, and the logits of the prompt's last position and of each token after it."""
    model = onnxruntime_genai.Model(str(folder))
    params = onnxruntime_genai.GeneratorParams(model)
    params.set_search_options(do_sample=False, max_length=PROMPT_LENGTH + GREEDY_LENGTH + 1, batch_size=1)
    generator = onnxruntime_genai.Generator(model, params)
    generator.append_tokens(np.array(prompt_ids(), dtype=np.int32))
    rows, tokens = [], []
    for _ in range(GREEDY_LENGTH):
        rows.append(np.array(generator.get_logits()).reshape(-1, SHAPE["vocab_size"])[-1])
        # An end token would stop the runtime; the next token is fed as any other.
        token = int(rows[-1].argmax())
        tokens.append(token)
        generator.append_tokens(np.array([token], dtype=np.int32))
    return {"tokens": tokens, "rows": np.stack(rows)}


def transformers_rows(model: torch.nn.Module, tokens: list[int]) -> np.ndarray:
    ids = torch.tensor([prompt_ids() + tokens[:-1]])
    with torch.no_grad():
        return model(ids).logits[0, PROMPT_LENGTH - 1 :].numpy()


def main() -> None:
    versions = {
        package: importlib.metadata.version(package)
        for package in ["onnxruntime-genai", "onnxruntime", "onnx", "onnx-ir", "torch", "transformers", "numpy"]
    }
    goldens = {
        "provenance": {"script": "make_genai_goldens.py", "python": platform.python_version(), **versions},
        "prompt": prompt_ids(),
        "models": {},
    }
    for name, model in MODELS.items():
        with tempfile.TemporaryDirectory() as temporary:
            checkpoint = pathlib.Path(temporary) / "checkpoint"
            built = pathlib.Path(temporary) / "built"
            reference = write_checkpoint(checkpoint, model)
            arguments = build(name, model, checkpoint, built)
            entry = {"builder": arguments}
            if "keeps" not in model:
                result = run(built)
                rows = result["rows"]
                entry["tokens"] = result["tokens"]
                entry["logits"] = [[float(f"{value:.7g}") for value in row] for row in rows[[0, 1, -1]]]
                if model["precision"] == "fp32":
                    distance = np.abs(rows - transformers_rows(reference, result["tokens"])).max()
                    entry["distanceToTransformers"] = float(f"{distance:.2g}")
            goldens["models"][name] = entry
            target = FOLDER / name
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir()
            for pattern in model.get("keeps", ALL_FILES):
                for file in built.glob(pattern):
                    shutil.copy(file, target)
    (FOLDER / "goldens.json").write_text(json.dumps(goldens) + "\n")


main()
