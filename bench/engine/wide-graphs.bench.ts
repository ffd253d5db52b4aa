// From how many rows on the graph of integers of a 4-bit build is faster than its graph of 4 bits: decode steps through both,
// on one cache each, in turns. Logits are compared first.
//
//     npm run bench -- wide-graphs --help

import { parseArgs } from 'node:util';
import { createSlotsRunner, readManifest } from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { peerModel, SHAPE_NAMES } from '../peers/peer-models.ts';
import { readCount } from '../read-count.ts';
import {
  type Contestant,
  decodeRows,
  differenceShare,
  fillSlots,
  interleave,
  readList,
} from './runner-turns.ts';

const CAPACITY = 4608;

/** How far logits of random weights may be apart, as a share of their size. */
const LOGITS_BOUND = 0.15;

const HELP = `Options:
  --shape NAME        ${SHAPE_NAMES.join(' or ')} (default ${SHAPE_NAMES[0]})
  --cache TYPE        float32 or int8 (default float32)
  --rows LIST         rows of a step (default 1,2,3,4,5,6,8,16)
  --contexts LIST     tokens that each row has before the step (default 64,1000)
  --threads N         threads of a model call (default 2)
  --turns N           measured turns of each graph (default 15)`;

const { values } = parseArgs({
  options: {
    shape: { type: 'string', default: SHAPE_NAMES[0] },
    cache: { type: 'string', default: 'float32' },
    rows: { type: 'string', default: '1,2,3,4,5,6,8,16' },
    contexts: { type: 'string', default: '64,1000' },
    threads: { type: 'string', default: '2' },
    turns: { type: 'string', default: '15' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  if (values.help) {
    console.log(HELP);
    return;
  }
  const shape = SHAPE_NAMES.find(name => name === values.shape);
  if (shape === undefined) throw new Error(`--shape is ${SHAPE_NAMES.join(' or ')}; got "${values.shape}".`);
  if (values.cache !== 'float32' && values.cache !== 'int8')
    throw new Error(`--cache is float32 or int8; got "${values.cache}".`);
  const rowCounts = readList('rows', values.rows);
  const threadCount = readCount('threads', values.threads);
  const turnCount = readCount('turns', values.turns);
  const { backend } = await selectBackend('native');
  const dir = await peerModel(shape, 'q4', 'ortler', values.cache);
  const manifest = await readManifest(dir);
  const options = {
    ...{ slotCount: Math.max(...rowCounts), contextLength: CAPACITY },
    ...{ threadCount, spin: true },
  };
  const graphs: readonly Contestant[] = [
    {
      name: 'fourBits',
      runner: await createSlotsRunner(backend, dir, manifest, { ...options, wideGraphs: false }),
    },
    {
      name: 'integers',
      runner: await createSlotsRunner(backend, dir, manifest, options),
      // Tokens of a prompt take that graph, however few.
      change: row => ({ ...row, promptCount: 1 }),
    },
  ];
  const results = [];
  let filled = 0;
  for (const context of readList('contexts', values.contexts).toSorted((a, b) => a - b)) {
    // Both have the same cache, that of one graph.
    for (const { runner } of graphs) await fillSlots(runner, filled, context);
    filled = context;
    for (const count of rowCounts) {
      const rows = decodeRows(count, context);
      await checkLogits(graphs, count, context);
      results.push({ rows: count, context, ...(await interleave(graphs, rows, turnCount)) });
    }
  }
  const facts = { bench: 'wide-graphs', shape, cache: values.cache, threadCount, turnCount };
  console.log(JSON.stringify({ ...facts, results, ...describeMachine() }, null, 2));
  for (const { runner } of graphs) await runner.close();
}

/** Throws: when they are further apart than rounding explains, or equal. */
async function checkLogits(graphs: readonly Contestant[], count: number, context: number): Promise<void> {
  const [exact, rounding] = await Promise.all(
    graphs.map(async ({ runner, change = row => row }) =>
      (await runner.run(decodeRows(count, context).map(change))).slice(),
    ),
  );
  const share = differenceShare(rounding!, exact!);
  if (!(share < LOGITS_BOUND)) throw new Error(`Logits are ${share} of their size apart.`);
  if (share === 0) throw new Error('Both were computed by one graph.');
}

await main();
