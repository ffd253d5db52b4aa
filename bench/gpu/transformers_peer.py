"""The benchmark's shapes through transformers on PyTorch, in float16 with a static cache.

Started by python-peer.ts. Reads one JSON object from its input and writes one to its output; needs torch and
transformers, and takes CUDA where there is one, else Apple's GPU, else the CPU.
"""

import json
import os
import statistics
import sys
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from transformers import AutoModelForCausalLM, StaticCache

CACHE_ROUNDING = 64


def pick_device() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name() if device.type == "cuda" else device.type


def wait(device: torch.device) -> None:
    """Until everything that was asked for is computed."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    elif device.type == "mps":
        torch.mps.synchronize()


def prompt_of(vocab_size: int, seed: int, length: int) -> list[int]:
    """The prompts of measure-device.ts."""
    return [(i * 7919 + seed * 104_729 + 17) % vocab_size for i in range(length)]


class Peer:
    def __init__(self, folder: str, compiles: bool) -> None:
        self.device = pick_device()
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float16).to(self.device).eval()
        self.vocab_size = self.model.config.vocab_size
        self.forward = self.model.forward
        self.step_forward = torch.compile(self.forward, mode="reduce-overhead", fullgraph=True) if compiles else self.forward

    def weight_bytes(self) -> int:
        """Of what a decode step reads: tied weights once, and of a table that is only looked up nothing."""
        seen = {p.data_ptr(): p.numel() * p.element_size() for p in self.model.parameters()}
        if not self.model.config.tie_word_embeddings:
            seen.pop(self.model.get_input_embeddings().weight.data_ptr())
        return sum(seen.values())

    def new_cache(self, batch: int, length: int) -> StaticCache:
        capacity = -(-length // CACHE_ROUNDING) * CACHE_ROUNDING
        return StaticCache(
            config=self.model.config,
            max_batch_size=batch,
            max_cache_len=capacity,
            device=self.device,
            dtype=torch.float16,
        )

    def prefill(self, ids: torch.Tensor, cache: StaticCache) -> torch.Tensor:
        """The greedy token behind each prompt. Shape: [batch, 1]."""
        positions = torch.arange(ids.shape[1], device=self.device)
        out = self.forward(ids, past_key_values=cache, cache_position=positions, logits_to_keep=1)
        return out.logits[:, -1].argmax(-1, keepdim=True)

    def step(self, tokens: torch.Tensor, cache: StaticCache, position: torch.Tensor) -> torch.Tensor:
        out = self.step_forward(tokens, past_key_values=cache, cache_position=position, logits_to_keep=1)
        return out.logits[:, -1].argmax(-1, keepdim=True).clone()

    def decode(self, streams: int, prompt_length: int, token_count: int) -> dict:
        """Tokens of all streams in a second, and the first stream's tokens."""
        prompts = [prompt_of(self.vocab_size, seed, prompt_length) for seed in range(streams)]
        ids = torch.tensor(prompts, device=self.device)
        cache = self.new_cache(streams, prompt_length + token_count)
        tokens = self.prefill(ids, cache)
        position = torch.tensor([prompt_length], device=self.device)
        seen = [tokens]
        wait(self.device)
        start = time.perf_counter()
        for _ in range(token_count - 1):
            tokens = self.step(tokens, cache, position)
            position = position + 1
            seen.append(tokens)
        wait(self.device)
        seconds = time.perf_counter() - start
        return {
            "streamCount": streams,
            "tokensPerSecond": streams * (token_count - 1) / seconds,
            "tokenIds": torch.cat(seen, dim=1)[0].tolist(),
        }

    def prompt_speed(self, length: int, rounds: int) -> dict:
        seconds = []
        for round_number in range(rounds + 1):
            ids = torch.tensor([prompt_of(self.vocab_size, 1000 + round_number, length)], device=self.device)
            cache = self.new_cache(1, length)
            wait(self.device)
            start = time.perf_counter()
            self.prefill(ids, cache).tolist()
            seconds.append(time.perf_counter() - start)
        # The first round compiles and allocates.
        return {"tokenCount": length, "tokensPerSecond": length / statistics.median(seconds[1:])}

    def prompt_logprobs(self, ids: list[int]) -> list[float]:
        """Of each token but the first, given those before it."""
        logits = self.forward(torch.tensor([ids], device=self.device)).logits[0].float()
        logprobs = torch.log_softmax(logits[:-1], dim=-1)
        return logprobs.gather(1, torch.tensor(ids[1:], device=self.device)[:, None])[:, 0].tolist()


def measure_streams(peer: Peer, streams: int, order: dict) -> dict:
    try:
        peer.decode(streams, order["promptLength"], 4)
        return peer.decode(streams, order["promptLength"], order["tokenCount"])
    except torch.OutOfMemoryError as error:
        torch.cuda.empty_cache()
        return {"streamCount": streams, "error": str(error).split("\n", 1)[0]}


@torch.inference_mode()
def main() -> None:
    order = json.load(sys.stdin)
    peer = Peer(order["folder"], order["compiles"])
    report = {
        "engine": f"transformers {transformers.__version__}, torch {torch.__version__}",
        "device": device_name(peer.device),
        "isCompiled": order["compiles"],
        "weightBytes": peer.weight_bytes(),
        "promptLogprobs": peer.prompt_logprobs(order["checkedPrompt"]),
        "decode": [measure_streams(peer, streams, order) for streams in order["streams"]],
        "prefill": [peer.prompt_speed(length, order["rounds"]) for length in order["prefillCounts"]],
    }
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
