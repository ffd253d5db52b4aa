// Tools in a running step: the time between tokens of an answer with and without the tool parser, in turns on the same prompt
// tokens, and the share of a forced call that jump-forward decoding brings several tokens at a time.
//
//     npm run bench -- tool-step [--model FOLDER or FILE] [--rounds 20] [--tokens 200]

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createEngine, type Engine, type GenerationRequest, type ToolsRequest } from '@ortler/engine';
import { prepareModel } from '@ortler/model-builder';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { readCount } from '../read-count.ts';
import { rounded } from '../rounded.ts';

const TOOLS: ToolsRequest = {
  definitions: [
    {
      name: 'get_weather',
      description: 'Current weather of a city',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
        required: ['city', 'unit'],
      },
    },
    {
      name: 'set_timer',
      description: 'Sets a timer',
      parameters: {
        type: 'object',
        properties: { duration_minutes: { type: 'integer' }, label: { type: 'string' } },
        required: ['duration_minutes'],
      },
    },
  ],
};
const DEMO_MODEL = join(import.meta.dirname, '../../models/demo');
const MESSAGES = [{ role: 'user', content: 'How is the weather in Rome today?' }];

interface Run {
  readonly tokenIds: readonly number[];
  /** Unit: milliseconds between events. */
  readonly gaps: readonly number[];
  readonly cpuMsPerToken: number;
}

async function generate(engine: Engine, request: GenerationRequest): Promise<Run> {
  const tokenIds: number[] = [];
  const gaps: number[] = [];
  let last = 0;
  const startedAt = process.cpuUsage();
  for await (const event of engine.generate({ sampling: { temperature: 0 }, ...request })) {
    const now = performance.now();
    if (event.kind !== 'token-delta') continue;
    if (last > 0) gaps.push(now - last);
    last = now;
    tokenIds.push(...event.tokenIds);
  }
  const { user, system } = process.cpuUsage(startedAt);
  return { tokenIds, gaps, cpuMsPerToken: (user + system) / 1000 / tokenIds.length };
}

async function measureParser(engine: Engine, rounds: number, maxTokens: number) {
  const prompt = { messages: MESSAGES };
  const tokenIds = await engine.encodePrompt(prompt, { tools: TOOLS });
  const stop = { maxTokens, ignoreEos: true };
  const plain = () => generate(engine, { prompt: { tokenIds }, stop });
  const parsed = () => generate(engine, { prompt, tools: TOOLS, stop });
  // Both fill the prefix cache and the caches of the grammar.
  const [first, second] = [await plain(), await parsed()];
  if (first.tokenIds.join() !== second.tokenIds.join())
    throw new Error('Both must write the same tokens: choose a prompt that is answered without a call.');
  const ratios: number[] = [];
  const cpuRatios: number[] = [];
  const steps = { plain: [] as number[], parsed: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    // Whoever runs second finds the machine as the first one left it.
    const [a, b] = round % 2 === 0 ? [await plain(), await parsed()] : await reversed(plain, parsed);
    steps.plain.push(median(a.gaps));
    steps.parsed.push(median(b.gaps));
    ratios.push(median(b.gaps) / median(a.gaps));
    cpuRatios.push(b.cpuMsPerToken / a.cpuMsPerToken);
  }
  return {
    promptTokens: tokenIds.length,
    stepMs: { plain: rounded(median(steps.plain)), withParser: rounded(median(steps.parsed)) },
    stepRatio: rounded(median(ratios)),
    cpuRatio: rounded(median(cpuRatios)),
  };
}

async function reversed(plain: () => Promise<Run>, parsed: () => Promise<Run>): Promise<[Run, Run]> {
  const b = await parsed();
  return [await plain(), b];
}

async function measureForcedCall(engine: Engine) {
  const before = engine.health.stats;
  const { tokenIds } = await generate(engine, {
    prompt: { messages: MESSAGES },
    tools: { ...TOOLS, choice: { name: 'get_weather' }, parallel: false },
    stop: { maxTokens: 200 },
  });
  const { stepCount, draftedTokenCount, acceptedTokenCount } = engine.health.stats;
  return {
    text: engine.decode(tokenIds),
    tokens: tokenIds.length,
    steps: stepCount - before.stepCount,
    drafted: draftedTokenCount - before.draftedTokenCount,
    accepted: acceptedTokenCount - before.acceptedTokenCount,
  };
}

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    rounds: { type: 'string', default: '20' },
    tokens: { type: 'string', default: '200' },
  },
});
const modelDir = await prepareModel({
  sourceDir: values.model ?? DEMO_MODEL,
  cacheDir: join(import.meta.dirname, '../../.cache/bench-models'),
  precision: values.model === undefined ? 'f32' : 'file',
});
const engine = await createEngine({ modelDir, device: 'cpu', modelDefaults: false });
try {
  const parser = await measureParser(
    engine,
    readCount('rounds', values.rounds),
    readCount('tokens', values.tokens),
  );
  const call = await measureForcedCall(engine);
  console.log(JSON.stringify({ machine: describeMachine(), parser, call }, null, 2));
} finally {
  await engine.close();
}
