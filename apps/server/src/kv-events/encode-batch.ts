// A batch of KV-cache events as vLLM writes it (vllm/distributed/kv_events.py, structs of msgspec): `[ts, [event, ...], rank]`.
// An event is an array that begins with its name (`array`: vLLM up to 0.23, read by all routers), or a map with its name as `type`
// (`map`: vLLM since 0.24).

import { createHash } from 'node:crypto';
import { type PackedValue, packMessage, type Uint64 } from './message-pack.ts';

export const EVENT_FORMATS = ['array', 'map'] as const;
export type EventFormat = (typeof EVENT_FORMATS)[number];

/** A field that has its default is left out where it is the last one. */
type Fields = readonly (readonly [name: string, value: PackedValue])[];

/** The model of the events, to which the hashes of its blocks belong. */
export interface EventModel {
  /** Null: the default model. Others are distinguished as LoRA adapters are. */
  readonly lora: { readonly id: number; readonly name: string } | null;
  /** Exclusive-or of all its hashes, which the engine computes without knowing which model it is. */
  readonly salt: Uint64;
}

export type KvEvent =
  | {
      readonly kind: 'stored';
      readonly model: EventModel;
      readonly blockHashes: readonly number[];
      readonly parentHash: number | null;
      readonly tokenIds: readonly number[];
      readonly blockLength: number;
      /** `cache_salt` of the requests that may share the blocks. */
      readonly cacheSalt: string | null;
    }
  | { readonly kind: 'removed'; readonly model: EventModel; readonly blockHashes: readonly number[] }
  | { readonly kind: 'cleared' };

/** What `medium` says: the memory that the model computes in. vLLM says it on CPUs too, and routers know few other words. */
const MEDIUM = 'GPU';
/** There is one rank in each server. */
const RANK = 0;
const WORD = 2 ** 32;

export function encodeBatch(events: readonly KvEvent[], format: EventFormat, seconds: number): Buffer {
  return packMessage([seconds, events.map(event => toPacked(event, format)), RANK]);
}

export function saltOfModel(modelId: string): Uint64 {
  const digest = createHash('sha256').update(modelId).digest();
  return { high: digest.readUInt32BE(0), low: digest.readUInt32BE(4) };
}

function toPacked(event: KvEvent, format: EventFormat): PackedValue {
  const [name, fields] = describe(event);
  if (format === 'array') return [name, ...fields.map(([, value]) => value)];
  return new Map([['type', name], ...fields]);
}

function describe(event: KvEvent): readonly [name: string, fields: Fields] {
  switch (event.kind) {
    case 'cleared':
      return ['AllBlocksCleared', []];
    case 'removed':
      return [
        'BlockRemoved',
        [
          ['block_hashes', event.blockHashes.map(hash => toHash(hash, event.model))],
          ['medium', MEDIUM],
        ],
      ];
    case 'stored': {
      const { model, blockHashes, parentHash, tokenIds, blockLength, cacheSalt } = event;
      // As in vLLM, the salt belongs to the first block of a prefix, and through its hash to all that follow.
      const keys = blockHashes.map((_, index) => (index === 0 && parentHash === null ? [cacheSalt] : null));
      return [
        'BlockStored',
        [
          ['block_hashes', blockHashes.map(hash => toHash(hash, model))],
          ['parent_block_hash', parentHash === null ? null : toHash(parentHash, model)],
          ['token_ids', tokenIds],
          ['block_size', blockLength],
          ['lora_id', model.lora?.id ?? null],
          ['medium', MEDIUM],
          ['lora_name', model.lora?.name ?? null],
          ...(cacheSalt === null ? [] : [['extra_keys', keys] as const]),
        ],
      ];
    }
  }
}

function toHash(hash: number, { salt }: EventModel): Uint64 {
  return { high: (Math.floor(hash / WORD) ^ salt.high) >>> 0, low: ((hash % WORD) ^ salt.low) >>> 0 };
}
