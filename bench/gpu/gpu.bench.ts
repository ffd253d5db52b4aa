// Models of common shapes with random weights on a GPU: checked against the processor, then decode at several numbers of
// streams, prefill, and what share of the memory's speed that is.
//
//     npm run bench -- gpu --help

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseDevice, type Engine } from '@ortler/engine';
import { selectBackend } from '@ortler/engine/testing';
import { describeMachine } from '../describe-machine.ts';
import { readCount } from '../read-count.ts';
import { rounded } from '../rounded.ts';
import { checkDevice } from './check-device.ts';
import { measureDeviceBandwidth } from './device-bandwidth.ts';
import { buildForDevice, buildForProcessor, type GpuPrecision, startEngine } from './gpu-model.ts';
import { GPU_SHAPES, type GpuShape } from './gpu-shapes.ts';
import { measureDecode, measurePrefill } from './measure-device.ts';

const HELP = `Options:
  --device NAME       webgpu or cuda (default webgpu)
  --shapes LIST       of ${GPU_SHAPES.map(({ name }) => name).join(', ')} (default 0.5b,1.5b,8b)
  --precisions LIST   of f16, q8, q4 (default q4,f16)
  --streams LIST      streams that decode together (default 1,8,32,64)
  --tokens N          tokens of each stream (default 128)
  --prefill N         tokens of the prompt that is timed (default 1024)
  --folder FOLDER     where models are built and kept; default: a folder that is removed at the end`;

const PREFILL_ROUNDS = 5;
/** Larger shapes are checked by the tiny one: the processor would take minutes for them. */
const LARGEST_CHECKED_BYTES = 4 * 2 ** 30;

interface Settings {
  readonly device: 'webgpu' | 'cuda';
  readonly streams: readonly number[];
  readonly tokenCount: number;
  readonly prefillCount: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      device: { type: 'string', default: 'webgpu' },
      shapes: { type: 'string', default: '0.5b,1.5b,8b' },
      precisions: { type: 'string', default: 'q4,f16' },
      streams: { type: 'string', default: '1,8,32,64' },
      tokens: { type: 'string', default: '128' },
      prefill: { type: 'string', default: '1024' },
      folder: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const settings: Settings = {
    device: oneOf('device', values.device, ['webgpu', 'cuda']),
    streams: values.streams.split(',').map(text => readCount('streams', text)),
    tokenCount: readCount('tokens', values.tokens),
    prefillCount: readCount('prefill', values.prefill),
  };
  const names = GPU_SHAPES.map(({ name }) => name);
  const shapes = values.shapes.split(',').map(name => shapeOf(oneOf('shapes', name, names)));
  const precisions = values.precisions.split(',').map(name => oneOf('precisions', name, ['f16', 'q8', 'q4']));
  const { facts } = await chooseDevice(settings.device);
  const folder = values.folder ?? (await mkdtemp(join(tmpdir(), 'ortler-bench-gpu-')));
  try {
    const results: object[] = [];
    for (const shape of shapes)
      for (const precision of precisions)
        results.push(await measureModel(folder, shape, precision, settings));
    // Last, in this process: a process that has used a device must not start another use of it beside a model's.
    const { backend } = await selectBackend('native');
    const bytesPerSecond = await measureDeviceBandwidth(backend, settings.device);
    const report = { bench: 'gpu', ...settings, device: facts, onnxRuntime: backend.version, bytesPerSecond };
    const withLimits = results.map(result => addLimits(result as ModelResult, bytesPerSecond));
    console.log(JSON.stringify({ ...report, models: withLimits, ...describeMachine() }, null, 2));
  } finally {
    if (values.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}

type ModelResult = Awaited<ReturnType<typeof measureModel>>;

async function measureModel(folder: string, shape: GpuShape, precision: GpuPrecision, settings: Settings) {
  const { device, streams, tokenCount, prefillCount } = settings;
  const { deviceDir, weightBytes } = await buildForDevice(folder, shape, precision);
  const engine = await startEngine(deviceDir, device, Math.max(...streams));
  try {
    const isChecked = weightBytes <= LARGEST_CHECKED_BYTES;
    const check = isChecked
      ? await compare(folder, shape, precision, engine)
      : await checkTiny(folder, precision, device);
    console.error(`measuring ${shape.name} in ${precision} ...`);
    // Shaders are compiled by the first calls of each size.
    await measureDecode(engine, Math.max(...streams), 4);
    await measurePrefill(engine, prefillCount, 1);
    const decode = [];
    for (const count of streams) decode.push(await measureDecode(engine, count, tokenCount));
    const prefill = await measurePrefill(engine, prefillCount, PREFILL_ROUNDS);
    return {
      shape: shape.name,
      precision,
      weightBytes,
      checkedShape: isChecked ? shape.name : 'tiny',
      check,
      decode,
      prefill,
    };
  } finally {
    await engine.close();
  }
}

async function compare(folder: string, shape: GpuShape, precision: GpuPrecision, engine: Engine) {
  const processor = await startEngine(await buildForProcessor(folder, shape, precision), 'cpu', 1);
  try {
    return await checkDevice(engine, processor);
  } finally {
    await processor.close();
  }
}

async function checkTiny(folder: string, precision: GpuPrecision, device: Settings['device']) {
  const tiny = shapeOf('tiny');
  const { deviceDir } = await buildForDevice(folder, tiny, precision);
  const engine = await startEngine(deviceDir, device, 1);
  try {
    return await compare(folder, tiny, precision, engine);
  } finally {
    await engine.close();
  }
}

/** A step of all streams reads every weight once, so one stream's speed times the weights is what memory gave. */
function addLimits(result: ModelResult, bytesPerSecond: number): object {
  const decode = result.decode.map(({ streamCount, tokensPerSecond }) => {
    const share = ((tokensPerSecond / streamCount) * result.weightBytes) / bytesPerSecond;
    return { streamCount, tokensPerSecond: rounded(tokensPerSecond), shareOfBandwidth: rounded(share) };
  });
  return {
    ...result,
    decode,
    prefill: { ...result.prefill, tokensPerSecond: rounded(result.prefill.tokensPerSecond) },
  };
}

function shapeOf(name: string): GpuShape {
  return GPU_SHAPES.find(shape => shape.name === name)!;
}

function oneOf<const Name extends string>(option: string, text: string, names: readonly Name[]): Name {
  const found = names.find(name => name === text);
  if (found === undefined) throw new Error(`--${option} takes ${names.join(', ')}; got "${text}".`);
  return found;
}

await main();
