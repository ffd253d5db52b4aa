// The rules that every OrtBackend keeps, as cases without a test framework: a test file loops over them for
// each backend. Graphs are a few nodes; whole models are compared in the tests workspace.

import assert from 'node:assert/strict';
import { encodeGraph, type GraphDescription } from '@ortler/onnx';
import type { ElementArray, ElementType, OrtBackend, OrtSession, OrtTensor } from '../backend.ts';
import { ELEMENT_TYPES } from '../element-types.ts';
import { ATTENTION, addGraph, attentionGraph, createAttention } from './tiny-graphs.ts';

export interface ConformanceCase {
  /** The rule, in the present tense. */
  readonly name: string;
  readonly check: (backend: OrtBackend) => Promise<void>;
}

const ONE_THREAD = { threadCount: 1, spin: false };

export const ORT_BACKEND_CONFORMANCE: readonly ConformanceCase[] = [
  {
    name: 'names the inputs and outputs of a graph in order',
    async check(backend) {
      const session = await backend.createSession(encodeGraph(addGraph()), ONE_THREAD);
      assert.deepEqual([...session.inputNames], ['a', 'b']);
      assert.deepEqual([...session.outputNames], ['sum']);
      session.dispose();
      session.dispose();
    },
  },
  {
    name: 'reads the arrays anew and writes into the given ones at every run',
    async check(backend) {
      await withAddSession(backend, async session => {
        const a = Float32Array.of(1, 2);
        const b = Float32Array.of(10, 20);
        const sum = new Float32Array(2);
        const binding = session.bind(
          new Map([
            ['b', backend.createTensor('float32', [2], b)],
            ['a', backend.createTensor('float32', [2], a)],
          ]),
          new Map([['sum', backend.createTensor('float32', [2], sum)]]),
        );
        await binding.run();
        assert.deepEqual([...sum], [11, 22]);
        a[0] = 5;
        await binding.run({ mayBlock: true });
        assert.deepEqual([...sum], [15, 22]);
        binding.dispose();
      });
    },
  },
  {
    name: 'touches only the part of a buffer that a view covers',
    async check(backend) {
      await withAddSession(backend, async session => {
        const memory = Float32Array.of(-1, -1, 3, 4, -1);
        const view = backend.createTensor('float32', [2], memory.subarray(2, 4));
        await session
          .bind(
            new Map([
              ['a', view],
              ['b', view],
            ]),
            new Map([['sum', view]]),
          )
          .run();
        assert.deepEqual([...memory], [-1, -1, 6, 8, -1]);
      });
    },
  },
  {
    name: 'keeps bindings of one session apart',
    async check(backend) {
      await withAddSession(backend, async session => {
        const bindOne = (value: number, output: Float32Array) => {
          const tensor = backend.createTensor('float32', [1], Float32Array.of(value));
          const inputs = new Map([
            ['a', tensor],
            ['b', tensor],
          ]);
          return session.bind(inputs, new Map([['sum', backend.createTensor('float32', [1], output)]]));
        };
        const [first, second] = [new Float32Array(1), new Float32Array(1)];
        const bindings = [bindOne(1, first), bindOne(100, second)];
        for (const binding of [...bindings, ...bindings]) await binding.run();
        assert.deepEqual([first[0], second[0]], [2, 200]);
      });
    },
  },
  {
    name: 'carries every other element type unchanged, as scalars',
    async check(backend) {
      await checkIdentity(backend, 'float32', Float32Array.of(-1.5));
      await checkIdentity(backend, 'int64', BigInt64Array.of(-(2n ** 62n) - 1n));
      await checkIdentity(backend, 'int32', Int32Array.of(-(2 ** 31)));
      await checkIdentity(backend, 'uint32', Uint32Array.of(2 ** 32 - 1));
      await checkIdentity(backend, 'uint8', Uint8Array.of(255));
      await checkIdentity(backend, 'int8', Int8Array.of(-128));
      await checkIdentity(backend, 'bool', Uint8Array.of(1));
    },
  },
  {
    name: 'carries float16 unchanged',
    check: backend => checkIdentity(backend, 'float16', Uint16Array.of(0x3c01)),
  },
  {
    name: 'updates an attention cache in place, one row at a time, as if it were copied',
    async check(backend) {
      const session = await backend.createSession(encodeGraph(attentionGraph()), ONE_THREAD);
      const inPlace = createAttention(backend, session, { isInPlace: true });
      const copied = createAttention(backend, session, { isInPlace: false });
      const { capacity, headSize } = ATTENTION;
      for (let position = 0; position < capacity; position++) {
        const before = await inPlace.readKeys();
        await inPlace.step(position);
        await copied.step(position);
        assert.deepEqual(inPlace.output, copied.output, `output at ${position}`);
        const after = await inPlace.readKeys();
        const start = position * headSize;
        const changed = after.findIndex((value, index) => value !== before[index]);
        assert.equal(changed, start, `first changed element at ${position}`);
        assert.deepEqual(after.subarray(start + headSize), before.subarray(start + headSize));
      }
      inPlace.dispose();
      copied.dispose();
      session.dispose();
    },
  },
  {
    name: 'allocates tensors in the process for sessions on the CPU, and copies between tensors',
    async check(backend) {
      await withAddSession(backend, async session => {
        assert.equal(session.device, 'cpu');
        const [a, sum] = [session.allocate('float32', [2]), session.allocate('float32', [2])];
        assert.deepEqual([a.device, a.type, a.shape], ['cpu', 'float32', [2]]);
        const data = Float32Array.of(1, 2);
        const tensor = backend.createTensor('float32', [2], data);
        await backend.copy(tensor, a);
        const inputs = new Map([
          ['a', a],
          ['b', tensor],
        ]);
        await session.bind(inputs, new Map([['sum', sum]])).run();
        await backend.copy(sum, tensor);
        assert.deepEqual([...data], [2, 4]);
      });
    },
  },
  {
    name: 'allocates zeros of any length that tensors use in place',
    async check(backend) {
      await withAddSession(backend, async session => {
        // Less than a large page, and one and a part.
        for (const length of [3, 2 ** 19 + 5]) {
          const bytes = backend.allocateZeros(4 * length);
          assert.equal(bytes.byteLength, 4 * length);
          assert.ok(bytes.every(byte => byte === 0));
          const data = new Float32Array(bytes.buffer, bytes.byteOffset, length).fill(1);
          const tensor = backend.createTensor('float32', [length], data);
          const inputs = new Map([
            ['a', tensor],
            ['b', tensor],
          ]);
          await session.bind(inputs, new Map([['sum', tensor]])).run();
          assert.ok(data.every(value => value === 2));
        }
      });
    },
  },
  {
    name: 'refuses to copy between kinds, and to allocate an invalid shape',
    async check(backend) {
      await withAddSession(backend, async session => {
        const [two, three] = [session.allocate('float32', [2]), session.allocate('float32', [3])];
        await assert.rejects(backend.copy(two, three), /one of its kind/);
        await assert.rejects(backend.copy(two, session.allocate('int32', [2])), /one of its kind/);
        assert.throws(() => session.allocate('float32', [0]), /above 0/);
      });
    },
  },
  {
    name: 'refuses bytes that are not a model, and a missing file, as model_invalid',
    async check(backend) {
      await assert.rejects(backend.createSession(Uint8Array.of(1, 2, 3), ONE_THREAD), {
        code: 'model_invalid',
      });
      await assert.rejects(backend.createSession('no-such-folder/model.onnx', ONE_THREAD), error => {
        assert.match(String(error), /no-such-folder\/model\.onnx/);
        return (error as { code?: unknown }).code === 'model_invalid';
      });
    },
  },
  {
    name: 'refuses names that the graph does not have, and missing inputs, as model_invalid',
    async check(backend) {
      await withAddSession(backend, async session => {
        const tensor = backend.createTensor('float32', [1], new Float32Array(1));
        const full = new Map([
          ['a', tensor],
          ['b', tensor],
        ]);
        const sum = new Map([['sum', tensor]]);
        const isInvalid = { code: 'model_invalid' };
        assert.throws(() => session.bind(new Map([...full, ['c', tensor]]), sum), isInvalid);
        assert.throws(() => session.bind(new Map([['a', tensor]]), sum), isInvalid);
        assert.throws(() => session.bind(full, new Map([['product', tensor]])), isInvalid);
      });
    },
  },
  {
    name: 'reports a failed run with the message of ONNX Runtime and works on afterwards',
    async check(backend) {
      await withAddSession(backend, async session => {
        const create = (length: number): OrtTensor =>
          backend.createTensor('float32', [length], new Float32Array(length).fill(1));
        const outputs = new Map([['sum', create(3)]]);
        const wrong = session.bind(
          new Map([
            ['a', create(2)],
            ['b', create(3)],
          ]),
          outputs,
        );
        for (let i = 0; i < 3; i++) {
          await assert.rejects(wrong.run(), error => {
            assert.match(String(error), /Add/);
            return (error as { code?: unknown }).code === 'runtime_failed';
          });
        }
        const right = session.bind(
          new Map([
            ['a', create(3)],
            ['b', create(3)],
          ]),
          outputs,
        );
        await right.run();
        assert.deepEqual([...outputs.get('sum')!.data], [2, 2, 2]);
      });
    },
  },
  {
    name: 'refuses arrays that do not fit their type and shape',
    async check(backend) {
      assert.throws(() => backend.createTensor('float32', [3], new Float32Array(2)), /3 elements, not 2/);
      assert.throws(() => backend.createTensor('int64', [1], new Int32Array(1)), /BigInt64Array/);
      assert.throws(() => backend.createTensor('float32', [0], new Float32Array(0)), /above 0/);
    },
  },
  {
    name: 'refuses to run with a tensor or a session that was disposed',
    async check(backend) {
      await withAddSession(backend, async session => {
        const tensor = backend.createTensor('float32', [1], new Float32Array(1));
        const inputs = new Map([
          ['a', tensor],
          ['b', tensor],
        ]);
        const binding = session.bind(inputs, new Map([['sum', tensor]]));
        tensor.dispose();
        tensor.dispose();
        await assert.rejects(binding.run(), /disposed tensor/);
        const other = backend.createTensor('float32', [1], new Float32Array(1));
        const otherInputs = new Map([
          ['a', other],
          ['b', other],
        ]);
        const otherBinding = session.bind(otherInputs, new Map([['sum', other]]));
        session.dispose();
        await assert.rejects(otherBinding.run(), /disposed session/);
      });
    },
  },
];

async function withAddSession(
  backend: OrtBackend,
  use: (session: OrtSession) => Promise<void>,
): Promise<void> {
  const session = await backend.createSession(encodeGraph(addGraph()), ONE_THREAD);
  try {
    await use(session);
  } finally {
    session.dispose();
  }
}

async function checkIdentity(backend: OrtBackend, type: ElementType, input: ElementArray): Promise<void> {
  const session = await backend.createSession(encodeGraph(identityGraph(type)), ONE_THREAD);
  const output = new ELEMENT_TYPES[type].array(input.length);
  await session
    .bind(
      new Map([['x', backend.createTensor(type, [], input)]]),
      new Map([['y', backend.createTensor(type, [], output)]]),
    )
    .run();
  assert.deepEqual(output, input, type);
  session.dispose();
}

function identityGraph(type: ElementType): GraphDescription {
  return {
    inputs: [{ name: 'x', type, shape: [] }],
    outputs: [{ name: 'y', type, shape: [] }],
    nodes: [{ opType: 'Identity', inputs: ['x'], outputs: ['y'] }],
  };
}
