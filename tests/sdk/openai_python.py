"""The openai SDK for Python against a running server.

Called by openai-python.test.ts with the base URL and the key; prints one JSON line per check and fails loudly.
"""

import json
import sys

import openai

base_url, api_key = sys.argv[1:3]
question = [{"role": "user", "content": "What is the capital of France?"}]
client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)


def report(check: str, ok: bool, **facts: object) -> None:
    print(json.dumps({"check": check, "ok": bool(ok), **facts}), flush=True)


def fails_with(kind: type, call) -> bool:
    try:
        call()
    except kind:
        return True
    return False


models = client.models.list()
report("models", any(model.id == "ortler-demo" for model in models.data))

report("retrieve", client.models.retrieve("ortler-demo") in models.data)

plain = client.chat.completions.create(model="ortler-demo", messages=question, temperature=0)
text = plain.choices[0].message.content
report("create", "Paris" in text and plain.choices[0].finish_reason == "stop", text=text)

chunks = client.chat.completions.create(
    model="ortler-demo", messages=question, temperature=0, stream=True, stream_options={"include_usage": True}
)
streamed, usage = "", None
for chunk in chunks:
    if chunk.choices:
        streamed += chunk.choices[0].delta.content or ""
    usage = chunk.usage or usage
# The second request may find its prompt in the cache, so only the totals are the same.
same_usage = (usage.prompt_tokens, usage.total_tokens) == (plain.usage.prompt_tokens, plain.usage.total_tokens)
report("stream", streamed == text and same_usage, text=streamed)

stranger = openai.OpenAI(base_url=base_url, api_key="wrong", max_retries=0)
report("401", fails_with(openai.AuthenticationError, stranger.models.list))
create = client.chat.completions.create
report("404", fails_with(openai.NotFoundError, lambda: create(model="nope", messages=question)))
report("400", fails_with(openai.BadRequestError, lambda: create(model="ortler-demo", messages=question, top_p=0)))

extra = create(
    model="ortler-demo", messages=question, temperature=0, extra_body={"return_token_ids": True, "top_k": 5}
)
several = create(model="ortler-demo", messages=question, seed=3, n=2, max_tokens=4, logprobs=True, top_logprobs=2)
report(
    "logprobs",
    len(several.choices) == 2
    and sum(len(choice.logprobs.content) for choice in several.choices) == several.usage.completion_tokens
    and all(entry.top_logprobs[0].token == entry.token for entry in several.choices[0].logprobs.content),
)
thinking = create(
    model="ortler-demo", messages=question, reasoning_effort="low", max_tokens=3, extra_body={"min_tokens": 3}
)
report("reasoning", isinstance(thinking.choices[0].message.reasoning, str))
report("extra_body", len(extra.choices[0].token_ids) == extra.usage.completion_tokens)

several = client.completions.create(
    model="ortler-demo", prompt=["The capital of France is", "Two and two"], temperature=0, max_tokens=4
)
pieces = client.completions.create(
    model="ortler-demo", prompt="The capital of France is", temperature=0, max_tokens=4, stream=True
)
continued = "".join(chunk.choices[0].text for chunk in pieces)
report("completions", len(several.choices) == 2 and continued == several.choices[0].text, text=continued)
