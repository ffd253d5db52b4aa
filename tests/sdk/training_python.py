"""The public training client for Python (openpipe-art, its serverless client class) against a running server.

Called by training-python.test.ts with the base URL and the key; prints one JSON line per check and fails loudly.
The package's top modules import training frameworks, so its client module is loaded without them, unchanged.
"""

import asyncio
import importlib.util
import json
import pathlib
import sys
import types

base_url, api_key = sys.argv[1:3]

site = pathlib.Path(importlib.util.find_spec("openai").origin).parent.parent
for name in ("art", "art.serverless"):
    package = types.ModuleType(name)
    package.__path__ = [str(site / name.replace(".", "/"))]
    sys.modules[name] = package

import openai  # noqa: E402
from art.serverless.client import Client  # noqa: E402
from art.trajectories import Trajectory, TrajectoryGroup  # noqa: E402


def report(check: str, ok: bool, **facts: object) -> None:
    print(json.dumps({"check": check, "ok": bool(ok), **facts}), flush=True)


async def raised(call) -> Exception | None:
    try:
        await call
    except Exception as error:
        return error
    return None


async def main() -> None:
    client = Client(api_key=api_key, base_url=base_url)
    wanted = {"entity": None, "project": "tests", "name": "client", "base_model": "a"}
    model = await client.models.create(**wanted, return_existing=True)
    again = await client.models.create(**wanted, return_existing=True)
    report("create", model.id == again.id and model.run_id is None, model=model.model_dump())
    report("conflict", isinstance(await raised(client.models.create(**wanted)), openai.ConflictError))

    async def steps(**options) -> list[int]:
        return [item.step async for item in client.models.checkpoints.list(model_id=model.id, **options)]

    report("fresh", await steps(limit=1, order="desc") == [])

    chats = openai.AsyncOpenAI(api_key=api_key, base_url=base_url).chat.completions
    address = "wandb-artifact:///default/tests/client"
    answers = [
        await chats.create(model=name, messages=[{"role": "user", "content": "2 + 2?"}], max_tokens=2)
        for name in (address, f"{address}:step0")
    ]
    report("rollout before training", [answer.model for answer in answers] == ["a", "a"])

    choice = openai.types.chat.chat_completion.Choice.model_validate(
        {
            "finish_reason": "stop",
            "index": 0,
            "message": {"role": "assistant", "content": "4"},
            "logprobs": {"content": [{"token": "4", "logprob": -0.1, "bytes": [52], "top_logprobs": []}]},
        }
    )
    trajectory = Trajectory(
        messages_and_choices=[{"role": "user", "content": "2 + 2?"}, choice],
        reward=1.0,
        metrics={"correct": True},
        metadata={"task": "sum"},
        logs=["answered"],
    ).finish()
    group = TrajectoryGroup([trajectory, Trajectory(reward=0.0)], metadata={"difficulty": 1})
    logged = await client.models.log(model_id=model.id, trajectory_groups=[group, group], split="val")
    report("log", logged is None)
    refused = await raised(client.models.log(model_id=model.id, trajectory_groups=[], split=""))
    report("refused log", isinstance(refused, openai.UnprocessableEntityError), error=str(refused))

    # A trainer registers checkpoints; the client has no call for it.
    for _ in range(5):
        await client.post(f"/preview/models/{model.id}/checkpoints", cast_to=object, body={})
    report("list", await steps() == [0, 1, 2, 3, 4])
    report("pages", await steps(limit=2) == [0, 1, 2, 3, 4] and await steps(limit=2, order="desc") == [4, 3, 2, 1, 0])
    await client.models.log(model_id=model.id, trajectory_groups=[group], split="val")
    newest = [item async for item in client.models.checkpoints.list(model_id=model.id, limit=1, order="desc")][0]
    report("metrics", newest.metrics.get("val/reward") == 0.5, metrics=newest.metrics)

    deleted = await client.models.checkpoints.delete(model_id=model.id, steps=[1, 99])
    report("delete steps", (deleted.deleted_count, deleted.not_found_steps) == (1, [99]))
    report("after delete", await steps(limit=2) == [0, 2, 3, 4])

    job = await raised(client.training_jobs.create(model_id=model.id, trajectory_groups=[group]))
    report("no jobs", isinstance(job, openai.APIStatusError) and job.status_code in (404, 405), error=str(job))
    stranger = Client(api_key="wrong", base_url=base_url)
    report("401", isinstance(await raised(stranger.models.delete(model_id=model.id)), openai.AuthenticationError))
    report("delete", await client.models.delete(model_id=model.id) is None)
    report("gone", isinstance(await raised(client.models.delete(model_id=model.id)), openai.NotFoundError))


asyncio.run(main())
