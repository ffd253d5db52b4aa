"""Writes MODEL/transformers.json: the log probabilities that transformers computes in float32 for the text of llama-cpp.json, or
where there is none, for the paragraphs of the server's report-text.txt with the tokens of transformers.

transformers reads the GGUF file itself: it dequantises the weights with gguf-py and undoes llama.cpp's order of rows.

Run:  python make-transformers.py MODEL FILE.gguf        (needs torch, transformers, gguf and accelerate)
"""

import hashlib
import json
import math
import pathlib
import re
import sys

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

FOLDER = pathlib.Path(__file__).parent
name, path = sys.argv[1], pathlib.Path(sys.argv[2])
sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
known = FOLDER / name / "llama-cpp.json"
if known.exists():
    texts = json.loads(known.read_text())
    assert texts["provenance"]["sha256"] == sha256, "The token ids are of another file."
    tokens = texts["text"]
else:
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    report = (FOLDER.parents[2] / "apps" / "server" / "report-text.txt").read_text().strip()
    tokens = [tokenizer(paragraph).input_ids for paragraph in re.split(r"\n\s*\n", report)]

model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
model.eval()
scores = []
with torch.inference_mode():
    for ids in tokens:
        logprobs = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        scores.append([float(logprobs[at, ids[at + 1]]) for at in range(len(ids) - 1)])
provenance = {
    "script": pathlib.Path(__file__).name,
    "transformers": transformers.__version__,
    "torch": torch.__version__,
    "sha256": sha256,
}
mean = sum(map(sum, scores)) / sum(map(len, scores))
rows = [[round(score, 4) for score in row] for row in scores]
content = {"provenance": provenance, "perplexity": math.exp(-mean), "logprobs": rows}
if not known.exists():
    content["text"] = tokens
folder = FOLDER / name
folder.mkdir(exist_ok=True)
(folder / "transformers.json").write_text(json.dumps(content) + "\n")
