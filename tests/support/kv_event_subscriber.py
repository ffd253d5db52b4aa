"""Subscribes to KV-cache events with libzmq and decodes them strictly with msgspec, by structs with vLLM's fields.

Arguments: PUB address, replay address, format (array or map), topic.
Writes a line of JSON for each batch. For each line on its input it asks for a replay from that number and writes what came.
"""

import json
import sys
from typing import Any

import msgspec
import zmq

address, replay_address, form, topic = sys.argv[1:5]
IS_ARRAY = form == "array"


class Event(msgspec.Struct, tag=True, array_like=IS_ARRAY, forbid_unknown_fields=True):
    pass


class BlockStored(Event):
    block_hashes: list[int | bytes]
    parent_block_hash: int | bytes | None
    token_ids: list[int]
    block_size: int
    lora_id: int | None
    medium: str | None
    lora_name: str | None
    extra_keys: list[tuple[Any, ...] | None] | None = None


class BlockRemoved(Event):
    block_hashes: list[int | bytes]
    medium: str | None


class AllBlocksCleared(Event):
    pass


class Batch(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    ts: float
    events: list[BlockStored | BlockRemoved | AllBlocksCleared]
    data_parallel_rank: int | None = None




decoder = msgspec.msgpack.Decoder(Batch)


def shown(payload):
    batch = decoder.decode(payload)
    events = []
    for event in batch.events:
        fields = {name: getattr(event, name) for name in event.__struct_fields__}
        for name in ("block_hashes", "parent_block_hash"):
            value = fields.get(name)
            # JavaScript has no integers of 64 bits.
            if value is not None:
                fields[name] = [str(hash) for hash in value] if isinstance(value, list) else str(value)
        events.append({"name": type(event).__name__, **fields})
    return {"ts": batch.ts, "rank": batch.data_parallel_rank, "events": events}


def write(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


context = zmq.Context()
subscriber = context.socket(zmq.SUB)
subscriber.setsockopt(zmq.HEARTBEAT_IVL, 200)
subscriber.setsockopt(zmq.HEARTBEAT_TIMEOUT, 5_000)
subscriber.subscribe(topic.encode())
subscriber.subscribe(b"another topic")
monitor = subscriber.get_monitor_socket()
subscriber.connect(address)
poller = zmq.Poller()
poller.register(subscriber, zmq.POLLIN)
poller.register(monitor, zmq.POLLIN)
poller.register(sys.stdin.fileno(), zmq.POLLIN)
while True:
    ready = dict(poller.poll())
    if monitor in ready:
        frames = monitor.recv_multipart()
        if int.from_bytes(frames[0][:2], sys.byteorder) == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            write(connected=True)
    if subscriber in ready:
        name, number, payload = subscriber.recv_multipart()
        write(topic=name.decode(), number=int.from_bytes(number, "big"), **shown(payload))
    if sys.stdin.fileno() in ready:
        line = sys.stdin.readline()
        if line == "":
            break
        asking = context.socket(zmq.DEALER)
        asking.connect(replay_address)
        asking.send_multipart([b"", int(line).to_bytes(8, "big")])
        batches = []
        while True:
            _, number, payload = asking.recv_multipart()
            if number == (-1).to_bytes(8, "big", signed=True):
                break
            batches.append({"number": int.from_bytes(number, "big"), **shown(payload)})
        asking.close(0)
        write(replay=batches)
