// The rules that a binding keeps for sessions on a device, beside those of `ort-backend-conformance.ts`: what is
// computed there equals the CPU, and memory there is the runner's to keep.

import assert from 'node:assert/strict';
import { encodeGraph, type GraphDescription } from '@ortler/onnx';
import type { ElementArray, ElementType, OrtBackend, OrtDevice, OrtSession } from '../backend.ts';
import { ELEMENT_TYPES } from '../element-types.ts';
import { ATTENTION, addGraph, attentionGraph, createAttention } from './tiny-graphs.ts';

export interface DeviceConformanceCase {
  /** The rule, in the present tense. */
  readonly name: string;
  readonly check: (backend: OrtBackend, device: OrtDevice) => Promise<void>;
}

const ONE_THREAD = { threadCount: 1, spin: false };

/** More than any device has. */
const FAR_TOO_LARGE = [2 ** 20, 2 ** 20];

/** Largest difference of an attention over a few float32 values. */
const ATTENTION_BOUND = 1e-5;

export const ORT_DEVICE_CONFORMANCE: readonly DeviceConformanceCase[] = [
  {
    name: 'reports the name that its driver gives it',
    async check(backend, device) {
      const { name, memoryBytes } = backend.describeDevice(device);
      assert.ok(name !== undefined && name.length > 0);
      assert.ok(memoryBytes !== undefined && memoryBytes > 0);
    },
  },
  {
    name: 'reads tensors of the process anew and writes into them at every run',
    check: (backend, device) =>
      withSession(backend, device, addGraph(), async session => {
        const [a, b, sum] = [Float32Array.of(1, 2), Float32Array.of(10, 20), new Float32Array(2)];
        const create = (data: ElementArray) => backend.createTensor('float32', [2], data);
        const inputs = new Map([
          ['a', create(a)],
          ['b', create(b)],
        ]);
        const binding = session.bind(inputs, new Map([['sum', create(sum)]]));
        await binding.run();
        assert.deepEqual([...sum], [11, 22]);
        a[0] = 5;
        await binding.run();
        assert.deepEqual([...sum], [15, 22]);
      }),
  },
  {
    name: 'copies every element type to the device, there and back, whatever the length',
    check: (backend, device) =>
      withSession(backend, device, addGraph(), async session => {
        for (const type of Object.keys(ELEMENT_TYPES) as ElementType[]) {
          const { array } = ELEMENT_TYPES[type];
          const [data, back] = [new array(3), new array(3)];
          const bytes = new Uint8Array(data.buffer);
          for (let i = 0; i < bytes.length; i++) bytes[i] = i + 1;
          const [first, second] = [session.allocate(type, [3]), session.allocate(type, [3])];
          assert.deepEqual([first.device, first.type, first.shape], [device, type, [3]]);
          await backend.copy(backend.createTensor(type, [3], data), first);
          await backend.copy(first, second);
          await backend.copy(second, backend.createTensor(type, [3], back));
          assert.deepEqual(back, data, type);
          first.dispose();
          second.dispose();
          second.dispose();
        }
      }),
  },
  {
    name: 'hands what one session leaves on the device to another, and to one on the CPU after a copy',
    check: (backend, device) =>
      withSession(backend, device, addGraph(), first =>
        withSession(backend, device, addGraph(), async second => {
          const data = Float32Array.of(1, 2, 3);
          const tensor = backend.createTensor('float32', [3], data);
          const between = first.allocate('float32', [3]);
          const inputs = (a: typeof between) =>
            new Map([
              ['a', a],
              ['b', tensor],
            ]);
          const result = backend.createTensor('float32', [3], new Float32Array(3));
          const firstRun = first.bind(inputs(tensor), new Map([['sum', between]])).run();
          const secondRun = second.bind(inputs(between), new Map([['sum', result]])).run();
          await Promise.all([firstRun, secondRun]);
          assert.deepEqual(result.data, Float32Array.of(3, 6, 9));
          between.dispose();
        }),
      ),
  },
  {
    name: 'gives views of the first elements of a value, which share its memory',
    check: (backend, device) =>
      withSession(backend, device, addGraph(), async session => {
        const whole = session.allocate('float32', [3]);
        const first = session.view(whole, [2]);
        const bytes = (...numbers: number[]) =>
          backend.createTensor('float32', [numbers.length], Float32Array.from(numbers));
        await backend.copy(bytes(1, 2, 3), whole);
        await backend.copy(bytes(7, 8), first);
        const inputs = new Map([
          ['a', first],
          ['b', bytes(10, 20)],
        ]);
        await session.bind(inputs, new Map([['sum', first]])).run();
        const back = bytes(0, 0, 0);
        await backend.copy(whole, back);
        assert.deepEqual(back.data, Float32Array.of(17, 28, 3));
        assert.throws(() => session.view(whole, [4]), /no larger/);
        first.dispose();
        whole.dispose();
      }),
  },
  {
    name: 'updates an attention cache on the device in place, as the CPU does',
    check: (backend, device) =>
      withSession(backend, device, attentionGraph(), session =>
        withSession(backend, 'cpu', attentionGraph(), async cpuSession => {
          const attention = createAttention(backend, session, { isInPlace: true });
          const expected = createAttention(backend, cpuSession, { isInPlace: true });
          for (let position = 0; position < ATTENTION.capacity; position++) {
            await attention.step(position);
            await expected.step(position);
            assertClose(attention.output, expected.output, `output at ${position}`);
            assertClose(await attention.readKeys(), await expected.readKeys(), `keys at ${position}`);
          }
          attention.dispose();
          expected.dispose();
        }),
      ),
  },
  {
    name: 'reports a failed run and a failed allocation and works on afterwards',
    check: (backend, device) =>
      withSession(backend, device, addGraph(), async session => {
        const create = (length: number) =>
          backend.createTensor('float32', [length], new Float32Array(length).fill(1));
        const bind = (length: number) =>
          session.bind(
            new Map([
              ['a', create(length)],
              ['b', create(3)],
            ]),
            new Map([['sum', create(3)]]),
          );
        await assert.rejects(bind(2).run(), { code: 'runtime_failed' });
        assert.throws(() => session.allocate('float32', FAR_TOO_LARGE), {
          code: 'runtime_failed',
          message: /4398046511104 bytes .*float32 \[1048576, 1048576\]/,
        });
        await bind(3).run();
      }),
  },
  {
    name: 'refuses to dispose a session before its values, and to allocate while something runs',
    check: (backend, device) =>
      withSession(backend, device, addGraph(), async session => {
        const value = session.allocate('float32', [1]);
        assert.throws(() => session.dispose(), /after the values/);
        const inputs = new Map([
          ['a', value],
          ['b', value],
        ]);
        const sum = backend.createTensor('float32', [1], new Float32Array(1));
        const run = session.bind(inputs, new Map([['sum', sum]])).run();
        assert.throws(() => session.allocate('float32', [1]), /until nothing runs/);
        assert.throws(() => value.dispose(), /until nothing runs/);
        await run;
        value.dispose();
        await assert.rejects(
          async () => session.bind(inputs, new Map([['sum', sum]])).run(),
          /disposed tensor/,
        );
      }),
  },
  {
    name: 'is distinct from the CPU: a session there takes no value of a device',
    check: (backend, device) =>
      withSession(backend, device, addGraph(), session =>
        withSession(backend, 'cpu', addGraph(), async cpuSession => {
          const value = session.allocate('float32', [1]);
          const inputs = new Map([
            ['a', value],
            ['b', value],
          ]);
          assert.throws(() => cpuSession.bind(inputs, new Map()), /not used on cpu/);
          value.dispose();
        }),
      ),
  },
];

async function withSession(
  backend: OrtBackend,
  device: OrtDevice,
  graph: GraphDescription,
  use: (session: OrtSession) => Promise<void>,
): Promise<void> {
  const session = await backend.createSession(encodeGraph(graph), { ...ONE_THREAD, device });
  await use(session);
  session.dispose();
}

function assertClose(actual: Float32Array, expected: Float32Array, where: string): void {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < actual.length; i++) {
    const difference = Math.abs(actual[i]! - expected[i]!);
    assert.ok(difference <= ATTENTION_BOUND, `${where}: ${difference} at ${i}`);
  }
}
