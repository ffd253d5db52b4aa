"""The decoder that is trained here: Llama shape, tied embeddings, grouped-query attention.

Called by train.py, reference.py and export.py. Parameter names equal those of
a Hugging Face Llama checkpoint, so that exporting is only a rounding.
"""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class ModelShape:
    """Every number that config.json states about the network."""

    vocab_size: int = 2560
    hidden_size: int = 256
    intermediate_size: int = 640
    num_hidden_layers: int = 6
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 64
    max_position_embeddings: int = 2048
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5

    def to_dict(self) -> dict:
        return asdict(self)


def rotary_table(shape: ModelShape) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine of every position. Shape: [max_position_embeddings, head_dim]."""
    half = torch.arange(0, shape.head_dim, 2, dtype=torch.float32) / shape.head_dim
    angle = torch.outer(torch.arange(shape.max_position_embeddings).float(), shape.rope_theta ** -half)
    angle = torch.cat((angle, angle), dim=-1)
    return angle.cos(), angle.sin()


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turns each (i, i + head_dim / 2) pair of x by the angle of its position."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class RmsNorm(nn.Module):
    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.eps)


class Attention(nn.Module):
    def __init__(self, shape: ModelShape):
        super().__init__()
        self.shape = shape
        query_size = shape.num_attention_heads * shape.head_dim
        key_size = shape.num_key_value_heads * shape.head_dim
        self.q_proj = nn.Linear(shape.hidden_size, query_size, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, key_size, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, key_size, bias=False)
        self.o_proj = nn.Linear(query_size, shape.hidden_size, bias=False)

    def forward(self, x, cos, sin, past):
        batch, length, _ = x.shape
        heads = lambda y: y.view(batch, length, -1, self.shape.head_dim).transpose(1, 2)
        query = rotate(heads(self.q_proj(x)), cos, sin)
        key = rotate(heads(self.k_proj(x)), cos, sin)
        value = heads(self.v_proj(x))
        if past is not None:
            if past:
                key, value = torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)
            past[:] = [key, value]
        # Written out: on CPUs the backward pass of the fused bfloat16 attention takes several times longer.
        group = self.shape.num_attention_heads // self.shape.num_key_value_heads
        key, value = key.repeat_interleave(group, dim=1), value.repeat_interleave(group, dim=1)
        scores = query @ key.mT * self.shape.head_dim**-0.5
        if length > 1:
            future = torch.ones(length, length, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(future, float("-inf"))
        mixed = scores.float().softmax(-1).to(value.dtype) @ value
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))


class FeedForward(nn.Module):
    def __init__(self, shape: ModelShape):
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shape: ModelShape):
        super().__init__()
        self.input_layernorm = RmsNorm(shape.hidden_size, shape.rms_norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = RmsNorm(shape.hidden_size, shape.rms_norm_eps)
        self.mlp = FeedForward(shape)

    def forward(self, x, cos, sin, past):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, past)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    """Token ids to hidden states; `logits` turns chosen hidden states into scores."""

    def __init__(self, shape: ModelShape):
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))
        self.norm = RmsNorm(shape.hidden_size, shape.rms_norm_eps)
        cos, sin = rotary_table(shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.apply(self._initialise)

    def _initialise(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
        # The two matrices that write to the residual stream start at a small scale.
        if isinstance(module, Attention):
            nn.init.normal_(module.o_proj.weight, std=0.2 * module.o_proj.in_features**-0.5)
        if isinstance(module, FeedForward):
            nn.init.normal_(module.down_proj.weight, std=0.2 * module.down_proj.in_features**-0.5)

    def forward(self, tokens: torch.Tensor, pasts: list | None = None, offset: int = 0) -> torch.Tensor:
        """Shape: tokens [batch, length] to hidden states [batch, length, hidden_size]."""
        x = self.embed_tokens(tokens)
        length = tokens.shape[1]
        cos, sin = self.cos[offset : offset + length], self.sin[offset : offset + length]
        for index, layer in enumerate(self.layers):
            x = layer(x, cos, sin, None if pasts is None else pasts[index])
        return self.norm(x)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return F.linear(hidden, self.embed_tokens.weight)
