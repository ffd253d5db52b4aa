// Calls of a `paged` graph: prepared for a shape, kept, refilled and run again. Caller: `paged-runner.ts`.

import type { BindOptions, OrtBackend, OrtBinding, OrtSession, OrtValue } from '@ortler/onnxruntime';
import { SLOTS_OUTPUT } from '../../../graph-contract.ts';
import type { RunnerRow } from '../model-runner.ts';
import { PreparedCalls } from '../prepared-calls.ts';
import type { BlockStore } from './block-store.ts';
import type { LogitsStore } from './device-logits.ts';
import { PackedInputs } from './packed-inputs.ts';
import { type PackedShape, packedShape } from './packed-shape.ts';
import { RecordedInputs } from './recorded-inputs.ts';

/** What calls of a model share. */
export interface PagedCallsParts {
  readonly backend: OrtBackend;
  readonly session: OrtSession;
  readonly store: BlockStore;
  readonly logits: LogitsStore;
  /** The block that padding is written to stands behind them. */
  readonly blockCount: number;
  /** Tokens of a block. */
  readonly blockLength: number;
  /** Most tokens of a sequence. */
  readonly contextLength: number;
  /** Calls in which every sequence decodes are recorded and replayed. */
  readonly recordsCalls: boolean;
}

export interface PagedCall {
  /** Writes the inputs. */
  fill(rows: readonly RunnerRow[]): void | Promise<void>;
  readonly binding: OrtBinding;
  /** Where the logits are after a run. */
  readonly logits: OrtValue;
  dispose(): void;
}

/** Calls that are kept. One takes some kilobytes. */
const KEPT_CALL_COUNT = 128;
/** The same of recorded ones, each of which keeps the values between its operators on the device. */
const RECORDED_CALL_COUNT = 32;

export class PagedCalls {
  readonly #parts: PagedCallsParts;
  readonly #plain = new PreparedCalls<PagedCall>(KEPT_CALL_COUNT, disposeCall);
  readonly #recorded = new PreparedCalls<PagedCall>(RECORDED_CALL_COUNT, disposeCall);

  constructor(parts: PagedCallsParts) {
    this.#parts = parts;
  }

  /** The call for these rows, the `index`th of its step, prepared now unless it is kept. */
  take(index: number, rows: readonly RunnerRow[]): PagedCall {
    const shape = packedShape(rows, this.#parts.blockLength);
    const { tokenCount, batchSize, tableWidth, logitsCount } = shape;
    const key = `${index}/${tokenCount}/${batchSize}/${tableWidth}/${logitsCount}`;
    // Padding of decodes is one token for each row as well.
    const isDecode = index === 0 && tokenCount === batchSize && rows.every(hasOneToken);
    return this.#parts.recordsCalls && isDecode
      ? this.#recorded.take(key, () => this.#record(shape))
      : this.#plain.take(key, () => this.#prepare(index, shape));
  }

  dispose(): void {
    this.#plain.dispose();
    this.#recorded.dispose();
  }

  #prepare(index: number, shape: PackedShape): PagedCall {
    const { backend, blockCount, blockLength } = this.#parts;
    const inputs = new PackedInputs(backend, shape, blockCount);
    return {
      ...this.#bind(index, shape, inputs.tensors, { isRecorded: false }),
      fill: rows => inputs.fill(rows, blockLength),
      dispose: () => inputs.dispose(),
    };
  }

  #record(shape: PackedShape): PagedCall {
    const { backend, session, blockCount: spareBlock, blockLength, contextLength } = this.#parts;
    const limits = { spareBlock, blockLength, contextLength };
    const inputs = new RecordedInputs(backend, session, shape, limits);
    return {
      ...this.#bind(0, shape, inputs.tensors, { isRecorded: true }),
      fill: rows => inputs.fill(rows),
      dispose: () => inputs.dispose(),
    };
  }

  #bind(
    index: number,
    shape: PackedShape,
    inputs: ReadonlyMap<string, OrtValue>,
    options: BindOptions,
  ): Pick<PagedCall, 'binding' | 'logits'> {
    const { session, store } = this.#parts;
    const logits = this.#parts.logits.valueOf(index, shape.logitsCount);
    const binding = session.bind(
      new Map([...inputs, ...store.inputs]),
      new Map([[SLOTS_OUTPUT.logits, logits], ...store.outputs]),
      options,
    );
    return { binding, logits };
  }
}

function hasOneToken({ tokenIds, logitsCount }: RunnerRow): boolean {
  return tokenIds.length === 1 && logitsCount === 1;
}

function disposeCall(call: PagedCall): void {
  call.binding.dispose();
  call.dispose();
}
