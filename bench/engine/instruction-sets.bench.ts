// Decode steps and chunks of a prompt with two instruction sets of the CPU kernels, in turns. Their logits must have the same bits.
//
//     npm run bench -- instruction-sets --help

import { parseArgs } from 'node:util';
import { createSlotsRunner, type RunnerRow, readManifest } from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { peerModel, SHAPE_NAMES } from '../peers/peer-models.ts';
import { readCount } from '../read-count.ts';
import { readIsa } from './read-isa.ts';
import { type Contestant, decodeRows, fillSlots, interleave, readList, tokens } from './runner-turns.ts';

const CONTEXT = 64;

const HELP = `Options:
  --isas A,B         instruction sets, by their names in engine.info.kernels (default avx512,amx)
  --shape NAME       ${SHAPE_NAMES.join(', ')} (default smollm2-135m)
  --bits 4|8         of the weights (default 4)
  --rows LIST        rows of a decode step behind ${CONTEXT} tokens (default 1,8,16,32)
  --prompts LIST     tokens of a prompt, in one call (default 256,1024)
  --threads N        threads of a model call (default 2)
  --turns N          measured turns of each (default 9)`;

const { values } = parseArgs({
  options: {
    isas: { type: 'string', default: 'avx512,amx' },
    shape: { type: 'string', default: 'smollm2-135m' },
    bits: { type: 'string', default: '4' },
    rows: { type: 'string', default: '1,8,16,32' },
    prompts: { type: 'string', default: '256,1024' },
    threads: { type: 'string', default: '2' },
    turns: { type: 'string', default: '9' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  if (values.help) {
    console.log(HELP);
    return;
  }
  if (values.bits !== '4' && values.bits !== '8') throw new Error(`--bits is 4 or 8; got "${values.bits}".`);
  const isas = values.isas.split(',').map(name => readIsa('isas', name));
  if (isas.length !== 2) throw new Error(`--isas are two names; got "${values.isas}".`);
  const rowCounts = readList('rows', values.rows);
  const prompts = readList('prompts', values.prompts);
  const turnCount = readCount('turns', values.turns);
  const threadCount = readCount('threads', values.threads);
  const shape = SHAPE_NAMES.find(name => name === values.shape);
  if (shape === undefined)
    throw new Error(`--shape is one of ${SHAPE_NAMES.join(', ')}; got "${values.shape}".`);
  const dir = await peerModel(shape, values.bits === '8' ? 'q8' : 'q4', 'ortler');
  const slotCount = Math.max(...rowCounts);
  const contextLength = 2 * CONTEXT + Math.max(...prompts);
  const contestants: Contestant[] = [];
  for (const isa of isas) {
    const { backend } = await selectBackend('native', { kernels: isa });
    const options = { slotCount, contextLength, threadCount, spin: true };
    const runner = await createSlotsRunner(backend, dir, await readManifest(dir), options);
    contestants.push({ name: isa, runner });
  }
  const results = [];
  for (const length of prompts) {
    const rows: RunnerRow[] = [{ slot: 0, tokenIds: tokens(0, length), computedLength: 0, logitsCount: 1 }];
    await checkLogits(contestants, rows);
    results.push({ prompt: length, ...(await interleave(contestants, rows, turnCount)) });
  }
  for (const { runner } of contestants) await fillSlots(runner, 0, CONTEXT);
  for (const count of rowCounts) {
    const rows = decodeRows(count, CONTEXT);
    await checkLogits(contestants, rows);
    results.push({ rows: count, ...(await interleave(contestants, rows, turnCount)) });
  }
  const facts = { bench: 'instruction-sets', shape, bits: values.bits, threadCount, turnCount };
  console.log(JSON.stringify({ ...facts, results, ...describeMachine() }, null, 2));
  for (const { runner } of contestants) await runner.close();
}

/** Throws: unless all have the same bits. */
async function checkLogits(contestants: readonly Contestant[], rows: readonly RunnerRow[]): Promise<void> {
  const logits = [];
  for (const { runner } of contestants) logits.push((await runner.run(rows)).slice());
  const [first, ...others] = logits.map(values =>
    Buffer.from(values.buffer, values.byteOffset, values.byteLength),
  );
  if (others.some(other => !first!.equals(other))) throw new Error('The logits have other bits.');
}

await main();
