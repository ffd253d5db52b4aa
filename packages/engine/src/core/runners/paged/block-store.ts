// The physical cache of a device: the only file that knows its memory layout. One value per layer and part,
//
//     [blockCount + 1, blockLength, kvHeadCount, headSize]
//
// made once and updated in place for as long as the model is loaded. The last block is spare: padding is written there.

import { GraphWriter } from '@ortler/onnx';
import {
  byteLengthOf,
  type ElementType,
  type OrtBackend,
  type OrtBinding,
  type OrtSession,
  type OrtSessionOptions,
  type OrtValue,
} from '@ortler/onnxruntime';
import { EngineError } from '../../../errors.ts';
import { KV_PARTS, pastName, presentName } from '../../../graph-contract/index.ts';

export interface BlockShape {
  readonly layerCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
  readonly blockCount: number;
  /** Tokens of a block. */
  readonly blockLength: number;
  readonly type: ElementType & ('float16' | 'float32');
}

interface BlockCopy {
  readonly from: number;
  readonly to: number;
}

/** Copies of one call: forks are few, and padding of the others copies the spare block to itself. */
const COPIES_PER_CALL = 8;

export class BlockStore {
  /** The cache by graph name, as inputs and outputs of the model: the same values. */
  readonly inputs: ReadonlyMap<string, OrtValue>;
  readonly outputs: ReadonlyMap<string, OrtValue>;
  readonly #spareBlock: number;
  readonly #copySession: OrtSession;
  readonly #copyBinding: OrtBinding;
  readonly #sources = new BigInt64Array(COPIES_PER_CALL);
  readonly #targets = new BigInt64Array(COPIES_PER_CALL);
  /** Asked for since the last call of the model, in their order. */
  readonly #waiting: BlockCopy[] = [];

  /** `model` gives the memory. Throws: `engine_failed` when the device has no room. */
  static async create(
    backend: OrtBackend,
    model: OrtSession,
    shape: BlockShape,
    options: OrtSessionOptions,
  ): Promise<BlockStore> {
    const copySession = await backend.createSession(copyGraph(shape), options);
    return new BlockStore(backend, model, copySession, shape);
  }

  constructor(backend: OrtBackend, model: OrtSession, copySession: OrtSession, shape: BlockShape) {
    const { layerCount, blockCount } = shape;
    const inputs = new Map<string, OrtValue>();
    const outputs = new Map<string, OrtValue>();
    try {
      for (let layer = 0; layer < layerCount; layer++) {
        for (const part of KV_PARTS) {
          const value = model.allocate(shape.type, valueShape(shape));
          inputs.set(pastName(layer, part), value);
          outputs.set(presentName(layer, part), value);
        }
      }
    } catch (cause) {
      for (const value of inputs.values()) value.dispose();
      copySession.dispose();
      throw new EngineError(
        'engine_failed',
        `The device has no room for a cache of ${blockCount} blocks; lower cacheBytes, maxSequences or contextLength.`,
        { cause },
      );
    }
    this.inputs = inputs;
    this.outputs = outputs;
    this.#spareBlock = blockCount;
    this.#copySession = copySession;
    this.#copyBinding = copySession.bind(
      new Map<string, OrtValue>([
        ['sources', backend.createTensor('int64', [COPIES_PER_CALL], this.#sources)],
        ['targets', backend.createTensor('int64', [COPIES_PER_CALL, 1], this.#targets)],
        ...inputs,
      ]),
      outputs,
    );
  }

  /** All blocks. Unit: bytes. */
  get byteLength(): number {
    return [...this.inputs.values()].reduce((sum, value) => sum + byteLengthOf(value), 0);
  }

  /** Asks for a copy, which `copyWaiting` makes. */
  copyBlock(from: number, to: number): void {
    this.#waiting.push({ from, to });
  }

  /** Makes the copies asked for, as if one after the other. What fails is made by the next call. */
  async copyWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const count = countIndependent(this.#waiting);
      await this.#copy(this.#waiting.slice(0, count));
      this.#waiting.splice(0, count);
    }
  }

  /** Compiles what copies need. */
  async warmUp(): Promise<void> {
    await this.#copy([]);
  }

  dispose(): void {
    this.#copyBinding.dispose();
    for (const value of this.inputs.values()) value.dispose();
    this.#copySession.dispose();
  }

  async #copy(copies: readonly BlockCopy[]): Promise<void> {
    for (let index = 0; index < COPIES_PER_CALL; index++) {
      const { from, to } = copies[index] ?? { from: this.#spareBlock, to: this.#spareBlock };
      this.#sources[index] = BigInt(from);
      this.#targets[index] = BigInt(to);
    }
    await this.#copyBinding.run();
  }
}

/** How many of the first copies may be made at once: none reads or writes what one before it writes. */
function countIndependent(copies: readonly BlockCopy[]): number {
  const written = new Set<number>();
  let count = 0;
  for (const { from, to } of copies) {
    if (count === COPIES_PER_CALL || written.has(from) || written.has(to)) break;
    written.add(to);
    count++;
  }
  return count;
}

function valueShape({ blockCount, blockLength, kvHeadCount, headSize }: BlockShape): readonly number[] {
  return [blockCount + 1, blockLength, kvHeadCount, headSize];
}

/** For each value of the cache: Gather the source blocks, ScatterND them over the target blocks, in place. */
function copyGraph(shape: BlockShape): Uint8Array {
  const graph = new GraphWriter('copy-blocks');
  const sources = graph.input('sources', 'int64', [COPIES_PER_CALL]);
  const targets = graph.input('targets', 'int64', [COPIES_PER_CALL, 1]);
  const { type, layerCount } = shape;
  for (let layer = 0; layer < layerCount; layer++) {
    for (const part of KV_PARTS) {
      const past = graph.input(pastName(layer, part), type, valueShape(shape));
      const blocks = graph.op('Gather', [past, sources]);
      const name = presentName(layer, part);
      graph.resultOf('ScatterND', [past, targets, blocks], { name, type, shape: valueShape(shape) });
    }
  }
  return graph.encode();
}
