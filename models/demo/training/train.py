"""Trains the demo model on the CPU.

    python train.py --minutes 60 --out run          # train for this long, checkpoints in run/
    python train.py --steps 9000 --out run          # the same, by number of steps
    python train.py --steps 9000 --out run2 --init run/final.pt --seed 2   # train further, on other data
    python train.py --minutes 60 --out run --init .. --seed 5 --peak 0.5   # train the published weights further

Matrices are updated by Muon (orthogonalised momentum), embeddings and norms by
AdamW. The learning rate warms up and falls to zero in a straight line.

One process for each core, one thread each: processes meet once in a step, threads
at every operation, which is slow as soon as the machine has anything else to do.
"""

import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

from batches import IGNORED, batches
from model import Decoder, ModelShape

MUON_RATE, ADAM_RATE = 0.02, 0.004
MOMENTUM = 0.95
WEIGHT_DECAY = 0.01
WARM_UP_STEPS = 30
BATCHES_PER_STEP = 1


def orthogonalise(matrices: torch.Tensor) -> torch.Tensor:
    """Newton-Schulz iteration towards the nearest semi-orthogonal matrices.

    Shape: [count, rows, columns]. All matrices of one shape go together, which
    is many times faster on a CPU than one after the other.
    Source: K. Jordan, "Muon: an optimizer for hidden layers in neural networks" (2024).
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrices.bfloat16()
    tall = x.shape[1] > x.shape[2]
    x = x.mT.contiguous() if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.mT if tall else x).float()


class Muon(torch.optim.Optimizer):
    """One parameter group for each shape of matrix."""

    def __init__(self, parameters, lr: float):
        shapes = {}
        for weight in parameters:
            shapes.setdefault(tuple(weight.shape), []).append(weight)
        super().__init__([{"params": group} for group in shapes.values()], {"lr": lr})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            weights = group["params"]
            gradients = torch.stack([weight.grad for weight in weights])
            momentum = self.state[weights[0]].setdefault("momentum", torch.zeros_like(gradients))
            momentum.lerp_(gradients, 1 - MOMENTUM)
            updates = orthogonalise(gradients.lerp(momentum, MOMENTUM))
            rows, columns = weights[0].shape
            scale = max(1.0, rows / columns) ** 0.5
            for weight, update in zip(weights, updates):
                weight.mul_(1 - group["lr"] * WEIGHT_DECAY).add_(update, alpha=-group["lr"] * scale)


def rate_factor(progress: float, step: int, peak: float) -> float:
    """Share of the full learning rate: linear warm-up to the peak, then a straight fall to zero.

    A plateau learned nothing more once the loss was below 0.3: noise of the small batches held it there.
    """
    if step < WARM_UP_STEPS:
        return peak * (step + 1) / WARM_UP_STEPS
    return peak * max(0.0, 1.0 - progress)


def loss_sum(forward, model: Decoder, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Sum of the losses of all answer tokens; scores are computed only there."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = forward(tokens)
        chosen = (targets != IGNORED).flatten().nonzero().squeeze(1)
        logits = model.logits(hidden.flatten(0, 1)[chosen])
    return F.cross_entropy(logits.float(), targets.flatten()[chosen], reduction="sum")


def average_gradients(model: Decoder, target_count: int, minutes: float) -> tuple[int, float]:
    """Sums gradients over all processes, divides by the number of answer tokens, returns that and the time of process 0.

    The time travels with the gradients, so that all processes agree on the schedule.
    Mutates: the gradients of model.
    """
    parameters = list(model.parameters())
    facts = torch.tensor([float(target_count), minutes if dist.get_rank() == 0 else 0.0])
    flat = torch.cat([*(p.grad.flatten() for p in parameters), facts])
    dist.all_reduce(flat)
    total, minutes = int(flat[-2]), float(flat[-1])
    start = 0
    for p in parameters:
        p.grad.copy_(flat[start : start + p.numel()].view_as(p)).div_(total)
        start += p.numel()
    return total, minutes


def read_weights(path: str) -> dict[str, torch.Tensor]:
    """Weights of a checkpoint, or of a Hugging Face folder that export.py wrote."""
    if not os.path.isdir(path):
        return torch.load(path, map_location="cpu")["model"]
    weights = load_file(f"{path}/model.safetensors")
    return {name.removeprefix("model."): tensor.float() for name, tensor in weights.items()}


def train(rank: int, options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rendezvous = f"file://{os.path.abspath(options.out)}/rendezvous"
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=options.processes)
    tokenizer = Tokenizer.from_file(options.tokenizer)
    model = Decoder(ModelShape(vocab_size=tokenizer.get_vocab_size()))
    if options.init:
        model.load_state_dict(read_weights(options.init))
    forward = model if options.no_compile else torch.compile(model, dynamic=True)
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim < 2 or "embed" in name]
    optimizers = [Muon(matrices, MUON_RATE), torch.optim.AdamW(others, ADAM_RATE, betas=(0.9, 0.98), weight_decay=0.0)]
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["full_rate"] = group["lr"]

    def save(name: str) -> None:
        torch.save({"model": model.state_dict(), "shape": model.shape.to_dict(), "step": step}, f"{options.out}/{name}.pt")

    source = batches(tokenizer, f"train {options.seed} {rank}")
    started = saved = time.time()
    step = seen = answered = 0
    minutes = 0.0
    window = []
    while True:
        progress = step / options.steps if options.steps else minutes / options.minutes
        if progress >= 1:
            break
        factor = rate_factor(progress, step, options.peak)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["full_rate"] * factor
        target_count, step_loss = 0, 0.0
        for _ in range(BATCHES_PER_STEP):
            tokens, targets = next(source)
            loss = loss_sum(forward, model, tokens, targets)
            loss.backward()
            step_loss += loss.item()
            target_count += int((targets != IGNORED).sum())
            seen += tokens.numel() * options.processes
        window.append(step_loss / target_count)
        total, minutes = average_gradients(model, target_count, (time.time() - started) / 60)
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        step += 1
        answered += total
        if rank == 0 and step % 50 == 0:
            entry = {"step": step, "minutes": round(minutes, 2), "loss": round(sum(window) / len(window), 4), "rate": round(factor, 4), "tokens": seen, "answer_tokens": answered}
            with open(f"{options.out}/log.jsonl", "a", encoding="utf-8") as log:
                log.write(json.dumps(entry) + "\n")
            print(json.dumps(entry), flush=True)
            window.clear()
        if rank == 0 and time.time() - saved > 60 * options.checkpoint_minutes:
            save("latest")
            saved = time.time()
    if rank == 0:
        save("final")
        print(f"{step} steps, {seen} tokens, {answered} answer tokens, {minutes:.1f} minutes")
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokenizer", default="../tokenizer.json")
    parser.add_argument("--out", default="run")
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--checkpoint-minutes", type=float, default=4)
    parser.add_argument("--peak", type=float, default=1.0, help="share of the full learning rate to start from; 0.5 for weights that know something")
    parser.add_argument("--init", help="checkpoint, or folder with model.safetensors, to start from")
    parser.add_argument("--no-compile", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    if os.path.exists(f"{options.out}/rendezvous"):
        os.remove(f"{options.out}/rendezvous")
    torch.multiprocessing.spawn(train, args=(options,), nprocs=options.processes)


if __name__ == "__main__":
    main()
