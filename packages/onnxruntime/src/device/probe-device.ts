// Tries a device in this process: loads ONNX Runtime's provider for it and computes a few numbers in float16, as graphs for
// devices do. It may crash, so it runs in a process of its own; see `probe-entry.ts`.

import { GraphWriter } from '@ortler/onnx';
import type { OrtDevice, OrtDeviceFacts } from '../backend.ts';
import { OrtError } from '../errors.ts';
import { selectBackend } from '../select-backend.ts';
import { describeMissingCuda } from './missing-cuda.ts';

/** Devices that may or may not be there. */
export type Accelerator = Exclude<OrtDevice, 'cpu'>;

const NUMBERS = [1, -2.5, 1024];

/** Throws: `runtime_failed` with the reason why the device cannot be used. */
export async function probeDevice(device: Accelerator): Promise<OrtDeviceFacts> {
  const missing = device === 'cuda' ? describeMissingCuda() : undefined;
  if (missing !== undefined) throw new OrtError('runtime_failed', missing);
  const { backend } = await selectBackend('native');
  const session = await backend.createSession(doublingGraph(), { threadCount: 1, spin: false, device });
  const x = backend.createTensor('float32', [NUMBERS.length], Float32Array.from(NUMBERS));
  const y = backend.createTensor('float32', [NUMBERS.length], new Float32Array(NUMBERS.length));
  await session.bind(new Map([['x', x]]), new Map([['y', y]])).run();
  const doubled = [...(y.data as Float32Array)];
  if (NUMBERS.some((number, index) => doubled[index] !== 2 * number))
    throw new OrtError(
      'runtime_failed',
      `The device "${device}" computes wrongly: it doubled ${NUMBERS} to ${doubled}.`,
    );
  return backend.describeDevice(device);
}

/** `y` is twice `x`, in float16 between. */
function doublingGraph(): Uint8Array {
  const graph = new GraphWriter('probe');
  const half = graph.cast(graph.input('x', 'float32', ['n']), 'float16');
  graph.output('y', graph.cast(graph.add(half, half), 'float32'), 'float32', ['n']);
  return graph.encode();
}
