// Calls of a `paged` graph: prepared for a shape, kept, refilled and run again. Caller: `paged-runner.ts`.

import type { OrtBackend, OrtBinding, OrtSession, OrtValue } from '@ortler/onnxruntime';
import { SLOTS_OUTPUT } from '../../../graph-contract/index.ts';
import type { RunnerRow } from '../model-runner.ts';
import { PreparedCalls } from '../prepared-calls.ts';
import type { BlockStore } from './block-store.ts';
import type { LogitsStore } from './device-logits.ts';
import { PackedInputs } from './packed-inputs.ts';
import { type PackedShape, packedShape } from './packed-shape.ts';

/** Shared by all calls of a model. */
export interface PagedCallsParts {
  readonly backend: OrtBackend;
  readonly session: OrtSession;
  readonly store: BlockStore;
  readonly logits: LogitsStore;
  /** The block that padding is written to comes after them. */
  readonly blockCount: number;
  /** Tokens of a block. */
  readonly blockLength: number;
}

export interface PagedCall {
  /** Writes the inputs. */
  fill(rows: readonly RunnerRow[]): void;
  readonly binding: OrtBinding;
  /** Where the logits are after a run. */
  readonly logits: OrtValue;
  dispose(): void;
}

/** Calls that are kept. One takes some kilobytes. */
const KEPT_CALL_COUNT = 128;

export class PagedCalls {
  readonly #parts: PagedCallsParts;
  readonly #calls = new PreparedCalls<PagedCall>(KEPT_CALL_COUNT, disposeCall);

  constructor(parts: PagedCallsParts) {
    this.#parts = parts;
  }

  /** The call for these rows, the `index`th of its step, prepared now unless it is kept. */
  take(index: number, rows: readonly RunnerRow[]): PagedCall {
    const shape = packedShape(rows, this.#parts.blockLength);
    const { tokenCount, batchSize, tableWidth, logitsCount } = shape;
    const key = `${index}/${tokenCount}/${batchSize}/${tableWidth}/${logitsCount}`;
    return this.#calls.take(key, () => this.#prepare(index, shape));
  }

  dispose(): void {
    this.#calls.dispose();
  }

  #prepare(index: number, shape: PackedShape): PagedCall {
    const { backend, session, store, blockCount, blockLength } = this.#parts;
    const inputs = new PackedInputs(backend, shape, blockCount);
    const logits = this.#parts.logits.valueOf(index, shape.logitsCount);
    const binding = session.bind(
      new Map<string, OrtValue>([...inputs.tensors, ...store.inputs]),
      new Map([[SLOTS_OUTPUT.logits, logits], ...store.outputs]),
    );
    return {
      binding,
      logits,
      fill: rows => inputs.fill(rows, blockLength),
      dispose: () => inputs.dispose(),
    };
  }
}

function disposeCall(call: PagedCall): void {
  call.binding.dispose();
  call.dispose();
}
