// Speculation by prompt lookup, on against off in turns: text that repeats itself, text that does not, one answer and
// several at once. The answers of both must be equal. Also what a call costs by its tokens and by its sequences, which
// is where the table of `draft-policy.ts` comes from.
//
//     node --conditions=@ortler/source bench/engine/speculation.bench.ts --help

import { parseArgs } from 'node:util';
import {
  type CoreOptions,
  createSlotsRunner,
  type EngineCore,
  loadCore,
  NEUTRAL_SAMPLING,
  type RunnerRow,
  readManifest,
  type SubmitMessage,
} from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { peerModel } from '../peers/peer-models.ts';
import { readCount } from '../read-count.ts';
import { rounded } from '../rounded.ts';

const HELP = `Options:
  --model FOLDER   a built model (default: SmolLM2-135M's shape with random 4-bit weights, kept in .cache/bench)
  --threads N      threads of a model call (default 2)
  --spin           let threads wait for each other in a busy loop
  --tokens N       tokens of an answer (default 128)
  --pairs N        turns of each setting (default 5)
  --answers LIST   answers that run at once (default 1,2,4)
  --costs          only measure what calls cost`;

const PROMPT_LENGTH = 200;
const CONTEXT_LENGTH = 1024;

interface Options {
  readonly modelDir: string;
  readonly threadCount: number;
  readonly spin: boolean;
  readonly tokenCount: number;
  readonly pairCount: number;
}

interface Answers {
  readonly ms: number;
  readonly tokenIds: readonly (readonly number[])[];
  readonly stepCount: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      model: { type: 'string' },
      threads: { type: 'string', default: '2' },
      spin: { type: 'boolean', default: false },
      tokens: { type: 'string', default: '128' },
      pairs: { type: 'string', default: '5' },
      answers: { type: 'string', default: '1,2,4' },
      costs: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const options: Options = {
    modelDir: values.model ?? (await peerModel('smollm2-135m', 'q4', 'ortler')),
    threadCount: readCount('threads', values.threads),
    spin: values.spin,
    tokenCount: readCount('tokens', values.tokens),
    pairCount: readCount('pairs', values.pairs),
  };
  const costs = await measureCosts(options);
  const answerCounts = values.answers.split(',').map(value => readCount('answers', value));
  const cases = values.costs ? [] : await measureAnswers(options, answerCounts);
  const { modelDir: _, ...settings } = options;
  console.log(
    JSON.stringify({ bench: 'speculation', ...settings, costs, cases, ...describeMachine() }, null, 2),
  );
}

/** Milliseconds of a call, by tokens of one sequence with logits each, and by sequences with one token each. */
async function measureCosts({ modelDir, threadCount, spin, pairCount }: Options) {
  const { backend } = await selectBackend('native');
  const slotCount = 8;
  const settings = { slotCount, contextLength: CONTEXT_LENGTH, threadCount, spin };
  const runner = await createSlotsRunner(backend, modelDir, await readManifest(modelDir), settings);
  const prompt = freshTokens(PROMPT_LENGTH, 1, runner.facts.vocabSize);
  await runner.run([{ slot: 0, tokenIds: prompt, computedLength: 0, logitsCount: 1 }]);
  for (let slot = 1; slot < slotCount; slot++) runner.copySlot(0, slot, PROMPT_LENGTH);
  const row = (slot: number, tokenCount: number): RunnerRow => ({
    slot,
    tokenIds: prompt.subarray(0, tokenCount),
    computedLength: PROMPT_LENGTH,
    logitsCount: tokenCount,
  });
  const plans = [
    ...[1, 2, 4, 8, 16].map(tokens => ({ tokens, sequences: 1, rows: [row(0, tokens)] })),
    ...[2, 4, 8].map(sequences => ({
      tokens: 1,
      sequences,
      rows: Array.from({ length: sequences }, (_, slot) => row(slot, 1)),
    })),
  ].map(plan => ({ ...plan, times: [] as number[] }));
  for (const { rows } of plans) await runner.run(rows);
  for (let turn = 0; turn < 5 * pairCount; turn++) {
    for (const { rows, times } of plans) {
      const start = performance.now();
      await runner.run(rows);
      times.push(performance.now() - start);
    }
  }
  await runner.close();
  const alone = median(plans[0]!.times);
  return plans.map(({ tokens, sequences, times }) => ({
    tokens,
    sequences,
    ms: rounded(median(times)),
    cost: rounded(median(times) / alone),
  }));
}

async function measureAnswers(options: Options, answerCounts: readonly number[]) {
  const { modelDir, threadCount, spin, pairCount } = options;
  const core: CoreOptions = {
    modelDir,
    device: 'cpu',
    threadCount,
    maxSequences: Math.max(...answerCounts),
    contextLength: CONTEXT_LENGTH,
    prefixCaching: false,
    tuning: { backend: 'native', spin, prefillChunkLength: 512, maxQueuedSequences: 64 },
  };
  const on = await loadCore(core);
  const off = await loadCore({ ...core, tuning: { ...core.tuning, speculativeDecoding: 'off' } });
  const cases = [];
  for (const text of ['repeating', 'fresh'] as const) {
    for (const answerCount of answerCounts) {
      const requests = Array.from({ length: answerCount }, (_, index) =>
        text === 'repeating'
          ? repeatingRequest(index, options, on.facts.vocabSize)
          : freshRequest(index, options, on.facts.vocabSize),
      );
      const turns: { readonly on: Answers; readonly off: Answers }[] = [];
      await generate(on, requests);
      const before = on.stats;
      for (let pair = 0; pair < pairCount; pair++) {
        // Whoever is second in a turn is first in the next.
        const first = await generate(pair % 2 === 0 ? off : on, requests);
        const second = await generate(pair % 2 === 0 ? on : off, requests);
        turns.push(pair % 2 === 0 ? { off: first, on: second } : { off: second, on: first });
      }
      for (const turn of turns) checkEqual(turn.on.tokenIds, turn.off.tokenIds);
      const { draftedTokenCount, acceptedTokenCount } = on.stats;
      cases.push({
        text,
        answerCount,
        onMs: rounded(median(turns.map(turn => turn.on.ms))),
        offMs: rounded(median(turns.map(turn => turn.off.ms))),
        speedup: rounded(median(turns.map(turn => turn.off.ms / turn.on.ms))),
        onSteps: turns[0]!.on.stepCount,
        offSteps: turns[0]!.off.stepCount,
        drafted: (draftedTokenCount - before.draftedTokenCount) / pairCount,
        accepted: (acceptedTokenCount - before.acceptedTokenCount) / pairCount,
      });
      console.error(JSON.stringify(cases.at(-1)));
    }
  }
  await on.close();
  await off.close();
  return cases;
}

/**
 * An answer that can only repeat itself, the best case: the same work, and no choice that the rounding of kernels for
 * another number of rows could tip.
 */
function repeatingRequest(requestId: number, { tokenCount }: Options, vocabSize: number): SubmitMessage {
  return toRequest(requestId, tokenCount, vocabSize, { temperature: 0, allowedTokenIds: [7] });
}

/** An answer drawn at a high temperature from the whole vocabulary: no three tokens come twice. */
function freshRequest(requestId: number, { tokenCount }: Options, vocabSize: number): SubmitMessage {
  return toRequest(requestId, tokenCount, vocabSize, { temperature: 1 });
}

function toRequest(
  requestId: number,
  maxTokens: number,
  vocabSize: number,
  sampling: Partial<SubmitMessage['sampling']>,
): SubmitMessage {
  return {
    kind: 'submit',
    requestId,
    promptTokenIds: freshTokens(PROMPT_LENGTH, 3, vocabSize),
    choiceCount: 1,
    sampling: { ...NEUTRAL_SAMPLING, seed: BigInt(requestId), ...sampling },
    maxTokens,
    minTokens: 0,
    eosTokenIds: [],
    stopTokenIds: [],
    minTokensBannedIds: [],
  };
}

/** Time from the first generated token to the last, over all answers. */
async function generate(core: EngineCore, requests: readonly SubmitMessage[]): Promise<Answers> {
  const tokenIds = requests.map((): number[] => []);
  for (const request of requests) core.submit(request);
  let start: number | null = null;
  let stepCount = 0;
  while (core.hasWork) {
    for (const output of await core.step()) {
      if (output.kind !== 'step') throw new Error(output.message);
      for (const update of output.updates) tokenIds[update.requestId]!.push(...update.tokenIds);
    }
    if (start !== null) stepCount++;
    else if (tokenIds.every(ids => ids.length > 0)) start = performance.now();
  }
  if (start === null) throw new Error('No step gave a token.');
  return { ms: performance.now() - start, tokenIds, stepCount };
}

/** Token ids that look random and are the same every time. */
function freshTokens(count: number, seed: number, vocabSize: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => (seed * 7919 + i * 104_729 + i * i * 31) % vocabSize);
}

function checkEqual(on: Answers['tokenIds'], off: Answers['tokenIds']): void {
  for (const [index, tokenIds] of on.entries()) {
    const difference = tokenIds.findIndex((tokenId, i) => tokenId !== off[index]![i]);
    if (difference >= 0) throw new Error(`Answer ${index} differs from its token ${difference} on.`);
  }
}

await main();
