// What only the native binding promises. The stock package must not be loaded in this process: it would keep
// the library open and hide it when the native binding loses it.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { encodeGraph } from '@ortler/onnx';
import { describe, expect, it } from 'vitest';
import { createNativeBackend } from './native-backend.ts';
import { identityModel } from './testing/tiny-graphs.ts';

describe('the native backend', () => {
  it.each([
    ['leaves the event loop free while the model runs', {}, false],
    ['computes in the thread of a caller that may block', { mayBlock: true }, true],
  ])('%s', async (_, options, blocks) => {
    const backend = createNativeBackend();
    const session = await backend.createSession(
      encodeGraph({
        inputs: [{ name: 'x', type: 'float32', shape: ['n', 'n'] }],
        outputs: [{ name: 'y', type: 'float32', shape: ['n', 'n'] }],
        nodes: [{ opType: 'MatMul', inputs: ['x', 'x'], outputs: ['y'] }],
      }),
      { threadCount: 1, spin: false },
    );
    const size = 1024;
    const create = () => backend.createTensor('float32', [size, size], new Float32Array(size * size));
    const binding = session.bind(new Map([['x', create()]]), new Map([['y', create()]]));
    let turnCount = 0;
    const timer = setInterval(() => turnCount++, 1);
    await binding.run(options);
    clearInterval(timer);
    expect(turnCount === 0).toBe(blocks);
    session.dispose();
  });

  it('refuses to run a binding twice at the same time', async () => {
    const backend = createNativeBackend();
    const session = await backend.createSession(identityModel(), {
      threadCount: 1,
      spin: false,
    });
    const create = () => backend.createTensor('float32', [1], new Float32Array(1));
    const binding = session.bind(new Map([['x', create()]]), new Map([['y', create()]]));
    const first = binding.run();
    await expect(binding.run()).rejects.toThrow('once at a time');
    expect(() => session.dispose()).toThrow('running session');
    await first;
    session.dispose();
  });

  it('keeps its library when the handle is collected', async () => {
    const backend = createNativeBackend();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    for (let i = 0; i < 3; i++) {
      collect();
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    const tensor = backend.createTensor('float32', [1], new Float32Array(1));
    expect(tensor.shape).toEqual([1]);
    tensor.dispose();
  });
});
