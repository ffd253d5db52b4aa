import type { OrtBackend, OrtSession, OrtTensor, OrtValue } from '@ortler/onnxruntime';
import { describe, expect, it } from 'vitest';
import { type NormKernel, plainHeadNormAttention } from '../../../../test/plain-head-norm-attention.ts';
import type { ModelManifest } from '../../../graph-contract/index.ts';
import { SCRIPTED_MANIFEST } from '../../../testing/scripted-manifest.ts';
import { chooseGraph } from './choose-graph.ts';
import { halfBits, trialData } from './head-norm-trial.ts';

const HEAD_SIZES = [32, 64, 80, 128, 256];

/** A device whose attention with norms inside computes as `kernel` does, refuses them, or gives no numbers. */
type FakeKernel = NormKernel | 'refuses' | 'no numbers';

/** Counts values that are not disposed, and sessions. */
interface FakeDevice {
  readonly backend: OrtBackend;
  liveCount: number;
}

function fakeDevice(headSize: number, kernel: FakeKernel): FakeDevice {
  const device: FakeDevice = { backend: {} as OrtBackend, liveCount: 0 };
  const value = <T extends object>(fields: T) => {
    device.liveCount++;
    return { ...fields, dispose: () => void device.liveCount-- };
  };
  const createSession = async (model: string | Uint8Array) => {
    const isInside = Buffer.from(model as Uint8Array).includes('qk_norm_epsilon');
    const session = value({
      allocate: () => value({}),
      bind: (_: unknown, outputs: ReadonlyMap<string, OrtValue>) => ({
        dispose: () => {},
        run: async () => {
          if (isInside && kernel === 'refuses') throw new Error('q_norm_weight is not supported');
          const { data } = outputs.get('output') as OrtTensor;
          const { [isInside ? 'inside' : 'apart']: own } = { inside: kernel, apart: 'right' as const };
          if (own === 'no numbers') (data as Uint16Array).fill(0x7e00);
          else
            (data as Uint16Array).set(
              halfBits(plainHeadNormAttention(trialData(headSize), own as NormKernel)),
            );
        },
      }),
    });
    return session as unknown as OrtSession;
  };
  const createTensor = (type: string, shape: readonly number[], data: unknown) =>
    value({ type, shape, data });
  return Object.assign(device, { backend: { createSession, createTensor } as unknown as OrtBackend });
}

function manifest(headSize: number): ModelManifest {
  return { ...SCRIPTED_MANIFEST, headSize, graphFile: 'm.onnx', cudaGraphFile: 'm.cuda.onnx' };
}

const CUDA = { device: 'cuda', threadCount: 1, spin: false } as const;

describe('chooseGraph', () => {
  it.each(HEAD_SIZES)(
    'takes the graph for CUDA where its attention is right, in heads of %i',
    async headSize => {
      const device = fakeDevice(headSize, 'right');
      const chosen = await chooseGraph(device.backend, manifest(headSize), CUDA);
      expect(chosen).toEqual({ graphFile: 'm.cuda.onnx', note: undefined });
      expect(device.liveCount).toBe(0);
    },
  );

  it.each(
    HEAD_SIZES.flatMap(headSize =>
      (
        [
          'norm after the rotation',
          'default epsilon',
          'no norm',
          'weights exchanged',
          'norm over all heads',
          'no numbers',
        ] as const
      ).map(kernel => ({ headSize, kernel })),
    ),
  )('takes the other graph where it has $kernel, in heads of $headSize', async ({ headSize, kernel }) => {
    const device = fakeDevice(headSize, kernel);
    const { graphFile, note } = await chooseGraph(device.backend, manifest(headSize), CUDA);
    expect(graphFile).toBe('m.onnx');
    expect(note).toMatch(
      /the attention of this device does not compute them: results differ by (\d\.\d+|NaN), /,
    );
    expect(device.liveCount).toBe(0);
  });

  it('takes the other graph where the attention refuses norms, with the reason', async () => {
    const device = fakeDevice(64, 'refuses');
    const { graphFile, note } = await chooseGraph(device.backend, manifest(64), CUDA);
    expect(graphFile).toBe('m.onnx');
    expect(note).toMatch(/does not compute them: q_norm_weight is not supported$/);
    expect(device.liveCount).toBe(0);
  });

  it.each([
    ['of another device', manifest(64), { ...CUDA, device: 'webgpu' }],
    ['of a build with one graph', { ...SCRIPTED_MANIFEST, graphFile: 'm.onnx' }, CUDA],
  ] as const)('tries nothing %s', async (_, given, options) => {
    const chosen = await chooseGraph({} as OrtBackend, given, options);
    expect(chosen).toEqual({ graphFile: 'm.onnx', note: undefined });
  });
});
