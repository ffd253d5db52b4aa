// A minimal runner of `paged` graphs on a GPU with its own block pool, for tests of graphs.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  MANIFEST_FILE,
  type ModelManifest,
  PAGED_INPUT,
  pastName,
  presentName,
  SLOTS_OUTPUT,
} from '@ortler/engine/graph-contract';
import {
  type OrtBackend,
  type OrtDevice,
  type OrtSession,
  type OrtValue,
  selectBackend,
} from '@ortler/onnxruntime';

/** The tokens of one sequence in a call. */
export interface PagedRow {
  readonly tokens: readonly number[];
  /** Tokens of the sequence that were computed before. */
  readonly past: number;
  /** Its blocks, in the order of its tokens. */
  readonly blocks: readonly number[];
}

export interface PagedSessionOptions {
  readonly device?: OrtDevice;
  /** Which graph of the build. Default: `graphFile`. */
  readonly graph?: 'graphFile' | 'cudaGraphFile';
  readonly blockCount?: number;
  readonly blockLength?: number;
  /** Float16 bits that every element of the pool has at first. Default: zero. */
  readonly fill?: number;
}

export class PagedSession {
  readonly manifest: ModelManifest;
  readonly #backend: OrtBackend;
  readonly #session: OrtSession;
  readonly #pool = new Map<string, OrtValue>();

  private constructor(backend: OrtBackend, session: OrtSession, manifest: ModelManifest) {
    this.#backend = backend;
    this.#session = session;
    this.manifest = manifest;
  }

  static async open(folder: string, options: PagedSessionOptions = {}): Promise<PagedSession> {
    const { device = 'webgpu', blockCount = 16, blockLength = 32, fill = 0 } = options;
    const { graph: kind = 'graphFile' } = options;
    const manifest = JSON.parse(await readFile(join(folder, MANIFEST_FILE), 'utf8')) as ModelManifest;
    const { backend } = await selectBackend('native');
    const graph = join(folder, manifest[kind]!);
    const session = await backend.createSession(graph, { threadCount: 1, spin: false, device });
    const result = new PagedSession(backend, session, manifest);
    const shape = [blockCount, blockLength, manifest.kvHeadCount, manifest.headSize];
    const first = new Uint16Array(shape.reduce((product, dim) => product * dim, 1)).fill(fill);
    const content = backend.createTensor('float16', shape, first);
    for (let layer = 0; layer < manifest.layerCount; layer++) {
      for (const part of ['key', 'value'] as const) {
        const value = session.allocate('float16', shape);
        await backend.copy(content, value);
        result.#pool.set(pastName(layer, part), value);
      }
    }
    content.dispose();
    return result;
  }

  /** Operators that run on the CPU instead of the GPU. */
  get cpuOperators(): readonly string[] {
    return this.#session.cpuOperators;
  }

  /**
   * Computes the tokens of all rows in one call. Gives logits of the positions in `logitRows`, counted over all
   * tokens; the default is all of them. Shape: `[logitRows.length][vocabSize]`. Mutates: the pool.
   */
  async run(rows: readonly PagedRow[], logitRows?: readonly number[]): Promise<Float32Array[]> {
    const tokens = rows.flatMap(row => row.tokens);
    const wanted = logitRows ?? tokens.map((_, i) => i);
    const width = Math.max(...rows.map(row => row.blocks.length));
    const table = new Int32Array(rows.length * width);
    const cumulative = new Int32Array(rows.length + 1);
    for (const [i, row] of rows.entries()) {
      table.set(row.blocks, i * width);
      cumulative[i + 1] = cumulative[i]! + row.tokens.length;
    }
    const backend = this.#backend;
    const logits = new Float32Array(wanted.length * this.manifest.vocabSize);
    const ints = (data: Int32Array, shape: readonly number[]) => backend.createTensor('int32', shape, data);
    const longs = (values: readonly number[]) =>
      backend.createTensor('int64', [values.length], BigInt64Array.from(values, BigInt));
    const inputs = new Map<string, OrtValue>([
      [PAGED_INPUT.inputIds, longs(tokens)],
      [PAGED_INPUT.blockTable, ints(table, [rows.length, width])],
      [PAGED_INPUT.cumulativeLengths, ints(cumulative, [rows.length + 1])],
      [
        PAGED_INPUT.pastLengths,
        ints(
          Int32Array.from(rows, row => row.past),
          [rows.length],
        ),
      ],
      [PAGED_INPUT.bounds, ints(bounds(rows), [3])],
      [PAGED_INPUT.logitRows, longs(wanted)],
    ]);
    const output = backend.createTensor('float32', [wanted.length, this.manifest.vocabSize], logits);
    const outputs = new Map<string, OrtValue>([[SLOTS_OUTPUT.logits, output]]);
    for (let layer = 0; layer < this.manifest.layerCount; layer++) {
      for (const part of ['key', 'value'] as const)
        outputs.set(presentName(layer, part), this.#pool.get(pastName(layer, part))!);
    }
    await this.#session.bind(new Map([...inputs, ...this.#pool]), outputs).run();
    for (const value of [...inputs.values(), output]) value.dispose();
    const { vocabSize } = this.manifest;
    return wanted.map((_, i) => logits.slice(i * vocabSize, (i + 1) * vocabSize));
  }

  close(): void {
    for (const value of this.#pool.values()) value.dispose();
    this.#session.dispose();
  }
}

/** The exact lengths: most tokens of a row in this call, most after it, and the same as what the longest has. */
function bounds(rows: readonly PagedRow[]): Int32Array {
  const longest = Math.max(...rows.map(row => row.past + row.tokens.length));
  return Int32Array.of(Math.max(...rows.map(row => row.tokens.length)), longest, longest);
}
