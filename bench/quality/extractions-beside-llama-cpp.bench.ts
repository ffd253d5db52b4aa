// Content of the extractions with a key beside llama.cpp: the same GGUF file, the same prompt tokens, the same schemas, temperature
// 0. Each program has its own grammars. bench/peers/README.md says how node-llama-cpp is installed.
//
//     npm run bench -- extractions-beside-llama-cpp --model FILE.gguf

import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createEngine } from '@ortler/engine';
import { type Precision, prepareModel } from '@ortler/model-builder';
import { createJsonSchemaChecker } from '@ortler/structured-output';
import { describeMachine } from '../describe-machine.ts';
import { readCount } from '../read-count.ts';
import { judgeExtraction } from './judge-extraction.ts';
import { KEYED_EXTRACTIONS } from './keyed-extractions.ts';
import { EXTRACTION_LENGTH, type Measured, measureQuality } from './measure-quality.ts';
import { reportKeyed } from './report-quality.ts';

const CONTEXT_LENGTH = 1024;
const OURS = ['f32', 'file'] as const satisfies readonly Precision[];

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    cache: { type: 'string', default: resolve(import.meta.dirname, '../../.cache/bench/quality') },
    threads: { type: 'string', default: '2' },
    answers: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** What the peer's module gives; it is installed only when asked for. */
interface Extractor {
  extract(options: {
    readonly modelPath: string;
    readonly threadCount: number;
    readonly contextLength: number;
    readonly maxTokens: number;
    readonly requests: readonly { readonly tokenIds: readonly number[]; readonly schema: unknown }[];
    readonly onAnswer: (answer: {
      readonly text: string;
      readonly ended: boolean;
      readonly tokenIds: readonly number[];
    }) => void;
  }): Promise<void>;
}

async function main(model: string): Promise<void> {
  const threadCount = readCount('threads', values.threads);
  const measured: Record<string, Measured['keyed']> = {};
  let prompts: readonly (readonly number[])[] = [];
  for (const precision of OURS) {
    const modelDir = await prepareModel({ sourceDir: model, cacheDir: values.cache, precision });
    await using engine = await createEngine({
      modelDir,
      device: 'cpu',
      threadCount,
      maxSequences: 1,
      contextLength: CONTEXT_LENGTH,
      prefixCaching: false,
      modelDefaults: false,
      tuning: { speculativeDecoding: 'off' },
    });
    console.error(`${precision}: ${KEYED_EXTRACTIONS.length} extractions ...`);
    measured[precision] = (await measureQuality(engine, [], ['keyed'])).keyed;
    prompts = await Promise.all(
      KEYED_EXTRACTIONS.map(async ({ prompt }) => {
        const text = await engine.renderChat([{ role: 'user', content: prompt }]);
        return engine.encode(text, { addSpecialTokens: false });
      }),
    );
  }
  measured.llamaCpp = await measureLlamaCpp(model, threadCount, prompts);
  const builds = Object.fromEntries(
    Object.entries(measured).map(([name, keyed]) => [name, reportKeyed({ keyed }).keyed]),
  );
  const texts = KEYED_EXTRACTIONS.map(({ name }, i) => ({
    name,
    ...Object.fromEntries(Object.entries(measured).map(([build, keyed]) => [build, keyed[i]!.text])),
  }));
  const facts = { bench: 'extractions-beside-llama-cpp', model: basename(resolve(model)) };
  console.log(
    JSON.stringify({ ...facts, builds, ...(values.answers ? { texts } : {}), ...describeMachine() }, null, 2),
  );
}

async function measureLlamaCpp(
  modelPath: string,
  threadCount: number,
  prompts: readonly (readonly number[])[],
): Promise<Measured['keyed']> {
  const module = join(import.meta.dirname, '../peers/node-llama-cpp-extract.mjs');
  const { extract } = (await import(module)) as Extractor;
  const answers: Parameters<Parameters<Extractor['extract']>[0]['onAnswer']>[0][] = [];
  console.error(`llama.cpp: ${prompts.length} extractions ...`);
  await extract({
    modelPath: resolve(modelPath),
    threadCount,
    contextLength: CONTEXT_LENGTH,
    maxTokens: EXTRACTION_LENGTH,
    requests: KEYED_EXTRACTIONS.map(({ schema }, i) => ({ tokenIds: prompts[i]!, schema })),
    onAnswer: answer => console.error(`  ${answers.push(answer)} of ${prompts.length}`),
  });
  const checker = createJsonSchemaChecker();
  try {
    return await Promise.all(
      answers.map(async (answer, i) => ({
        ...answer,
        gaps: [],
        ...(await judgeExtraction(answer, KEYED_EXTRACTIONS[i]!, checker)),
      })),
    );
  } finally {
    await checker.close();
  }
}

if (values.help || values.model === undefined) {
  console.log(
    'Options:\n  --model FILE.gguf\n  --answers          show all answers\n  --cache FOLDER     of the built models\n  --threads N        (default 2)',
  );
  if (!values.help) process.exitCode = 2;
} else await main(values.model);
