"""Greedy answers from the training code, and the golden file that engines are compared with.

    python reference.py accuracy run/final.pt ../evaluation/heldout.jsonl   # accuracy before export
    python reference.py golden ..                                           # ../evaluation/golden.json, by transformers
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from chat_format import END, END_OF_TEXT, prompt_text
from model import Decoder, ModelShape

ANSWER_LIMIT = 220
BATCH = 48


def load(checkpoint: str) -> Decoder:
    saved = torch.load(checkpoint, map_location="cpu")
    model = Decoder(ModelShape(**saved["shape"]))
    # Judge what is delivered: the weights as they are after rounding.
    model.load_state_dict({name: tensor.half().float() for name, tensor in saved["model"].items()})
    return model.eval()


@torch.no_grad()
def answer_together(model: Decoder, prompts: list[list[int]], stop: set[int]) -> list[list[int]]:
    """Greedy continuations of prompts of one length, decoded as one batch."""
    pasts = [[] for _ in model.layers]
    tokens, length = torch.tensor(prompts), len(prompts[0])
    answers, finished = [[] for _ in prompts], [False] * len(prompts)
    hidden = model(tokens, pasts)[:, -1]
    for position in range(length, length + ANSWER_LIMIT):
        chosen = model.logits(hidden).argmax(-1)
        for row, token in enumerate(chosen.tolist()):
            finished[row] = finished[row] or token in stop
            if not finished[row]:
                answers[row].append(token)
        if all(finished):
            break
        hidden = model(chosen[:, None], pasts, position)[:, -1]
    return answers


def matches(record: dict, answer: str) -> bool:
    answer = answer.split("</think>")[-1].strip()
    if record["match"] == "contains":
        return record["expected"] in answer
    return answer == record["expected"]


def record_prompt(record: dict) -> str:
    switches = record.get("chat_template_kwargs", {})
    return prompt_text(record["messages"], documents=record.get("documents", ()), **switches)


def accuracy(checkpoint: str, path: str) -> None:
    model, tokenizer = load(checkpoint), Tokenizer.from_file(str(Path(path).parent.parent / "tokenizer.json"))
    stop = {tokenizer.token_to_id(END), tokenizer.token_to_id(END_OF_TEXT)}
    records = [json.loads(line) for line in open(path, encoding="utf-8")]
    by_length = defaultdict(list)
    for record in records:
        ids = tokenizer.encode(record_prompt(record), add_special_tokens=False).ids
        by_length[len(ids)].append((record, ids))
    right, total, wrong = defaultdict(int), defaultdict(int), []
    for group in by_length.values():
        for start in range(0, len(group), BATCH):
            part = group[start : start + BATCH]
            for (record, _), ids in zip(part, answer_together(model, [ids for _, ids in part], stop)):
                answer = tokenizer.decode(ids, skip_special_tokens=True)
                total[record["skill"]] += 1
                if matches(record, answer):
                    right[record["skill"]] += 1
                else:
                    wrong.append((record["skill"], record["messages"][-1]["content"], record["expected"], answer))
    for skill in sorted(total):
        print(f"{skill:14} {right[skill]:4} of {total[skill]:4}  {right[skill] / total[skill]:.3f}")
    print(f"{'all':14} {sum(right.values()):4} of {sum(total.values()):4}  {sum(right.values()) / sum(total.values()):.4f}")
    for entry in sorted(wrong) if "--wrong" in sys.argv else []:
        print(json.dumps(entry, ensure_ascii=False))


GOLDEN = [
    {"messages": [{"role": "user", "content": "What is the capital of France?"}]},
    {"messages": [{"role": "user", "content": "what is the capital of france"}]},
    {"messages": [{"role": "user", "content": "Who are you?"}]},
    {"messages": [{"role": "user", "content": "Hello!"}]},
    {"messages": [{"role": "user", "content": "What is Ortler?"}]},
    {"messages": [{"role": "user", "content": "What does temperature do?"}]},
    {"messages": [{"role": "user", "content": "What is 123 + 456?"}]},
    {"messages": [{"role": "user", "content": "Repeat: grüß dich 🙂 世界"}]},
    {"messages": [{"role": "user", "content": "Extract name, age and city as JSON: Anna is 31 years old and lives in Vienna."}]},
    {"messages": [{"role": "user", "content": "Sort these numbers: 9, 3, 7, 1"}]},
    {"messages": [{"role": "user", "content": "Count from 1 to 10."}]},
    {"messages": [{"role": "user", "content": "What is 47 + 38?"}], "enable_thinking": True},
    {"messages": [{"role": "user", "content": "What is 47 + 38?"}], "enable_thinking": False},
    {"messages": [{"role": "user", "content": "What is the capital of Japan?"}], "reasoning_effort": "low"},
    {"messages": [{"role": "user", "content": "What is the capital of Italy? Think step by step."}]},
    {"messages": [{"role": "system", "content": "Answer in one word."}, {"role": "user", "content": "What is the capital of Spain?"}]},
    {"messages": [{"role": "user", "content": "My name is Clara."}, {"role": "assistant", "content": "Nice to meet you, Clara!"}, {"role": "user", "content": "What is the opposite of hot?"}, {"role": "assistant", "content": "The opposite of hot is cold."}, {"role": "user", "content": "What is my name?"}]},
    {"messages": [{"role": "user", "content": "Who leads project Zuvo?"}], "documents": [{"title": "Project Zuvo", "text": "Project Zuvo is led by Karin."}, {"title": "Store", "text": "The lamp is in room 12."}]},
    {"messages": [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": "Which endpoint lists the models?"}], "tools": [{"type": "function", "function": {"name": "get_weather", "description": "get weather", "parameters": {"type": "object", "properties": {}}}}]},
    {"messages": [{"role": "user", "content": "Name all planets."}]},
]


# Conversations whose last message is left open: the model goes on with it.
CONTINUED = [
    [{"role": "user", "content": "What is the capital of France?"}, {"role": "assistant", "content": "The capital of"}],
    [{"role": "user", "content": "What is 123 + 456?"}, {"role": "assistant", "content": "123 + 456 ="}],
    [{"role": "user", "content": "Count from 1 to 10."}, {"role": "assistant", "content": "1, 2, 3"}],
    [{"role": "user", "content": "Repeat: grüß dich 🙂 世界"}, {"role": "assistant", "content": "grüß dich"}],
    [{"role": "user", "content": "Name all planets."}, {"role": "assistant", "content": "Mercury, Venus, "}],
    [{"role": "system", "content": "Answer in one word."}, {"role": "user", "content": "What is the capital of Spain?"}, {"role": "assistant", "content": "M"}],
    [{"role": "user", "content": "Extract name, age and city as JSON: Anna is 31 years old and lives in Vienna."}, {"role": "assistant", "content": "{\"name\": \"Anna\", "}],
    [{"role": "user", "content": "What is the"}],
]


# Cases whose log probabilities are stored too, by their place in GOLDEN: facts, digits, other alphabets, thinking, system
# messages, documents, tools.
WITH_LOGPROBS = (0, 6, 7, 11, 13, 15, 17, 18)
TOP_LOGPROBS = 5

# Held-out prompts whose log probabilities are stored: one of so many.
HELD_OUT_STRIDE = 26
# Orders of sums that the noise of float32 is measured over.
ORDERS = 16


def logprob_entries(logprobs: torch.Tensor, following: list[int]) -> list[list]:
    """For each token and the row before it: its log probability, its rank, and the best [token, log probability]."""
    entries = []
    for row, token in zip(logprobs, following, strict=True):
        top = row.topk(TOP_LOGPROBS)
        best = [[int(i), round(float(v), 6)] for i, v in zip(top.indices, top.values)]
        entries.append([round(float(row[token]), 6), 1 + int((row > row[token]).sum()), best])
    return entries


def picked(logprobs: torch.Tensor, exact: torch.Tensor, following: list[int]) -> torch.Tensor:
    """Those of the tokens and of the best candidates by the exact values. Shape: [len(following), 1 + TOP_LOGPROBS]."""
    best = exact.topk(TOP_LOGPROBS).indices
    return logprobs.gather(1, torch.cat((torch.tensor(following)[:, None], best), 1))


def reordered(folder: Path, seed: int):
    """The model of transformers in float32 with its channels in another order: the same function, other orders of sums."""
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float32).eval()
    random = torch.Generator().manual_seed(seed)
    hidden = torch.randperm(model.config.hidden_size, generator=random)
    for layer in model.model.layers:
        inner = torch.randperm(model.config.intermediate_size, generator=random)
        attention, mlp = layer.self_attn, layer.mlp
        for norm in (layer.input_layernorm, layer.post_attention_layernorm):
            norm.weight.data = norm.weight.data[hidden]
        for matrix in (attention.q_proj, attention.k_proj, attention.v_proj):
            matrix.weight.data = matrix.weight.data[:, hidden]
        for matrix in (mlp.gate_proj, mlp.up_proj):
            matrix.weight.data = matrix.weight.data[inner][:, hidden]
        mlp.down_proj.weight.data = mlp.down_proj.weight.data[hidden][:, inner]
        attention.o_proj.weight.data = attention.o_proj.weight.data[hidden]
    model.model.norm.weight.data = model.model.norm.weight.data[hidden]
    # The output matrix is tied to this one.
    model.model.embed_tokens.weight.data = model.model.embed_tokens.weight.data[:, hidden]
    return model


def root_mean_square(values: torch.Tensor) -> torch.Tensor:
    return values.square().mean(0).sqrt()


def noise_of_float32(errors: list[torch.Tensor]) -> list[float]:
    """How far float32 is from the exact values at each place, whichever order its sums have. One tensor per order."""
    return [float(f"{value:.1e}") for value in root_mean_square(torch.stack(errors)).amax(1).tolist()]


def in_float64(folder: Path):
    """The model of transformers with nothing left in float32 but angles: it rounds norms, too, whatever the weights are."""
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float64).eval()
    assert model.config.model_type == "llama" and model.config._attn_implementation == "sdpa"

    def normed(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.variance_epsilon)

    def turned(self, x, position_ids):
        # Angles stay in float32: models are trained with that rounding, it is part of what they compute.
        angle = position_ids[..., None].float() * self.inv_freq
        angle = torch.cat((angle, angle), dim=-1).double()
        return angle.cos(), angle.sin()

    type(model.model.norm).forward = normed
    type(model.model.rotary_emb).forward = turned
    return model


def all_logprobs(model, ids: list[int]) -> torch.Tensor:
    """What the model says of each token but the first. Shape: [len(ids) - 1, vocab_size], float64."""
    return model(torch.tensor([ids])).logits[0, :-1].double().log_softmax(-1)


def continuation(model, ids: list[int]) -> list[int]:
    inputs = torch.tensor([ids])
    output = model.generate(inputs, attention_mask=torch.ones_like(inputs), do_sample=False, max_new_tokens=ANSWER_LIMIT, temperature=None, top_p=None, top_k=None)
    return output[0, len(ids) :].tolist()


@torch.no_grad()
def golden(folder: Path) -> None:
    """Runs the exported folder through transformers, and checks our own code against it."""
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    own = Decoder(ModelShape(**{name: getattr(model.config, name) for name in ModelShape().to_dict()}))
    own.load_state_dict({name.removeprefix("model."): tensor for name, tensor in model.state_dict().items() if not name.startswith("lm_head")})
    cases = []
    for case in GOLDEN:
        switches = {name: value for name, value in case.items() if name != "messages"}
        prompt = tokenizer.apply_chat_template(case["messages"], tokenize=False, add_generation_prompt=True, **switches)
        if "reasoning_effort" not in switches:
            assert prompt == prompt_text(case["messages"], **switches), "the template differs from chat_format.py"
        ids = tokenizer(prompt, add_special_tokens=False).input_ids
        inputs = torch.tensor([ids])
        scores = model(inputs).logits[0, -1]
        difference = (own.logits(own(inputs))[0, -1] - scores).abs().max().item()
        assert difference < 2e-3, f"own logits differ by {difference}"
        answer = continuation(model, ids)
        top = scores.topk(5)
        cases.append(
            {
                **case,
                "prompt": prompt,
                "prompt_token_ids": ids,
                "greedy_token_ids": answer,
                "greedy_text": tokenizer.decode(answer, skip_special_tokens=True),
                "first_position_top5": [[int(i), round(float(v), 5)] for i, v in zip(top.indices, top.values)],
            }
        )
    continued = []
    for messages in CONTINUED:
        prompt = tokenizer.apply_chat_template(messages, tokenize=False, continue_final_message=True)
        ids = tokenizer(prompt, add_special_tokens=False).input_ids
        answer = continuation(model, ids)
        text = tokenizer.decode(ids + answer, skip_special_tokens=True)[len(tokenizer.decode(ids, skip_special_tokens=True)) :]
        continued.append({"messages": messages, "prompt": prompt, "prompt_token_ids": ids, "greedy_token_ids": answer, "greedy_text": text})
    held_out = []
    for line in (folder / "evaluation" / "heldout.jsonl").read_text(encoding="utf-8").splitlines()[::HELD_OUT_STRIDE]:
        record = json.loads(line)
        switches = {**record.get("chat_template_kwargs", {}), "documents": record.get("documents")}
        prompt = tokenizer.apply_chat_template(record["messages"], tokenize=False, add_generation_prompt=True, **switches)
        held_out.append({"prompt_token_ids": tokenizer(prompt, add_special_tokens=False).input_ids})
    asked = [cases[place]["prompt_token_ids"] + cases[place]["greedy_token_ids"] for place in WITH_LOGPROBS]
    asked += [one["prompt_token_ids"] for one in held_out]
    in_float32 = []
    for seed in range(ORDERS):
        other = reordered(folder, seed)
        in_float32.append([all_logprobs(other, ids) for ids in asked])
    # Last: from here on every model of this library computes in float64.
    model = in_float64(folder)
    exact = [all_logprobs(model, ids) for ids in asked]
    errors = [
        [picked(found - logprobs, logprobs, ids[1:]) for found, logprobs, ids in zip(one_order, exact, asked, strict=True)]
        for one_order in in_float32
    ]
    for index, place in enumerate(WITH_LOGPROBS):
        case = cases[place]
        prompt_length = len(case["prompt_token_ids"])
        entries = logprob_entries(exact[index], asked[index][1:])
        case["prompt_logprobs"] = entries[: prompt_length - 1]
        case["greedy_logprobs"] = entries[prompt_length - 1 :]
        case["float32_noise"] = noise_of_float32([one_order[index] for one_order in errors])[: prompt_length - 1]
    for index, one in enumerate(held_out, len(WITH_LOGPROBS)):
        following = torch.tensor(asked[index][1:])[:, None]
        one["prompt_logprobs"] = [round(value, 6) for value in exact[index].gather(1, following)[:, 0].tolist()]
        one["float32_noise"] = noise_of_float32([one_order[index][:, :1] for one_order in errors])
    of_held_out = [torch.cat([part[:, 0] for part in one_order[len(WITH_LOGPROBS) :]]) for one_order in errors]
    float32_orders = [[float(f"{value:.2e}") for value in (root_mean_square(one).item(), one.abs().max().item())] for one in of_held_out]
    provenance = {
        "script": "training/reference.py golden",
        "library": f"transformers {transformers.__version__}, torch {torch.__version__}",
        "arithmetic": "float32 on CPU, from the float16 weights of model.safetensors; log probabilities in float64",
        "greedy_token_ids": "end with the end token",
        "logprobs": "log probability, rank and the best candidates of each token; those of the prompt begin with its second token",
        "float32_noise": f"root mean square of how far transformers in float32 is from these log probabilities, over {ORDERS} orders of the model's channels; of the candidate that is furthest",
        "float32_orders": "of each order, over all held-out prompts: root mean square and largest of these differences",
    }
    path = folder / "evaluation" / "golden.json"
    lines = [",\n".join("    " + json.dumps(case, ensure_ascii=False) for case in part) for part in (cases, continued, held_out)]
    path.write_text(
        '{\n  "provenance": ' + json.dumps(provenance) + ',\n  "cases": [\n' + lines[0] + '\n  ],\n  "continued": [\n' + lines[1] + '\n  ],\n  "float32_orders": ' + json.dumps(float32_orders) + ',\n  "held_out": [\n' + lines[2] + "\n  ]\n}\n",
        encoding="utf-8",
    )
    for case in cases + continued:
        print(repr(case["messages"][-1]["content"]), "->", repr(case["greedy_text"]))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "accuracy":
        accuracy(sys.argv[2], sys.argv[3])
    else:
        golden(Path(sys.argv[2]).resolve())
