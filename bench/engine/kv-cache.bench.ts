// int8 KV cache against float32: decode steps and chunks of prompts on one checkpoint built with a float32 cache and with one
// of 8-bit codes. Builds take turns step by step; logits are compared first, and a difference beyond rounding ends the
// benchmark.
//
//     npm run bench -- kv-cache --help

import { parseArgs } from 'node:util';
import { createSlotsRunner, type RunnerRow, readManifest } from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { peerModel } from '../peers/peer-models.ts';
import { readCount } from '../read-count.ts';
import {
  type Contestant,
  decodeRows,
  differenceShare,
  fillSlots,
  interleave,
  readList,
  tokens,
} from './runner-turns.ts';

const SHAPE = 'smollm2-135m';
const CAPACITY = 4608;

const HELP = `Options:
  --bits 4|8          of the weights (default 4)
  --rows LIST         rows of a decode step (default 1,4,8,16)
  --contexts LIST     tokens that each row has before the step (default 64,1000,4000)
  --prompts LIST      tokens of a chunk (default 128,256)
  --depths LIST       tokens before the chunk; 0 is the start (default 0,1000,3500)
  --threads N         threads of a model call (default 2)
  --turns N           measured turns of each build (default 9)
  --only decode|prompts`;

/** How far logits of random weights may be apart with a rounded cache, as a share of their size. */
const LOGITS_BOUND = 0.3;

const { values } = parseArgs({
  options: {
    bits: { type: 'string', default: '4' },
    rows: { type: 'string', default: '1,4,8,16' },
    contexts: { type: 'string', default: '64,1000,4000' },
    prompts: { type: 'string', default: '128,256' },
    depths: { type: 'string', default: '0,1000,3500' },
    threads: { type: 'string', default: '2' },
    turns: { type: 'string', default: '9' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  if (values.help) {
    console.log(HELP);
    return;
  }
  if (values.bits !== '4' && values.bits !== '8') throw new Error(`--bits is 4 or 8; got "${values.bits}".`);
  if (values.only !== undefined && values.only !== 'decode' && values.only !== 'prompts')
    throw new Error(`--only is decode or prompts; got "${values.only}".`);
  const rowCounts = readList('rows', values.rows);
  const slotCount = Math.max(...rowCounts);
  const precision = values.bits === '8' ? 'q8' : 'q4';
  const threadCount = readCount('threads', values.threads);
  const builds: Contestant[] = [];
  const loadMs: Record<string, number> = {};
  const { backend } = await selectBackend('native');
  for (const cache of ['float32', 'int8'] as const) {
    const dir = await peerModel(SHAPE, precision, 'ortler', cache);
    const startedMs = performance.now();
    const options = { slotCount, contextLength: CAPACITY, threadCount, spin: true };
    const runner = await createSlotsRunner(backend, dir, await readManifest(dir), options);
    loadMs[cache] = Math.round(performance.now() - startedMs);
    builds.push({ name: cache, runner });
  }
  const turnCount = readCount('turns', values.turns);
  const decode = values.only === 'prompts' ? [] : await measureDecodes(builds, rowCounts, turnCount);
  const prompts = values.only === 'decode' ? [] : await measurePrompts(builds, turnCount);
  const facts = { bench: 'kv-cache', shape: SHAPE, precision, threadCount, turnCount, loadMs };
  console.log(JSON.stringify({ ...facts, decode, prompts, ...describeMachine() }, null, 2));
  for (const { runner } of builds) await runner.close();
}

async function measureDecodes(
  builds: readonly Contestant[],
  rowCounts: readonly number[],
  turnCount: number,
) {
  const results = [];
  let filled = 0;
  for (const context of readList('contexts', values.contexts).toSorted((a, b) => a - b)) {
    for (const { runner } of builds) await fillSlots(runner, filled, context);
    filled = context;
    for (const count of rowCounts) {
      const rows = decodeRows(count, context);
      checkLogits(await Promise.all(builds.map(async ({ runner }) => (await runner.run(rows)).slice())));
      results.push({ rows: count, context, ...(await interleave(builds, rows, turnCount)) });
    }
  }
  return results;
}

async function measurePrompts(builds: readonly Contestant[], turnCount: number) {
  const results = [];
  let filled = 0;
  for (const depth of readList('depths', values.depths, 0).toSorted((a, b) => a - b)) {
    for (const { runner } of builds) await fillSlots(runner, filled, depth);
    filled = depth;
    for (const length of readList('prompts', values.prompts)) {
      const row = { slot: 0, tokenIds: tokens(depth, length), computedLength: depth };
      const rows: RunnerRow[] = [{ ...row, logitsCount: 0 }];
      results.push({ length, depth, ...(await interleave(builds, rows, turnCount)) });
    }
  }
  return results;
}

/** Throws: when they are further apart than rounding explains. */
function checkLogits([exact, rounding]: readonly Float32Array[]): void {
  const share = differenceShare(rounding!, exact!);
  if (!(share < LOGITS_BOUND)) throw new Error(`Logits are ${share} of their size apart.`);
}

await main();
