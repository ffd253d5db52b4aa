// Accuracy of quantised builds of a checkpoint: perplexity on a text, greedy answers and structured extractions of each build,
// compared with the float32 build. The model must be a real one: random weights predict nothing.
//
//     npm run bench -- quality --help

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createEngine } from '@ortler/engine';
import { type KvType, type Precision, prepareModel } from '@ortler/model-builder';
import { describeMachine } from '../describe-machine.ts';
import { readCount } from '../read-count.ts';
import { type Measured, measureQuality, PARTS, type Part } from './measure-quality.ts';
import { reportQuality } from './report-quality.ts';

const HELP = `Options:
  --model PATH       a Hugging Face checkpoint or a GGUF file, or set ORTLER_QUALITY_MODEL
  --builds LIST      of f32, q8, q4, f32-kv8, q8-kv8 and q4-kv8 (default all), and file, for the values of a GGUF file;
                     kv8 has the int8 KV cache
  --parts LIST       of perplexity, answers, extractions and keyed (default all)
  --text FILE        paragraphs with blank lines between them (default apps/server/report-text.txt)
  --reference FILE   compare with the f32 build of an earlier run's --details instead of running it
  --details FILE     write token ids and log probabilities of each paragraph, and all answers, as JSON
  --cache FOLDER     of the built models (default .cache/bench/quality)
  --chunk N          most prompt tokens of a model call (default: the engine's)
  --threads N        threads of a model call (default 2)`;

const BUILDS = {
  f32: { precision: 'f32', kvType: 'float32' },
  q8: { precision: 'q8', kvType: 'float32' },
  q4: { precision: 'q4', kvType: 'float32' },
  'f32-kv8': { precision: 'f32', kvType: 'int8' },
  'q8-kv8': { precision: 'q8', kvType: 'int8' },
  'q4-kv8': { precision: 'q4', kvType: 'int8' },
  file: { precision: 'file', kvType: 'float32' },
} as const satisfies Readonly<Record<string, { readonly precision: Precision; readonly kvType: KvType }>>;
type BuildName = keyof typeof BUILDS;
const BUILD_NAMES = Object.keys(BUILDS) as readonly BuildName[];

/** Tokens of the longest prompt and its answer. */
const CONTEXT_LENGTH = 1024;

/** Content of the file that `--details` writes and `--reference` reads, by name of the build. */
type Details = Readonly<Record<string, Measured>>;

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    builds: { type: 'string', default: BUILD_NAMES.filter(name => name !== 'file').join(',') },
    parts: { type: 'string', default: PARTS.join(',') },
    text: { type: 'string', default: resolve(import.meta.dirname, '../../apps/server/report-text.txt') },
    reference: { type: 'string' },
    details: { type: 'string' },
    cache: { type: 'string', default: resolve(import.meta.dirname, '../../.cache/bench/quality') },
    chunk: { type: 'string' },
    threads: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  const model = values.model ?? process.env.ORTLER_QUALITY_MODEL;
  if (values.help || model === undefined) {
    console.log(HELP);
    if (!values.help) process.exitCode = 2;
    return;
  }
  const names = readNames('builds', values.builds, BUILD_NAMES);
  const parts = readNames('parts', values.parts, PARTS);
  const texts = readFileSync(values.text, 'utf8')
    .trim()
    .split(/\n\s*\n/);
  let reference = values.reference === undefined ? undefined : readReference(values.reference);
  const measured: Record<string, Measured> = {};
  const builds = [];
  // The reference runs first.
  for (const name of BUILD_NAMES.filter(name => names.includes(name))) {
    const startedMs = performance.now();
    const modelDir = await build(model, name);
    console.error(`${name}: measuring ${modelDir} ...`);
    const result = await measureBuild(modelDir, texts, parts);
    measured[name] = result;
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    builds.push({
      build: name,
      modelBytes: modelBytes(modelDir),
      seconds,
      ...reportQuality(result, reference),
    });
    if (name === 'f32') reference ??= result;
    console.error(JSON.stringify(builds.at(-1)));
    if (values.details !== undefined)
      writeFileSync(values.details, JSON.stringify(measured satisfies Details));
  }
  const facts = { bench: 'quality', model: basename(resolve(model)), text: basename(values.text) };
  console.log(JSON.stringify({ ...facts, builds, ...describeMachine() }, null, 2));
}

function build(sourceDir: string, name: BuildName): Promise<string> {
  return prepareModel({ sourceDir, cacheDir: values.cache, ...BUILDS[name] });
}

async function measureBuild(
  modelDir: string,
  texts: readonly string[],
  parts: readonly Part[],
): Promise<Measured> {
  const engine = await createEngine({
    modelDir,
    device: 'cpu',
    threadCount: readCount('threads', values.threads),
    // One request at a time and no drafts: results depend on the build alone.
    maxSequences: 1,
    contextLength: CONTEXT_LENGTH,
    prefixCaching: false,
    modelDefaults: false,
    tuning: {
      speculativeDecoding: 'off',
      prefillChunkLength: values.chunk === undefined ? undefined : readCount('chunk', values.chunk),
    },
  });
  try {
    return await measureQuality(engine, texts, parts);
  } finally {
    await engine.close();
  }
}

/** Throws: for a name that is not one of `allowed`. */
function readNames<Name extends string>(
  option: string,
  text: string,
  allowed: readonly Name[],
): readonly Name[] {
  return text.split(',').map(given => {
    const found = allowed.find(name => name === given);
    if (found === undefined)
      throw new Error(`--${option} takes names of ${allowed.join(', ')}; got "${given}".`);
    return found;
  });
}

/** Throws: when the file has no float32 build. */
function readReference(file: string): Measured {
  const { f32 } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Details>;
  if (f32 === undefined) throw new Error(`${file} has no results of the f32 build.`);
  return f32;
}

/** Bytes of all graphs and weights of a build. */
function modelBytes(modelDir: string): number {
  return readdirSync(modelDir)
    .filter(name => /\.onnx(\.data)?$/.test(name))
    .reduce((sum, name) => sum + statSync(join(modelDir, name)).size, 0);
}

await main();
