// The sessions of the sampling graphs and their prepared calls: arrays that are made once for a size and refilled. Caller:
// `device-sampler.ts`, which knows what the numbers mean.

import type {
  ElementArray,
  ElementType,
  OrtBackend,
  OrtBinding,
  OrtSession,
  OrtSessionOptions,
  OrtValue,
} from '@ortler/onnxruntime';
import { PreparedCalls } from '../../runners/prepared-calls.ts';
import type { GraphShape, ReduceFeatures } from './sampling-graphs.ts';
import { isEdited, locateGraph, rankGraph, readGraph, reduceGraph } from './sampling-graphs.ts';

/** Arrays of one call, by graph name, and the call itself. */
export interface DeviceCall {
  readonly arrays: ReadonlyMap<string, ElementArray>;
  readonly run: () => Promise<void>;
  /** Outputs that are read back to the process. */
  readonly readBytes: number;
  readonly dispose: () => void;
}

/** Sizes of a call: rows, or places sought, and edits of a row. */
export interface CallSize {
  readonly rowCount: number;
  readonly editCount: number;
}

/** Calls that are kept. */
const KEPT_CALL_COUNT = 64;

export interface DeviceCallsShape extends GraphShape {
  /** Maximum number of rows of a call. */
  readonly rowLimit: number;
}

type KeptRows = 'edited' | 'own';

export class DeviceCalls {
  readonly #backend: OrtBackend;
  readonly #options: OrtSessionOptions;
  readonly #shape: DeviceCallsShape;
  readonly #sessions = new Map<string, Promise<OrtSession>>();
  readonly #calls = new PreparedCalls<DeviceCall>(KEPT_CALL_COUNT, call => call.dispose());
  /** Rows that stay on the device from one graph to the next, and views of their beginnings by count. */
  readonly #rows = new Map<KeptRows, { readonly whole: OrtValue; readonly views: Map<number, OrtValue> }>();
  readonly #logitsIds = new Map<OrtValue, number>();

  constructor(backend: OrtBackend, options: OrtSessionOptions, shape: DeviceCallsShape) {
    this.#backend = backend;
    this.#options = options;
    this.#shape = shape;
  }

  async reduce(logits: OrtValue, features: ReduceFeatures, size: CallSize): Promise<DeviceCall> {
    const { rowCount, editCount } = size;
    const names = Object.entries(features).flatMap(([name, isOn]) => (isOn ? [name] : []));
    const kind = `reduce ${names.join()}`;
    const session = await this.#session(kind, () => reduceGraph(this.#shape, features));
    const { paddedLength, candidateCount, logprobCount, partCount, sumBlockCount } = this.#shape;
    const maskShape = [rowCount, paddedLength / 16];
    const editShape = [rowCount, editCount];
    return this.#calls.take(`${kind} ${rowCount} ${editCount} ${this.#idOf(logits)}`, () => {
      const call = new CallBuilder(this.#backend);
      call.inputs.set('logits', logits);
      call.add('inputs', 'rows', 'int32', [rowCount]);
      if (features.mask) call.add('inputs', 'mask', 'int32', maskShape);
      if (features.allowed) call.add('inputs', 'allowed', 'int32', maskShape);
      if (features.edits) {
        call.add('inputs', 'editIds', 'int32', editShape);
        for (const name of ['biases', 'frequencies', 'presences'])
          call.add('inputs', name, 'float32', editShape);
      }
      if (features.penalties)
        for (const name of ['penalties', 'penaltyHalves']) call.add('inputs', name, 'float32', editShape);
      if (features.weightSums) {
        call.add('inputs', 'factor', 'float32', [rowCount, 1]);
        call.add('outputs', 'weightSums', 'float32', [rowCount, partCount, sumBlockCount]);
      }
      call.add('outputs', 'best', 'float32', [rowCount, 2, candidateCount]);
      call.outputs.set('edited', this.#rowsOf(session, 'edited', rowCount));
      if (features.logprobs) {
        call.add('outputs', 'ownBest', 'float32', [rowCount, 2, logprobCount]);
        call.add('outputs', 'ownSum', 'float32', [rowCount, 1]);
        if (isEdited(features)) call.outputs.set('own', this.#rowsOf(session, 'own', rowCount));
      }
      return call.bind(session);
    });
  }

  /** After a `reduce` of `rowCount` rows. */
  async locate(rowCount: number, count: number): Promise<DeviceCall> {
    const session = await this.#session('locate', () => locateGraph(this.#shape));
    return this.#calls.take(`locate ${rowCount} ${count}`, () => {
      const call = new CallBuilder(this.#backend);
      call.inputs.set('edited', this.#rowsOf(session, 'edited', rowCount));
      call.add('inputs', 'block', 'int32', [count]);
      const targets = Array.from({ length: this.#shape.partCount }, (_, part) => `target${part}`);
      for (const name of ['largest', 'factor', ...targets]) call.add('inputs', name, 'float32', [count, 1]);
      call.add('outputs', 'place', 'float32', [count, 1]);
      return call.bind(session);
    });
  }

  /** After a `reduce` of `rowCount` rows with these features, log probabilities among them. */
  async rank(rowCount: number, count: number, features: ReduceFeatures): Promise<DeviceCall> {
    const rows = isEdited(features) ? 'own' : 'edited';
    const session = await this.#session('rank', () => rankGraph(this.#shape));
    return this.#calls.take(`rank ${rows} ${rowCount} ${count}`, () => {
      const call = new CallBuilder(this.#backend);
      call.inputs.set('own', this.#rowsOf(session, rows, rowCount));
      call.add('inputs', 'row', 'int32', [count]);
      call.add('inputs', 'tokenId', 'int32', [count, 1]);
      call.add('outputs', 'logitAndRank', 'float32', [count, 2]);
      return call.bind(session);
    });
  }

  async read(logits: OrtValue, rowCount: number): Promise<DeviceCall> {
    const session = await this.#session('read', () => readGraph(this.#shape));
    return this.#calls.take(`read ${rowCount} ${this.#idOf(logits)}`, () => {
      const call = new CallBuilder(this.#backend);
      call.inputs.set('logits', logits);
      call.add('inputs', 'rows', 'int32', [rowCount]);
      call.add('outputs', 'row', 'float32', [rowCount, this.#shape.vocabSize]);
      return call.bind(session);
    });
  }

  async dispose(): Promise<void> {
    this.#calls.dispose();
    for (const { whole, views } of this.#rows.values()) {
      for (const view of views.values()) view.dispose();
      whole.dispose();
    }
    for (const session of await Promise.all(this.#sessions.values())) session.dispose();
  }

  #session(kind: string, graph: () => Uint8Array): Promise<OrtSession> {
    let session = this.#sessions.get(kind);
    if (session === undefined) {
      session = this.#backend.createSession(graph(), this.#options);
      this.#sessions.set(kind, session);
      // A step that is tried again tries this again as well.
      session.catch(() => this.#sessions.delete(kind));
    }
    return session;
  }

  #rowsOf(session: OrtSession, name: KeptRows, rowCount: number): OrtValue {
    const { paddedLength, rowLimit } = this.#shape;
    let rows = this.#rows.get(name);
    if (rows === undefined) {
      rows = { whole: session.allocate('float32', [rowLimit, paddedLength]), views: new Map() };
      this.#rows.set(name, rows);
    }
    let view = rows.views.get(rowCount);
    if (view === undefined) {
      view = session.view(rows.whole, [rowCount, paddedLength]);
      rows.views.set(rowCount, view);
    }
    return view;
  }

  #idOf(logits: OrtValue): number {
    let id = this.#logitsIds.get(logits);
    if (id === undefined) {
      id = this.#logitsIds.size;
      this.#logitsIds.set(logits, id);
    }
    return id;
  }
}

/** Puts a call together: its inputs and outputs. */
class CallBuilder {
  readonly inputs = new Map<string, OrtValue>();
  readonly outputs = new Map<string, OrtValue>();
  readonly #backend: OrtBackend;
  readonly #arrays = new Map<string, ElementArray>();
  readonly #tensors: OrtValue[] = [];
  #readBytes = 0;

  constructor(backend: OrtBackend) {
    this.#backend = backend;
  }

  add(
    side: 'inputs' | 'outputs',
    name: string,
    type: ElementType & ('int32' | 'float32'),
    shape: readonly number[],
  ): void {
    const length = shape.reduce((product, dimension) => product * dimension, 1);
    const array = type === 'int32' ? new Int32Array(length) : new Float32Array(length);
    const tensor = this.#backend.createTensor(type, shape, array);
    this[side].set(name, tensor);
    this.#arrays.set(name, array);
    this.#tensors.push(tensor);
    if (side === 'outputs') this.#readBytes += array.byteLength;
  }

  bind(session: OrtSession): DeviceCall {
    const binding: OrtBinding = session.bind(this.inputs, this.outputs);
    return {
      arrays: this.#arrays,
      run: () => binding.run(),
      readBytes: this.#readBytes,
      dispose: () => {
        binding.dispose();
        for (const tensor of this.#tensors) tensor.dispose();
      },
    };
  }
}
