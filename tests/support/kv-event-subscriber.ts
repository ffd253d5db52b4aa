// A router's view of KV-cache events: `kv_event_subscriber.py` reads them with libzmq and msgspec, this file keeps the batches and the
// picture of the cache that follows from them.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { vi } from 'vitest';
import { TEST_PYTHON } from './python-checks.ts';

export interface Batch {
  readonly number: number;
  readonly ts: number;
  readonly rank: number;
  readonly events: readonly KvEvent[];
}

export interface KvEvent {
  readonly name: 'BlockStored' | 'BlockRemoved' | 'AllBlocksCleared';
  readonly block_hashes: readonly string[];
  readonly parent_block_hash: string | null;
  readonly token_ids: readonly number[];
  readonly block_size: number;
  readonly lora_name: string | null;
  readonly lora_id: number | null;
  readonly extra_keys: readonly (readonly string[] | null)[] | null;
}

interface Line extends Batch {
  readonly connected?: true;
  readonly replay?: readonly Batch[];
}

/** Waits as long as a busy machine needs. */
export const PATIENCE = { timeout: 30_000, interval: 20 };

export class KvEventSubscriber {
  readonly batches: Batch[] = [];
  /** Blocks by what they follow, their salt and model, and their tokens. */
  readonly #hashes = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #replay: readonly Batch[] | null = null;
  isConnected = false;

  constructor(address: string, replayAddress: string, format: 'array' | 'map', topic = '') {
    const script = join(import.meta.dirname, 'kv_event_subscriber.py');
    this.#child = spawn(TEST_PYTHON!, [script, address, replayAddress, format, topic], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface(this.#child.stdout).on('line', text => this.#take(JSON.parse(text) as Line));
  }

  async connected(): Promise<void> {
    await vi.waitFor(() => {
      if (!this.isConnected) throw new Error('the subscriber is not connected');
    }, PATIENCE);
  }

  async replay(from: number): Promise<readonly Batch[]> {
    this.#replay = null;
    this.#child.stdin.write(`${from}\n`);
    return vi.waitFor(() => {
      if (this.#replay === null) throw new Error('no replay came');
      return this.#replay;
    }, PATIENCE);
  }

  /** How many whole blocks from the beginning of `tokens` are cached. */
  cachedBlocks(
    tokens: readonly number[],
    blockLength: number,
    lora: string | null = null,
    salt = '',
  ): number {
    let parent: string | null = null;
    let count = 0;
    for (; (count + 1) * blockLength <= tokens.length; count++) {
      const block = tokens.slice(count * blockLength, (count + 1) * blockLength);
      const hash: string | undefined = this.#hashes.get(nameOf(parent, lora, salt, block));
      if (hash === undefined) break;
      parent = hash;
    }
    return count;
  }

  get blockCount(): number {
    return this.#names.size;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  #take(line: Line): void {
    if (line.connected) this.isConnected = true;
    else if (line.replay !== undefined) this.#replay = line.replay;
    else {
      this.batches.push(line);
      for (const event of line.events) this.#apply(event);
    }
  }

  #apply(event: KvEvent): void {
    if (event.name === 'AllBlocksCleared') {
      this.#hashes.clear();
      this.#names.clear();
      return;
    }
    if (event.name === 'BlockRemoved') {
      for (const hash of event.block_hashes) {
        this.#hashes.delete(this.#names.get(hash) ?? '');
        this.#names.delete(hash);
      }
      return;
    }
    let parent = event.parent_block_hash;
    const size = event.block_size;
    const salt = event.extra_keys?.[0]?.[0] ?? '';
    for (const [index, hash] of event.block_hashes.entries()) {
      const block = event.token_ids.slice(index * size, (index + 1) * size);
      const name = nameOf(parent, event.lora_name, salt, block);
      this.#hashes.set(name, hash);
      this.#names.set(hash, name);
      parent = hash;
    }
  }
}

function nameOf(parent: string | null, lora: string | null, salt: string, block: readonly number[]): string {
  return JSON.stringify([parent ?? [lora, salt], block]);
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise(resolve => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port is free');
  return address.port;
}
