"""The prompt format of chat_template.jinja in Python, split into parts with and without loss.

Used by training, where speed matters; reference.py proves that it agrees with the template.
"""

import json

END_OF_TEXT, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
THINK, THINK_END = "<think>", "</think>"
SPECIAL_TOKENS = [END_OF_TEXT, START, END]
# Ordinary text to whoever decodes: skip_special_tokens keeps them.
MARKER_TOKENS = [THINK, THINK_END, "<tool_call>", "</tool_call>"]


def system_text(system: str | None, tools: list, documents: list) -> str | None:
    parts = [system] if system is not None else []
    if tools:
        parts.append("# Tools\n" + json.dumps(tools, ensure_ascii=False))
    if documents:
        parts.append("# Documents\n" + "\n".join(f"{d['title']}: {d['text']}" for d in documents))
    return "\n\n".join(parts) if parts else None


def generation_prompt(enable_thinking: bool | None) -> str:
    opened = f"{START}assistant\n"
    if enable_thinking is None:
        return opened
    return opened + (f"{THINK}\n" if enable_thinking else f"{THINK}\n\n{THINK_END}\n\n")


def without_thought(answer: str) -> str:
    return answer.split(THINK_END)[-1].lstrip("\n")


def render(messages: list[dict], enable_thinking=None, thought="", tools=(), documents=()) -> list[tuple[str, bool]]:
    """(text, is_target) pieces of a conversation whose assistant turns are all targets.

    Earlier assistant turns lose their thoughts, as in the template; the last one
    is preceded by the generation prompt that `enable_thinking` asks for.
    """
    system = messages[0]["content"] if messages[0]["role"] == "system" else None
    turns = messages[1:] if system is not None else messages
    pieces = []
    head = system_text(system, list(tools), list(documents))
    if head is not None:
        pieces.append((f"{START}system\n{head}{END}\n", False))
    for index, turn in enumerate(turns):
        if turn["role"] != "assistant":
            pieces.append((f"{START}{turn['role']}\n{turn['content']}{END}\n", False))
        elif index < len(turns) - 1:
            pieces += [(generation_prompt(None), False), (without_thought(turn["content"]) + END, True), ("\n", False)]
        else:
            answer = turn["content"] + END
            if enable_thinking:
                answer = f"{thought}\n{THINK_END}\n\n{answer}"
            pieces += [(generation_prompt(enable_thinking), False), (answer, True)]
    return pieces


def prompt_text(messages: list[dict], **switches) -> str:
    """Everything before the last answer. messages may end with that answer or with the user."""
    if messages[-1]["role"] != "assistant":
        messages = [*messages, {"role": "assistant", "content": ""}]
    return "".join(text for text, _ in render(messages, **switches)[:-1])
