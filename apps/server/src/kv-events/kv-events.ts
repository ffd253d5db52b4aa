// KV-cache events of a server: what its engines report goes out over ZeroMQ in vLLM's form, one batch for each step that changed a
// cache, numbered from 0. Routers track the cache by them; one that missed numbers requests them at the
// replay address.

import { readPartitionSalt } from '@ortler/api';
import type { EngineOptions } from '@ortler/engine';
import { type EventFormat, type EventModel, encodeBatch, type KvEvent, saltOfModel } from './encode-batch.ts';
import type { TcpEndpoint } from './tcp-endpoint.ts';
import { bindPublisher, bindRouter, type ZmtpServer } from './zmtp-server.ts';

/** Batches that can be asked for again: as many as vLLM keeps, within some memory. Unit: bytes. */
const REPLAY_BATCHES = 10_000;
const REPLAY_BYTES = 64 * 1024 * 1024;
/** After the last batch of a replay: the number -1, and nothing. */
const END_OF_REPLAY = Buffer.alloc(8, 0xff);
const EMPTY = Buffer.alloc(0);

export interface KvEventSettings {
  readonly endpoint: TcpEndpoint;
  readonly replayEndpoint: TcpEndpoint | undefined;
  readonly topic: string;
  readonly format: EventFormat;
  readonly defaultModelId: string;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}

type CacheEvents = Parameters<NonNullable<EngineOptions['onCacheEvents']>>[0];

/** The cache of one model. */
export interface ModelCacheEvents {
  /** `blockLength`: tokens of a block. */
  changed(events: CacheEvents, blockLength: number): void;
  /** The model's process ended, and its cache with it. */
  lost(): void;
}

export interface KvEvents {
  readonly port: number;
  readonly replayPort: number | undefined;
  ofModel(modelId: string): ModelCacheEvents;
  close(): Promise<void>;
}

/** Throws: where an address cannot be listened on. */
export async function startKvEvents(settings: KvEventSettings): Promise<KvEvents> {
  const { endpoint, replayEndpoint, topic, format, defaultModelId, now } = settings;
  const replay = new ReplayBuffer();
  const publisher = await bindPublisher(endpoint);
  let router: ZmtpServer | undefined;
  try {
    if (replayEndpoint !== undefined)
      router = await bindRouter(replayEndpoint, question => replay.answer(question));
  } catch (error) {
    await publisher.close();
    throw error;
  }
  let sequence = 0;
  let loraCount = 0;
  const models = new Map<string, ModelCacheEvents>();

  function publish(events: readonly KvEvent[]): void {
    // Routers may know blocks of an earlier start of this server.
    const all: readonly KvEvent[] = sequence === 0 ? [{ kind: 'cleared' }, ...events] : events;
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(sequence++));
    const payload = encodeBatch(all, format, now() / 1000);
    publisher.publish(topic, [number, payload]);
    if (router !== undefined) replay.add(number, payload);
  }

  function createModel(modelId: string): ModelCacheEvents {
    const lora = modelId === defaultModelId ? null : { id: ++loraCount, name: modelId };
    const model: EventModel = { lora, salt: saltOfModel(modelId) };
    const stored = new Set<number>();
    return {
      changed(events, blockLength) {
        for (const { kind, blockHashes } of events)
          for (const hash of blockHashes) kind === 'stored' ? stored.add(hash) : stored.delete(hash);
        publish(
          events.map(event =>
            event.kind === 'removed'
              ? { ...event, model }
              : { ...event, model, blockLength, cacheSalt: readPartitionSalt(event.partition) },
          ),
        );
      },
      lost() {
        if (stored.size === 0) return;
        const blockHashes = [...stored];
        stored.clear();
        publish([{ kind: 'removed', model, blockHashes }]);
      },
    };
  }

  return {
    port: publisher.port,
    replayPort: router?.port,
    ofModel(modelId) {
      const model = models.get(modelId) ?? createModel(modelId);
      models.set(modelId, model);
      return model;
    },
    async close() {
      await Promise.all([publisher.close(), router?.close()]);
    },
  };
}

/** The newest batches. */
class ReplayBuffer {
  #batches: (readonly [number: Buffer, payload: Buffer])[] = [];
  #first = 0;
  #byteCount = 0;
  /** Number of the next batch. */
  #next = 0;

  /** Batches come in the order of their numbers, from 0. */
  add(number: Buffer, payload: Buffer): void {
    this.#batches.push([number, payload]);
    this.#next++;
    this.#byteCount += payload.length;
    while (this.#batches.length - this.#first > REPLAY_BATCHES || this.#byteCount > REPLAY_BYTES)
      this.#byteCount -= this.#batches[this.#first++]![1].length;
    // Moved seldom, because it takes as long as the buffer is.
    if (this.#first > REPLAY_BATCHES) {
      this.#batches = this.#batches.slice(this.#first);
      this.#first = 0;
    }
  }

  /**
   * `question`: the number of the first batch that is wanted, in eight bytes. Any other question gets no answer. A reader so slow that
   * batches leave the buffer misses them, and keeps none alive.
   */
  *answer(question: readonly Buffer[]): Generator<readonly Buffer[]> {
    const [start] = question;
    if (question.length !== 1 || start!.length !== 8) return;
    const end = this.#next;
    for (let number = Number(start!.readBigUInt64BE()); number < end; number++) {
      const oldest = this.#next - (this.#batches.length - this.#first);
      number = Math.max(number, oldest);
      if (number < end) yield this.#batches[this.#first + number - oldest]!;
    }
    yield [END_OF_REPLAY, EMPTY];
  }
}
