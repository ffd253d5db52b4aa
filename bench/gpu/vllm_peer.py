"""The benchmark's shapes through vLLM, in float16.

Started by python-peer.ts. Reads one JSON object from its input and writes one to its output; needs vllm and a GPU that
it supports.
"""

import json
import os
import statistics
import sys
import time

# vLLM and its processes log to the output, which is for the report alone.
REPORT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import vllm
from vllm import LLM, SamplingParams


def prompt_of(vocab_size: int, seed: int, length: int) -> list[int]:
    """The prompts of measure-device.ts."""
    return [(i * 7919 + seed * 104_729 + 17) % vocab_size for i in range(length)]


class Peer:
    def __init__(self, order: dict) -> None:
        streams, lengths = order["streams"], order["prefillCounts"]
        longest = max(order["promptLength"] + order["tokenCount"], *(length + 1 for length in lengths))
        with open(os.path.join(order["folder"], "config.json")) as file:
            self.vocab_size = json.load(file)["vocab_size"]
        self.model = LLM(
            model=order["folder"],
            dtype="float16",
            skip_tokenizer_init=True,
            # A prompt that is timed again must be computed again.
            enable_prefix_caching=False,
            max_model_len=longest,
            max_num_seqs=max(streams),
        )

    def generate(self, prompts: list[list[int]], token_count: int, **settings) -> tuple[float, list]:
        """Seconds, and the outputs, of greedy tokens."""
        params = SamplingParams(temperature=0, max_tokens=token_count, ignore_eos=True, detokenize=False, **settings)
        start = time.perf_counter()
        outputs = self.model.generate([{"prompt_token_ids": ids} for ids in prompts], params, use_tqdm=False)
        return time.perf_counter() - start, outputs

    def decode(self, streams: int, prompt_length: int, token_count: int) -> dict:
        """Tokens of all streams in a second behind the first ones, and the first stream's tokens."""
        prompts = [prompt_of(self.vocab_size, seed, prompt_length) for seed in range(streams)]
        self.generate(prompts, 4)
        until_first, _ = self.generate(prompts, 1)
        seconds, outputs = self.generate(prompts, token_count)
        return {
            "streamCount": streams,
            "tokensPerSecond": streams * (token_count - 1) / (seconds - until_first),
            "tokenIds": list(outputs[0].outputs[0].token_ids),
        }

    def prompt_speed(self, length: int, rounds: int) -> dict:
        seconds = [
            self.generate([prompt_of(self.vocab_size, 1000 + number, length)], 1)[0] for number in range(rounds + 1)
        ]
        # The first round compiles and allocates.
        return {"tokenCount": length, "tokensPerSecond": length / statistics.median(seconds[1:])}

    def prompt_logprobs(self, ids: list[int]) -> list[float]:
        """Of each token but the first, given those before it."""
        _, [output] = self.generate([ids], 1, prompt_logprobs=0)
        return [entry[token].logprob for token, entry in zip(ids[1:], output.prompt_logprobs[1:])]


def main() -> None:
    order = json.load(sys.stdin)
    peer = Peer(order)
    report = {
        "engine": f"vLLM {vllm.__version__}",
        "promptLogprobs": peer.prompt_logprobs(order["checkedPrompt"]),
        "decode": [peer.decode(streams, order["promptLength"], order["tokenCount"]) for streams in order["streams"]],
        "prefill": [peer.prompt_speed(length, order["rounds"]) for length in order["prefillCounts"]],
    }
    json.dump(report, REPORT)
    REPORT.close()


if __name__ == "__main__":
    main()
