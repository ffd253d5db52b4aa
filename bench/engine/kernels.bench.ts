// Products of the kernels against ONNX Runtime's MatMulNBits on the same weights, in turns, by threads and rows. Results are
// compared first, and a difference beyond rounding ends the benchmark. The share of the bandwidth is that of memory read in the
// same minute: weights that fit the caches of the CPU may exceed it.
//
//     npm run bench -- kernels --help

import { parseArgs } from 'node:util';
import { type OrtBinding, type OrtSession, selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { measureMemoryBandwidth } from '../peers/memory-bandwidth.ts';
import { readCount } from '../read-count.ts';
import { rounded } from '../rounded.ts';
import { createProductPair, type ProductBits, type ProductPair, type ProductSize } from './kernel-graphs.ts';
import { readIsa } from './read-isa.ts';
import { differenceShare, readList } from './runner-turns.ts';

const HELP = `Options:
  --sizes LIST    inputs x outputs of the matrices (default 576x196608,2048x32768)
  --bits LIST     4, 8 or both (default 4,8)
  --rows LIST     rows of activations (default 1,4,8,16,64,256)
  --threads LIST  threads of a call (default 1,2)
  --turns N       measured pairs of calls (default 9)
  --isa NAME      instruction set of the kernels (default: the best)`;

/** How far two products with 8-bit activations may be apart, as a share of their size. */
const DIFFERENCE_BOUND = 0.01;

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '576x196608,2048x32768' },
    bits: { type: 'string', default: '4,8' },
    rows: { type: 'string', default: '1,4,8,16,64,256' },
    threads: { type: 'string', default: '1,2' },
    turns: { type: 'string', default: '9' },
    isa: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

interface Measured {
  readonly bytes: number;
  readonly session: OrtSession;
}

async function main(): Promise<void> {
  if (values.help) {
    console.log(HELP);
    return;
  }
  const { backend } = await selectBackend('native', {
    kernels: values.isa === undefined ? 'auto' : readIsa('isa', values.isa),
  });
  if ('missing' in backend.kernels) throw new Error(`There are no kernels: ${backend.kernels.missing}.`);
  const turnCount = readCount('turns', values.turns);
  const rowCounts = readList('rows', values.rows);
  const results = [];
  for (const size of values.sizes.split(',').map(readSize)) {
    for (const bits of readList('bits', values.bits).map(readBits)) {
      const pair = createProductPair(size, bits);
      for (const threadCount of readList('threads', values.threads)) {
        const bandwidth = await measureMemoryBandwidth(threadCount);
        const open = async (model: Uint8Array, bytes: number): Promise<Measured> => {
          return { bytes, session: await backend.createSession(model, { threadCount, spin: true }) };
        };
        const contestants = await openPair(pair, open);
        for (const rows of rowCounts) {
          const times = await measureRows(contestants, size, rows, turnCount);
          const [peer, own] = times.map(median) as [number, number];
          const share = (ms: number, bytes: number): number => rounded(bytes / (ms / 1000) / bandwidth);
          results.push({
            inputs: size.inputs,
            outputs: size.outputs,
            bits,
            threadCount,
            rows,
            matMulNBitsMs: rounded(peer),
            kernelsMs: rounded(own),
            timesFaster: rounded(median(times[0].map((ms, turn) => ms / times[1][turn]!))),
            matMulNBitsBandwidthShare: share(peer, pair.peerBytes),
            bandwidthShare: share(own, pair.ownBytes),
            bandwidthGBs: rounded(bandwidth / 1e9),
          });
        }
        for (const { session } of contestants) session.dispose();
      }
    }
  }
  const facts = { bench: 'kernels', isa: backend.kernels.isa, turnCount };
  console.log(JSON.stringify({ ...facts, results, ...describeMachine() }, null, 2));

  async function measureRows(
    contestants: readonly [Measured, Measured],
    { inputs, outputs }: ProductSize,
    rows: number,
    turns: number,
  ): Promise<readonly [number[], number[]]> {
    const x = Float32Array.from({ length: rows * inputs }, (_, i) => Math.sin(i * 0.7) * (1 + (i % 5)));
    const calls = contestants.map(({ session }) => {
      const y = new Float32Array(rows * outputs);
      const tensors = [
        backend.createTensor('float32', [rows, inputs], x),
        backend.createTensor('float32', [rows, outputs], y),
      ] as const;
      const binding = session.bind(new Map([['x', tensors[0]]]), new Map([['y', tensors[1]]]));
      return { binding, tensors, y };
    });
    for (const { binding } of calls) await binding.run();
    const difference = differenceShare(calls[1]!.y, calls[0]!.y);
    if (!(difference < DIFFERENCE_BOUND))
      throw new Error(`The products are ${difference} of their size apart.`);
    const times: [number[], number[]] = [[], []];
    for (let turn = 0; turn < turns; turn++)
      for (const [index, { binding }] of calls.entries()) times[index]!.push(await timeOf(binding));
    for (const { binding, tensors } of calls) {
      binding.dispose();
      for (const tensor of tensors) tensor.dispose();
    }
    return times;
  }
}

async function openPair(
  { peer, peerBytes, own, ownBytes }: ProductPair,
  open: (model: Uint8Array, bytes: number) => Promise<Measured>,
): Promise<readonly [Measured, Measured]> {
  return [await open(peer, peerBytes), await open(own, ownBytes)];
}

/** The second of two calls: threads are awake. */
async function timeOf(binding: OrtBinding): Promise<number> {
  await binding.run();
  const startedMs = performance.now();
  await binding.run();
  return performance.now() - startedMs;
}

function readBits(bits: number): ProductBits {
  if (bits !== 4 && bits !== 8) throw new Error(`--bits takes 4 and 8; got ${bits}.`);
  return bits;
}

function readSize(text: string): ProductSize {
  const [, inputs, outputs] = /^(\d+)x(\d+)$/.exec(text) ?? [];
  const size = { inputs: Number(inputs), outputs: Number(outputs) };
  if (!(size.inputs >= 32 && size.inputs % 32 === 0 && size.outputs >= 16 && size.outputs % 16 === 0))
    throw new Error(`--sizes takes multiples of 32 x multiples of 16; got "${text}".`);
  return size;
}

await main();
