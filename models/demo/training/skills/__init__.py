"""One module per skill; each has `generate(rng)`, which draws one Example."""
