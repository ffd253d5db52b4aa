// Models of common shapes with random weights on a GPU: checked against the CPU, then decode at several numbers of
// streams, prefill, and what share of the memory's speed that is; beside another engine where one is named.
//
//     npm run bench -- gpu --help

import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseDevice, selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { rounded } from '../rounded.ts';
import { bandwidthShare } from './bandwidth-share.ts';
import { checkedPrompt } from './check-device.ts';
import { comparePeer, type PeerReference } from './compare-peer.ts';
import { measureDeviceBandwidth } from './device-bandwidth.ts';
import { measureDeviceCompute } from './device-compute.ts';
import { GPU_HELP, type GpuSettings, readGpuSettings } from './gpu-settings.ts';
import type { GpuShape } from './gpu-shapes.ts';
import { runLlamaBench } from './llama-bench-peer.ts';
import { DECODE_PROMPT_LENGTH } from './measure-device.ts';
import { type ModelResult, measureModel, PREFILL_ROUNDS } from './measure-model.ts';
import { type PeerReport, type PythonPeer, runPythonPeer } from './python-peer.ts';
import { type DeviceLimits, type ShapeRows, type SpeedRow, speedTable } from './speed-table.ts';

const HISTORY = new URL('../history/gpu.md', import.meta.url);

type MeasuredPeer = PeerReport & { readonly weightBytes: number };

interface ShapeResult {
  readonly shape: GpuShape;
  readonly models: readonly ModelResult[];
  readonly peers: readonly MeasuredPeer[];
  readonly llama: SpeedRow | undefined;
}

async function main(): Promise<void> {
  const settings = readGpuSettings();
  if (settings === undefined) {
    console.log(GPU_HELP);
    return;
  }
  const { shapes, precisions, peer, vllm, output, writesHistory, ...shown } = settings;
  const { facts } = await chooseDevice(settings.device);
  const folder = settings.folder ?? (await mkdtemp(join(tmpdir(), 'ortler-bench-gpu-')));
  try {
    const results: ShapeResult[] = [];
    for (const shape of shapes) results.push(await measureShape(folder, shape, settings));
    // Last, in this process: a process that has used a device must not start another use of it beside a model's.
    const { backend } = await selectBackend('native');
    const bytesPerSecond = await measureDeviceBandwidth(backend, settings.device);
    const operationsPerSecond = await measureDeviceCompute(backend, settings.device);
    const limits = { bytesPerSecond, operationsPerSecond };
    const shownResults = results.map(result => addLimits(result, bytesPerSecond));
    const machine = describeMachine();
    const name = `${settings.device}: ${facts?.name ?? 'a device without a name'}`;
    const text = `${describeLimits(name, backend.version, limits)}\n\n${speedTable(results.map(toRows), limits)}`;
    if (output === 'table') console.log(text);
    else {
      const report = { bench: 'gpu', ...shown, device: facts, onnxRuntime: backend.version, ...limits };
      console.log(JSON.stringify({ ...report, shapes: shownResults, ...machine }, null, 2));
    }
    if (writesHistory)
      await appendFile(HISTORY, `\n## ${machine.date.slice(0, 10)}, ${machine.commit}\n\n${text}`);
  } finally {
    if (settings.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function measureShape(folder: string, shape: GpuShape, settings: GpuSettings): Promise<ShapeResult> {
  const models: ModelResult[] = [];
  for (const precision of settings.precisions)
    models.push(await measureModel(folder, shape, precision, settings));
  const { peer, vllm, peerCompiles: compiles, llamaBench, streams, tokenCount, prefillCounts } = settings;
  const sourceDir = join(folder, shape.name);
  if (llamaBench !== undefined) console.error(`measuring ${shape.name} through llama.cpp ...`);
  const llama =
    llamaBench &&
    (await runLlamaBench({
      ...{ program: llamaBench, sourceDir, tokenCount, prefillCounts },
      file: join(folder, `${shape.name}.gguf`),
    }));
  const pythons: Readonly<Record<PythonPeer, string | undefined>> = { transformers: peer, vllm };
  const peers: MeasuredPeer[] = [];
  for (const [name, python] of Object.entries(pythons) as [PythonPeer, string | undefined][]) {
    if (python === undefined) continue;
    console.error(`measuring ${shape.name} through ${name} ...`);
    const report = await runPythonPeer(name, python, {
      ...{ compiles, streams, tokenCount, prefillCounts },
      folder: sourceDir,
      promptLength: DECODE_PROMPT_LENGTH,
      rounds: PREFILL_ROUNDS,
      checkedPrompt: checkedPrompt(Number(shape.config.vocab_size)),
    });
    // The settings ask for float16 wherever there is a peer.
    const { weightBytes } = models.find(({ precision }) => precision === 'f16')!;
    peers.push({ weightBytes, ...report });
  }
  return { shape, models, peers, llama: llama || undefined };
}

/** What the shares of the table are of. */
function describeLimits(name: string, version: string, limits: DeviceLimits): string {
  const { bytesPerSecond, operationsPerSecond } = limits;
  const memory = `${(bytesPerSecond / 1e9).toFixed(1)} GB/s of memory`;
  const products = `${(operationsPerSecond / 1e12).toPrecision(3)} TFLOPS in float16 products`;
  return `${name}, ONNX Runtime ${version}. Measured limits: ${memory}, ${products}. Tokens per second, with the share of the limit.`;
}

function toRows({ shape, models, peers, llama }: ShapeResult): ShapeRows {
  const ours = models.map(model => ({ engine: 'Ortler', ...model }));
  const theirs = peers.map(({ engine, isCompiled = false, weightBytes, decode, prefill }) => ({
    engine: `${engine}${isCompiled ? ', compiled' : ''}`,
    precision: 'f16',
    weightBytes,
    decode: decode.flatMap(entry => ('error' in entry ? [] : [entry])),
    prefill,
  }));
  return {
    shape: shape.name,
    parameterCount: models[0]!.parameterCount,
    rows: [...ours, ...theirs, llama].filter(row => row !== undefined),
  };
}

function addLimits({ shape, models, peers, llama }: ShapeResult, bytesPerSecond: number): object {
  const reference: PeerReference | undefined = models.find(({ precision }) => precision === 'f16')?.reference;
  return {
    shape: shape.name,
    models: models.map(({ reference: _, ...model }) => ({
      ...model,
      decode: model.decode.map(entry => ({
        streamCount: entry.streamCount,
        tokensPerSecond: rounded(entry.tokensPerSecond),
        shareOfBandwidth: bandwidthShare(entry, model.weightBytes, bytesPerSecond),
      })),
      prefill: model.prefill.map(entry => ({ ...entry, tokensPerSecond: rounded(entry.tokensPerSecond) })),
    })),
    ...(llama !== undefined && { llama }),
    ...(peers.length > 0 && { peers: peers.map(peer => comparePeer(peer, reference!, bytesPerSecond)) }),
  };
}

await main();
