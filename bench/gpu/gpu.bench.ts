// Models of common shapes with random weights on a GPU: checked against the CPU, then decode at several numbers of
// streams, prefill, and what share of the memory's speed that is; beside another engine where one is named.
//
//     npm run bench -- gpu --help

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseDevice, selectBackend } from '@ortler/onnxruntime';
import { describeMachine } from '../describe-machine.ts';
import { rounded } from '../rounded.ts';
import { bandwidthShare } from './bandwidth-share.ts';
import { checkedPrompt } from './check-device.ts';
import { comparePeer, type PeerReference } from './compare-peer.ts';
import { measureDeviceBandwidth } from './device-bandwidth.ts';
import { GPU_HELP, type GpuSettings, readGpuSettings } from './gpu-settings.ts';
import type { GpuShape } from './gpu-shapes.ts';
import { DECODE_PROMPT_LENGTH } from './measure-device.ts';
import { type ModelResult, measureModel, PREFILL_ROUNDS } from './measure-model.ts';
import { type PeerReport, runTransformersPeer } from './transformers-peer.ts';

interface ShapeResult {
  readonly shape: GpuShape;
  readonly models: readonly ModelResult[];
  readonly peer: PeerReport | undefined;
}

async function main(): Promise<void> {
  const settings = readGpuSettings();
  if (settings === undefined) {
    console.log(GPU_HELP);
    return;
  }
  const { shapes, precisions, peer: python, ...shown } = settings;
  const { facts } = await chooseDevice(settings.device);
  const folder = settings.folder ?? (await mkdtemp(join(tmpdir(), 'ortler-bench-gpu-')));
  try {
    const results: ShapeResult[] = [];
    for (const shape of shapes) results.push(await measureShape(folder, shape, settings));
    // Last, in this process: a process that has used a device must not start another use of it beside a model's.
    const { backend } = await selectBackend('native');
    const bytesPerSecond = await measureDeviceBandwidth(backend, settings.device);
    const report = { bench: 'gpu', ...shown, device: facts, onnxRuntime: backend.version, bytesPerSecond };
    const shownResults = results.map(result => addLimits(result, bytesPerSecond));
    console.log(JSON.stringify({ ...report, shapes: shownResults, ...describeMachine() }, null, 2));
  } finally {
    if (settings.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function measureShape(folder: string, shape: GpuShape, settings: GpuSettings): Promise<ShapeResult> {
  const models: ModelResult[] = [];
  for (const precision of settings.precisions)
    models.push(await measureModel(folder, shape, precision, settings));
  const { peer: python, peerCompiles: compiles, streams, tokenCount, prefillCount } = settings;
  if (python === undefined) return { shape, models, peer: undefined };
  console.error(`measuring ${shape.name} through transformers ...`);
  const peer = await runTransformersPeer(python, {
    ...{ compiles, streams, tokenCount, prefillCount },
    folder: join(folder, shape.name),
    promptLength: DECODE_PROMPT_LENGTH,
    rounds: PREFILL_ROUNDS,
    checkedPrompt: checkedPrompt(Number(shape.config.vocab_size)),
  });
  return { shape, models, peer };
}

function addLimits({ shape, models, peer }: ShapeResult, bytesPerSecond: number): object {
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
      prefill: { ...model.prefill, tokensPerSecond: rounded(model.prefill.tokensPerSecond) },
    })),
    // The settings ask for float16 wherever there is a peer.
    ...(peer !== undefined && { peer: comparePeer(peer, reference!, bytesPerSecond) }),
  };
}

await main();
