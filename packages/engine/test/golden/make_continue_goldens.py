"""Makes the goldens of prompts whose last message is left open: what `transformers` renders for them.

Usage (from packages/engine, with `transformers` and `jinja2` installed): python test/golden/make_continue_goldens.py
Writes continue-final-message.json beside this file. `prompt` is null where the
original refuses, or leaves its own mark in the prompt (a template that shows the last message twice).
"""

import json
import platform
from pathlib import Path

import jinja2
import transformers
from transformers.utils.chat_template_utils import render_jinja_template

HERE = Path(__file__).parent
TEMPLATES = {path.stem: path.read_text() for path in sorted((HERE / "templates").glob("*.jinja"))}
TEMPLATES |= {
    "trims": "{% for m in messages %}[{{ m.role }}]{{ m.content | trim }}{{ '</s>' }}{% endfor %}",
    "strips the end": "{% for m in messages %}{{ m.content.rstrip() }}\n{% endfor %}",
    "drops the last": "{% for m in messages[:-1] %}{{ m.content }}{% endfor %}",
    "says it twice": "{{ messages[-1].content }}|{{ messages[-1].content }}</s>",
    "cuts it short": "{{ messages[-1].content[:3] }}",
    "upper case": "{{ messages[-1].content | upper }}",
}
USER = {"role": "user", "content": "What is the capital of France?"}
SYSTEM = {"role": "system", "content": "Be brief."}
FINALS = ["The capital is", "", " ", "Paris \n", "  two  lines\n\nhere", "<think>\nhm", "{\"city\": \"", "日本語 👍", "<think>\na\n</think>\n\nb"]
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "date_string": "21 Nov 2026"}


def render(template, messages):
    try:
        prompt = render_jinja_template(
            conversations=[messages], chat_template=template, continue_final_message=True, add_generation_prompt=False, **SPECIAL
        )[0][0]
        return None if "CONTINUE_FINAL_MESSAGE_TAG" in prompt else prompt
    except Exception:
        return None


cases = []
for name, template in TEMPLATES.items():
    for role in ("assistant", "user"):
        for final in FINALS:
            before = [USER] if role == "assistant" else [USER, {"role": "assistant", "content": "Paris."}]
            messages = [*before, {"role": role, "content": final}]
            if name == "parts":
                messages = [{**m, "content": [{"type": "text", "text": m["content"]}]} for m in messages]
                messages[-1]["content"].insert(0, {"type": "text", "text": "first "})
            cases.append({"template": name, "messages": messages, "prompt": render(template, messages)})
    cases.append({"template": name, "messages": [SYSTEM, USER], "prompt": render(template, [SYSTEM, USER])} if name != "parts" else
                 {"template": name, "messages": [{"role": "user", "content": []}], "prompt": render(template, [{"role": "user", "content": []}])})

golden = {
    "provenance": {
        "script": "make_continue_goldens.py",
        "python": platform.python_version(),
        "jinja2": jinja2.__version__,
        "transformers": transformers.__version__,
    },
    "special": SPECIAL,
    "templates": TEMPLATES,
    "cases": cases,
}
(HERE / "continue-final-message.json").write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n")
print(len(cases), "cases,", sum(case["prompt"] is None for case in cases), "refused")
