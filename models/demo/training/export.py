"""Writes the Hugging Face folder from a checkpoint: rounded weights, configuration, tokenizer settings.

    python export.py run/final.pt ..        # `..` is models/demo and holds tokenizer.json and chat_template.jinja
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from chat_format import END, END_OF_TEXT, MARKER_TOKENS, SPECIAL_TOKENS


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main(checkpoint: str, folder: Path) -> None:
    saved = torch.load(checkpoint, map_location="cpu")
    shape, tokenizer = saved["shape"], Tokenizer.from_file(str(folder / "tokenizer.json"))
    end, padding = tokenizer.token_to_id(END), tokenizer.token_to_id(END_OF_TEXT)

    weights = {f"model.{name}": tensor.to(torch.float16).contiguous() for name, tensor in saved["model"].items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write_json(
        folder / "config.json",
        {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            **shape,
            "hidden_act": "silu",
            "attention_bias": False,
            "mlp_bias": False,
            "attention_dropout": 0.0,
            "rope_scaling": None,
            "tie_word_embeddings": True,
            "initializer_range": 0.02,
            "bos_token_id": None,
            "eos_token_id": end,
            "pad_token_id": padding,
            "torch_dtype": "float16",
            "use_cache": True,
        },
    )
    # Low temperature: default answers are right, and a higher one still shows variety.
    write_json(
        folder / "generation_config.json",
        {"do_sample": True, "temperature": 0.1, "top_p": 0.95, "top_k": 20, "eos_token_id": [end, padding], "pad_token_id": padding},
    )
    template = (folder / "chat_template.jinja").read_text(encoding="utf-8")
    added = {
        str(tokenizer.token_to_id(token)): {"content": token, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": token in SPECIAL_TOKENS}
        for token in [*SPECIAL_TOKENS, *MARKER_TOKENS]
    }
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "add_bos_token": False,
            "add_prefix_space": False,
            "added_tokens_decoder": dict(sorted(added.items(), key=lambda item: int(item[0]))),
            "bos_token": None,
            "eos_token": END,
            "pad_token": END_OF_TEXT,
            "unk_token": None,
            "additional_special_tokens": SPECIAL_TOKENS[1:],
            "clean_up_tokenization_spaces": False,
            "model_max_length": shape["max_position_embeddings"],
            "chat_template": template,
        },
    )
    write_json(folder / "special_tokens_map.json", {"eos_token": END, "pad_token": END_OF_TEXT, "additional_special_tokens": SPECIAL_TOKENS[1:]})
    print(f"{sum(t.numel() for t in weights.values())} parameters, {(folder / 'model.safetensors').stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
