"""Writes MODEL/transformers.json: the log probabilities that transformers computes in float32 for the text of llama-cpp.json.

transformers reads the GGUF file itself: it dequantises the weights with gguf-py and undoes llama.cpp's order of rows.

Run:  python make-transformers.py MODEL FILE.gguf        (needs torch, transformers, gguf and accelerate)
"""

import hashlib
import json
import math
import pathlib
import sys

import torch
import transformers
from transformers import AutoModelForCausalLM

FOLDER = pathlib.Path(__file__).parent
name, path = sys.argv[1], pathlib.Path(sys.argv[2])
sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
texts = json.loads((FOLDER / name / "llama-cpp.json").read_text())
assert texts["provenance"]["sha256"] == sha256, "The token ids are of another file."

model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
model.eval()
sums = []
with torch.inference_mode():
    for ids in texts["text"]:
        logprobs = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        sums.append(float(sum(logprobs[at, ids[at + 1]] for at in range(len(ids) - 1))))
count = sum(len(ids) - 1 for ids in texts["text"])
provenance = {
    "script": pathlib.Path(__file__).name,
    "transformers": transformers.__version__,
    "torch": torch.__version__,
    "sha256": sha256,
}
content = {"provenance": provenance, "perplexity": math.exp(-sum(sums) / count), "logprobSums": sums}
(FOLDER / name / "transformers.json").write_text(json.dumps(content, indent=1) + "\n")
