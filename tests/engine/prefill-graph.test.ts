// The prefill graph of models with an int8 KV cache, through both ONNX Runtime bindings: which tokens take it, and that it is
// the same model as the main graph.

import { basename } from 'node:path';
import {
  createSlotsRunner,
  type RunnerRow,
  readManifest,
  type SlotModelRunner,
} from '@ortler/engine/testing';
import { type OrtBackend, selectBackend } from '@ortler/onnxruntime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { row, tokens } from './runner-rows.ts';
import { createTinyModelFolder, type TinyModelFolder } from './tiny-model-folder.ts';

const SLOT_COUNT = 6;
const CONTEXT_LENGTH = 64;
const BACKENDS = ['native', 'node'] as const;

/**
 * `MatMulNBits` adds in another order for one row than for several, and attention for other lengths. That may turn the rounding
 * of an activation or of a cached value, one step of 1/127 of the largest of its block; logits of the tiny model are of the
 * order of 1.
 */
const TURNED_ROUNDING = 0.02;

const PRECISIONS = ['q4', 'q8', 'f32'] as const;

describe.each(PRECISIONS)('a %s model with an int8 KV cache', precision => {
  let folder: TinyModelFolder;
  const runners = new Map<string, SlotModelRunner>();
  /** Graphs of the calls since the last look, by runner. */
  const calls = new Map<string, string[]>();

  async function createRunner(name: (typeof BACKENDS)[number]): Promise<SlotModelRunner> {
    const graphs: string[] = [];
    calls.set(name, graphs);
    const { backend } = await selectBackend(name);
    return createSlotsRunner(recordGraphs(backend, graphs), folder.dir, await readManifest(folder.dir), {
      ...{ slotCount: SLOT_COUNT, contextLength: CONTEXT_LENGTH, threadCount: 1, spin: false },
    });
  }

  beforeAll(async () => {
    folder = await createTinyModelFolder(precision, { modelType: 'llama' }, { kvType: 'int8' });
    for (const name of BACKENDS) runners.set(name, await createRunner(name));
  });

  afterAll(async () => {
    for (const runner of runners.values()) await runner.close();
    await folder.remove();
  });

  /** The graphs that computed the rows, and their logits. */
  async function run(
    name: string,
    ...rows: RunnerRow[]
  ): Promise<{ logits: Float32Array; graphs: string[] }> {
    const graphs = calls.get(name)!;
    graphs.length = 0;
    const logits = (await runners.get(name)!.run(rows)).slice();
    return { logits, graphs: [...graphs] };
  }

  const prompt = tokens(21, 3);
  /** As the scheduler plans a chunk: the last token of the prompt has logits and never takes the graph without any. */
  const chunk = (slot: number, start: number, end: number): RunnerRow => ({
    ...row(slot, start, prompt.slice(start, end), Number(end === prompt.length)),
    prefillCount: Math.min(end, prompt.length - 1) - start,
  });
  describe.each(BACKENDS)('through %s', name => {
    it('computes a prompt in chunks as whole, by the same graphs', async () => {
      const whole = await run(name, chunk(2, 0, prompt.length));
      expect(whole.graphs).toEqual(['prefill.onnx', 'model.onnx']);
      for (const [first, second] of [
        [1, 2],
        [10, 13],
        [19, 20],
      ] as const) {
        await run(name, chunk(2, 0, first));
        await run(name, chunk(2, first, second));
        const last = await run(name, chunk(2, second, prompt.length));
        expect(last.graphs.at(-1)).toBe('model.onnx');
        expect(largestDifference(last.logits, whole.logits)).toBeLessThan(TURNED_ROUNDING);
      }
    });

    it('computes the last token of a prompt beside decodes as with the prompt', async () => {
      const { vocabSize } = runners.get(name)!.facts;
      const whole = await run(name, chunk(2, 0, prompt.length));
      await run(name, row(0, 0, tokens(5, 8)));
      await run(name, chunk(1, 0, prompt.length - 1));
      const { logits, graphs } = await run(name, row(0, 5, [7]), chunk(1, prompt.length - 1, prompt.length));
      expect(graphs).toEqual(['model.onnx']);
      expect(largestDifference(logits.subarray(vocabSize), whole.logits)).toBeLessThan(TURNED_ROUNDING);
    });

    it('computes generated tokens by the main graph, in a batch as alone', async () => {
      const { vocabSize } = runners.get(name)!.facts;
      const texts = [0, 1, 2, 3].map(slot => tokens(6 + 3 * slot, 40 + slot));
      const alone: Float32Array[] = [];
      for (const [slot, text] of texts.entries()) {
        await run(name, row(slot, 0, text, 0));
        await run(name, row(5, 0, text, 0));
        const { logits, graphs } = await run(name, row(5, text.length, [9 + slot]));
        expect(graphs).toEqual(['model.onnx']);
        alone.push(logits);
      }
      const batch = await run(name, ...texts.map((text, slot) => row(slot, text.length, [9 + slot])));
      expect(batch.graphs).toEqual(['model.onnx']);
      for (const [slot, expected] of alone.entries()) {
        const own = batch.logits.subarray(slot * vocabSize, (slot + 1) * vocabSize);
        expect(largestDifference(own, expected)).toBeLessThan(TURNED_ROUNDING);
      }
    });

    it('computes a prompt as the main graph does', async () => {
      const both = await run(name, chunk(2, 0, prompt.length));
      const main = await run(name, { ...chunk(2, 0, prompt.length), prefillCount: 0 });
      expect(main.graphs).toEqual(['model.onnx']);
      expect(largestDifference(main.logits, both.logits)).toBeLessThan(TURNED_ROUNDING);
    });
  });

  it('is bit for bit the same through both bindings, beside decodes', async () => {
    for (const rows of [[row(0, 0, [5, 6])], [row(0, 2, [7]), chunk(2, 0, prompt.length)]]) {
      const [native, node] = [await run('native', ...rows), await run('node', ...rows)];
      expect(native.logits).toEqual(node.logits);
      expect(native.graphs).toEqual(node.graphs);
    }
  });
});

/** A backend whose sessions note the name of their file at each run. */
function recordGraphs(backend: OrtBackend, graphs: string[]): OrtBackend {
  return {
    name: backend.name,
    version: backend.version,
    createTensor: (type, shape, data) => backend.createTensor(type, shape, data),
    copy: (source, target) => backend.copy(source, target),
    describeDevice: device => backend.describeDevice(device),
    async createSession(model, options) {
      const session = await backend.createSession(model, options);
      const file = typeof model === 'string' ? basename(model) : 'bytes';
      return {
        device: session.device,
        inputNames: session.inputNames,
        outputNames: session.outputNames,
        processorOperators: session.processorOperators,
        bind(inputs, outputs) {
          const binding = session.bind(inputs, outputs);
          const run = () => {
            graphs.push(file);
            return binding.run();
          };
          return { run, dispose: () => binding.dispose() };
        },
        allocate: (type, shape) => session.allocate(type, shape),
        view: (value, shape) => session.view(value, shape),
        dispose: () => session.dispose(),
      };
    },
  };
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - b[i]!)), 0);
}
