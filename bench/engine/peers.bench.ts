// Our engine against what a user of Node would take instead, on the same random weights of a published shape, with
// the same bits and threads. Each contestant lives in its own process; they take turns measurement by measurement.
// In float32 all must generate the same tokens first, or the comparison ends: so the work is the same. Shapes
// with recurrent layers or experts are GGUF files that all read, and compare float32 with fewer layers and
// tokens. With --model all run one real GGUF file, whose values each keeps; they round activations
// differently, so first differences are reported.
//
//     npm run bench -- peers --help

import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readManifest } from '@ortler/engine/testing';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import type { ContestantOptions } from '../peers/contestant.ts';
import { type ContestantName, ContestantProcess } from '../peers/contestant-process.ts';
import { ggufShape } from '../peers/gguf-shapes.ts';
import { measureMemoryBandwidth } from '../peers/memory-bandwidth.ts';
import {
  isGgufShape,
  type PeerModel,
  type PeerPrecision,
  peerModel,
  SHAPE_NAMES,
  vocabSizeOf,
} from '../peers/peer-models.ts';
import { type DrawPrompt, MEASUREMENTS, type Measurement } from '../peers/workloads.ts';
import { rounded } from '../rounded.ts';

const PEERS = resolve(import.meta.dirname, '../peers');
/** Ids below are bytes. */
const BYTE_COUNT = 256;
const CHECK = { promptLength: 48, outputLength: 24 };

const HELP = `The peers are not installed with the project: npm install --ignore-scripts --prefix bench/peers
llama.cpp's server is compared when --llama-server gives its path.

Options:
  --shape NAME          ${SHAPE_NAMES.join(', ')} (default ${SHAPE_NAMES[0]})
  --model FILE          a GGUF file instead of random weights of a shape; npm run test-models downloads one
  --only LIST           contestants beside ortler: ortler-server,node-llama-cpp,transformers.js,llama-server
  --measure TEXT        measurements whose name contains this; may be given more than once
  --mixed-chunk N       our prompt tokens of a step beside running answers (default: the engine's)
  --no-speculation      ours makes a step for every token: random weights may repeat themselves, which speculation makes use of
  --threads N           threads of a model call (default 2)
  --turns N             turns of each measurement (default 5)
  --max-streams N       most streams at once (default 16)
  --llama-server PATH   program of llama.cpp's server
  --bits 4|8            of our weights; the others have 4 (default 4)
  --cache-bits 8        of the cache of keys and values: ours in int8, llama.cpp's in q8_0; transformers.js has none
  --no-check            leave out the float32 comparison, when it was made before`;

interface Result {
  readonly measurement: string;
  readonly unit: Measurement['unit'];
  /** Medians over the turns. */
  readonly values: Partial<Record<ContestantName, number>>;
  /** How many times better ours is: median over the turns of the ratio within a turn. */
  readonly timesBetter: Partial<Record<ContestantName, number>>;
  /** Roofline: the limit of a program that reads every 4-bit weight once for each pass over the tokens. Unit: `unit`. */
  readonly limit: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      shape: { type: 'string', default: SHAPE_NAMES[0]! },
      model: { type: 'string' },
      only: { type: 'string' },
      measure: { type: 'string', multiple: true, default: [''] },
      'mixed-chunk': { type: 'string' },
      'no-speculation': { type: 'boolean', default: false },
      threads: { type: 'string', default: '2' },
      turns: { type: 'string', default: '5' },
      'max-streams': { type: 'string', default: '16' },
      'llama-server': { type: 'string' },
      bits: { type: 'string', default: '4' },
      'cache-bits': { type: 'string' },
      'no-check': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const shape = SHAPE_NAMES.find(name => name === values.shape);
  if (shape === undefined)
    throw new Error(`--shape is one of ${SHAPE_NAMES.join(', ')}; got "${values.shape}".`);
  const file = values.model === undefined ? undefined : resolve(values.model);
  const readsGguf = file !== undefined || isGgufShape(shape);
  if (readsGguf && values.bits !== '4')
    throw new Error('Ours keeps the bits of a GGUF file: leave out --bits.');
  const chosen = chooseContestants(values.only, values['llama-server']);
  const names = chosen.filter(name => !readsGguf || name !== 'transformers.js');
  if (names.length < chosen.length) console.error('transformers.js reads no GGUF files and is left out.');
  const maxStreams = Number(values['max-streams']);
  if (values.bits !== '4' && values.bits !== '8') throw new Error(`--bits is 4 or 8; got "${values.bits}".`);
  const cacheBits = values['cache-bits'];
  if (cacheBits !== undefined && cacheBits !== '8')
    throw new Error(`--cache-bits is 8 or absent; got "${cacheBits}".`);
  if (cacheBits !== undefined && names.includes('transformers.js'))
    throw new Error('transformers.js has no cache of 8 bits: leave it out with --only.');
  const settings: Settings = {
    model: file === undefined ? shape : { file },
    ...(cacheBits === undefined ? {} : { cacheBits: 8 }),
    ownPrecision: readsGguf ? 'file' : values.bits === '4' ? 'q4' : 'q8',
    names,
    maxStreams,
    threadCount: Number(values.threads),
    turnCount: Number(values.turns),
    measurements: MEASUREMENTS.filter(
      ({ name, streams }) => values.measure.some(text => name.includes(text)) && streams <= maxStreams,
    ),
    ...(values['llama-server'] === undefined ? {} : { program: resolve(values['llama-server']) }),
    own: {
      ...(values['mixed-chunk'] === undefined ? {} : { mixedChunkLength: Number(values['mixed-chunk']) }),
      ...(values['no-speculation'] ? { speculativeDecoding: 'off' as const } : {}),
    },
  };
  const agreements = values['no-check'] ? [] : await checkTokens(settings);
  const bandwidth = await measureMemoryBandwidth(settings.threadCount);
  const weightBytes = await bytesOfWeights(settings);
  const passesPerSecond = (tokenCount: number) => bandwidth / bytesOfPass(settings, weightBytes, tokenCount);
  const { results, contestants } = await compare(settings, passesPerSecond);
  const { threadCount, turnCount, ownPrecision } = settings;
  const bandwidthGBs = Math.round(bandwidth / 1e8) / 10;
  const facts = {
    ...{
      bench: 'peers',
      model: file === undefined ? shape : basename(file),
      agreements,
      ownPrecision,
      cacheBits: settings.cacheBits,
      threadCount,
      turnCount,
    },
    ...{ bandwidthGBs, weightBytes, contestants },
  };
  console.log(JSON.stringify({ ...facts, results, ...describeMachine() }, null, 2));
}

/** Of all experts those that some token is expected to have, where routers choose evenly; the embeddings are not the output matrix there. */
function bytesOfPass({ model }: Settings, weightBytes: number, tokenCount: number): number {
  if (typeof model === 'object' || !isGgufShape(model)) return weightBytes;
  const { expertShare, tensors } = ggufShape(model, false);
  if (expertShare === undefined) return weightBytes;
  const bytesOf = (part: string) =>
    tensors
      .filter(({ name }) => name.includes(part))
      .reduce(
        (sum, { role, shape }) => sum + (role === 'table' ? 34 : 18) * (shape.reduce((a, b) => a * b) / 32),
        0,
      );
  const unread = (1 - expertShare) ** tokenCount;
  return weightBytes - bytesOf('token_embd.weight') - unread * bytesOf('_exps.weight');
}

/** Of ours; the table of embeddings is the output matrix too, where that is tied. */
async function bytesOfWeights({ model, ownPrecision }: Settings): Promise<number> {
  if (typeof model === 'object') return statSync(model.file).size;
  return statSync(join(await peerModel(model, ownPrecision, 'ortler'), 'model.onnx.data')).size;
}

async function vocabSize({ model, ownPrecision }: Settings, precision: PeerPrecision): Promise<number> {
  if (typeof model === 'string') return vocabSizeOf(model, precision);
  return (await readManifest(await peerModel(model, ownPrecision, 'ortler'))).vocabSize;
}

interface Settings {
  readonly model: PeerModel;
  /** Of our engine where the others have q4, or the file. */
  readonly ownPrecision: 'q4' | 'q8' | 'file';
  readonly cacheBits?: 8;
  readonly names: readonly ContestantName[];
  readonly maxStreams: number;
  readonly threadCount: number;
  readonly turnCount: number;
  readonly measurements: readonly Measurement[];
  readonly program?: string;
  /** Settings that only our engine has. */
  readonly own: Pick<ContestantOptions, 'mixedChunkLength' | 'speculativeDecoding'>;
}

function chooseContestants(only: string | undefined, llamaServer: string | undefined): ContestantName[] {
  const peers: ContestantName[] = ['ortler-server', 'node-llama-cpp', 'transformers.js', 'llama-server'];
  const possible = peers.filter(name => {
    if (name === 'ortler-server') return true;
    return name === 'llama-server' ? llamaServer !== undefined : hasPeers();
  });
  const asked = only === '' ? [] : (only?.split(',') ?? possible);
  for (const name of asked) {
    if (!peers.includes(name as ContestantName)) throw new Error(`There is no contestant "${name}".`);
    if (!possible.includes(name as ContestantName)) throw new Error(`${name} is not installed.\n\n${HELP}`);
  }
  return ['ortler', ...(asked as ContestantName[])];
}

function hasPeers(): boolean {
  return existsSync(join(PEERS, 'node_modules'));
}

async function startAll(settings: Settings, precision: 'f32' | 'q4' | 'file'): Promise<ContestantProcess[]> {
  const { model, ownPrecision, cacheBits, names, threadCount, maxStreams, program } = settings;
  const started: ContestantProcess[] = [];
  for (const name of names) {
    const isOwn = (name === 'ortler' || name === 'ortler-server') && precision !== 'f32';
    const cache = isOwn && cacheBits === 8 ? 'int8' : undefined;
    const modelPath = await peerModel(model, isOwn ? ownPrecision : precision, name, cache);
    const cacheOptions = precision !== 'f32' && cacheBits !== undefined ? { cacheBits } : {};
    const options = { modelPath, threadCount, maxStreams, contextLength: 4608, ...cacheOptions };
    const extra = program === undefined ? {} : { program };
    started.push(await ContestantProcess.start(name, { ...options, ...extra, ...settings.own }));
  }
  return started;
}

/** How far a contestant's greedy tokens are ours. */
interface Agreement {
  readonly name: ContestantName;
  readonly tokenCount: number;
  /** Of the first token that differs; absent where all are equal. */
  readonly firstDifference?: number;
}

/**
 * Greedy tokens of all contestants. Throws: when one generates other tokens than ours in float32, or in a file another first token.
 */
async function checkTokens(settings: Settings): Promise<readonly Agreement[]> {
  const precision = typeof settings.model === 'object' ? 'file' : 'f32';
  console.error(`comparing the greedy tokens of all contestants (${precision}) ...`);
  const contestants = await startAll({ ...settings, maxStreams: 1 }, precision);
  const draw = promptDrawer(await vocabSize(settings, precision));
  const work = { prompts: [draw(CHECK.promptLength)], outputLength: CHECK.outputLength };
  const expected = wholeCharacters((await contestants[0]!.run(work)).tokenIds[0]!);
  const agreements: Agreement[] = [];
  for (const contestant of contestants.slice(1)) {
    const { name } = contestant;
    const tokens = wholeCharacters((await contestant.run(work)).tokenIds[0]!);
    const position = expected.findIndex((token, at) => token !== tokens[at]);
    if (position !== -1 && (precision === 'f32' || position === 0))
      throw new Error(`With ${precision} ${name} generates ${tokens}; ours generates ${expected}.`);
    const difference = position === -1 ? {} : { firstDifference: position };
    agreements.push({ name, tokenCount: expected.length, ...difference });
    console.error(
      position === -1
        ? `${name}: all ${expected.length} tokens are equal.`
        : `${name}: differs first at token ${position} of ${expected.length}.`,
    );
  }
  for (const contestant of contestants) contestant.close();
  return agreements;
}

/** Without bytes: llama.cpp's server does not report a token that is a part of a character only. */
function wholeCharacters(tokens: readonly number[]): readonly number[] {
  return tokens.filter(token => token >= BYTE_COUNT);
}

async function compare(settings: Settings, passesPerSecond: (tokenCount: number) => number) {
  const contestants = await startAll(settings, typeof settings.model === 'object' ? 'file' : 'q4');
  const draw = promptDrawer(await vocabSize(settings, settings.ownPrecision));
  const results: Result[] = [];
  console.error(tableHead(settings.names));
  for (const measurement of settings.measurements) {
    const turns = new Map<ContestantName, number[]>(settings.names.map(name => [name, []]));
    // The first turn only warms up.
    for (let turn = -1; turn < settings.turnCount; turn++) {
      for (const contestant of contestants) {
        if (measurement.before !== undefined) await contestant.run(measurement.before(draw));
        const work = measurement.work(draw);
        const timing = await contestant.run(work);
        checkComplete(contestant.name, timing.tokenIds, work.outputLength);
        if (turn >= 0) turns.get(contestant.name)!.push(measurement.evaluate(timing, work));
      }
    }
    const result = toResult(measurement, turns, passesPerSecond);
    results.push(result);
    console.error(tableRow(result, settings.names));
  }
  const described = [];
  for (const contestant of contestants) {
    const usage = await contestant.usage();
    const memoryMiB = Math.round(usage.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / 2 ** 20);
    described.push({ name: contestant.name, version: contestant.version, memoryMiB });
    contestant.close();
  }
  return { results, contestants: described };
}

function checkComplete(name: string, tokenIds: readonly (readonly number[])[], length: number): void {
  const short = tokenIds.find(tokens => tokens.length !== length);
  if (short !== undefined) throw new Error(`${name} gave ${short.length} tokens instead of ${length}.`);
}

function toResult(
  { name, unit, isHigherBetter, tokensPerPass }: Measurement,
  turns: ReadonlyMap<ContestantName, readonly number[]>,
  passesPerSecond: (tokenCount: number) => number,
): Result {
  const values: Partial<Record<ContestantName, number>> = {};
  const timesBetter: Partial<Record<ContestantName, number>> = {};
  const ours = turns.get('ortler')!;
  for (const [contestant, theirs] of turns) {
    values[contestant] = rounded(median(theirs));
    if (contestant === 'ortler') continue;
    const ratios = ours.map((value, turn) =>
      isHigherBetter ? value / theirs[turn]! : theirs[turn]! / value,
    );
    timesBetter[contestant] = rounded(median(ratios));
  }
  const passes = passesPerSecond(tokensPerPass);
  const limit = unit === 'ms' ? 1000 / passes : passes * tokensPerPass;
  return { measurement: name, unit, values, timesBetter, limit: rounded(limit) };
}

/** Deterministic prompts: every call gives other tokens than all calls before. */
function promptDrawer(vocabSize: number): DrawPrompt {
  let state = 1;
  return length =>
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      // The first ids are bytes and the end of a sequence.
      return BYTE_COUNT + ((state >>> 8) % (vocabSize - BYTE_COUNT));
    });
}

function tableHead(names: readonly ContestantName[]): string {
  const peers = names.slice(1).map(name => `times ${name}`);
  const head = ['measurement', 'unit', ...names, ...peers, 'limit of memory'];
  return `${tableLine(head)}\n${tableLine(head.map(() => '---'))}`;
}

function tableRow(
  { measurement, unit, values, timesBetter, limit }: Result,
  names: readonly ContestantName[],
): string {
  const peers = names.slice(1).map(name => timesBetter[name] ?? '');
  return tableLine([measurement, unit, ...names.map(name => values[name] ?? ''), ...peers, limit]);
}

function tableLine(cells: readonly unknown[]): string {
  return `| ${cells.join(' | ')} |`;
}

await main();
