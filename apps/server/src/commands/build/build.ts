// `ortler build <model>`: builds a Hugging Face folder, a GGUF file or a model of the Hub, optionally with a LoRA adapter, into an
// ONNX model folder.

import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { chooseVariants, MANIFEST_FILE, type Precision } from '@ortler/engine/graph-contract';
import { type GraphChoice, parseModelSource } from '@ortler/hub';
import {
  buildModel,
  checkAdapter,
  explainLongRope,
  explainLoss,
  explainPrecision,
  type FileTypes,
  ModelBuildError,
  settleVariant,
  type WrittenMatrix,
} from '@ortler/model-builder';
import { probeKernels } from '@ortler/onnxruntime';
import type { Config } from '../../config/config.ts';
import { formatModelSource } from '../../config/model-list.ts';
import { toKvType } from '../../models/build-options.ts';
import { createBuildBars } from '../build-bars.ts';
import { fetchSource, type HubConfig, toGivenSource } from '../fetch-source.ts';
import { describePrecision, describeVariant } from '../startup-report.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';
import { measurePerplexity, readReportText, reportMatrices } from './build-report.ts';

export interface BuildArguments {
  /** A path, or a name of the Hub. */
  readonly model: string;
  /** Folder or name of a LoRA adapter to merge into the weights. */
  readonly adapter: string | undefined;
  /** Default: in the current folder, named after folder or file, adapter, device, precision and an int8 KV cache. */
  readonly output: string | undefined;
  readonly precision: 'auto' | Precision;
  readonly kvCache: Config['kvCache'];
  /** Longest context that the build is for. Unit: tokens. Default: that of the model. */
  readonly contextLength: number | undefined;
  readonly device: 'cpu' | 'gpu';
  /** Measure what the build lost; the text for the perplexity defaults to that of the package. */
  readonly report: { readonly textFile: string | undefined } | undefined;
  readonly hub: HubConfig;
}

/** Builds the model. Ctrl-C removes the partial build. Throws: `UserError` with the fault of the folder. */
export async function build(
  { model, adapter, output, precision, kvCache, contextLength, device, report, hub }: BuildArguments,
  terminal: Terminal,
): Promise<void> {
  const source = toGivenSource(model);
  // All that can be wrong besides the model comes before it, because its download may take an hour.
  if (report !== undefined && device !== 'cpu')
    throw new UserError('--report measures builds for the CPU; leave out --device gpu.');
  const text = report === undefined ? undefined : await readReportText(report.textFile);
  if (output !== undefined && existsSync(output))
    throw new UserError(
      `${resolve(output)} exists already; a build makes its output folder and never overwrites one.`,
    );
  const bars = createBuildBars(terminal);
  const adapterSource = adapter === undefined ? undefined : formatModelSource(parseModelSource(adapter));
  const adapterDir =
    adapterSource === undefined ? undefined : await fetchSource(adapterSource, hub, { terminal, bars });
  if (adapterDir !== undefined && !(await stat(adapterDir).catch(() => undefined))?.isDirectory())
    throw new UserError(
      `${adapter} is not a folder. Give one with adapter_config.json and adapter_model.safetensors; adapters in GGUF are not read.`,
    );
  if (adapterDir !== undefined) await checkAdapter(adapterDir).catch(throwForUser);
  const sourceDir = await fetchSource(source, hub, { terminal, bars, chooseGraph: refuseGraphs });
  if ((await stat(sourceDir).catch(() => undefined)) === undefined)
    throw new UserError(
      `${model} does not exist. Give a folder with config.json, tokenizer.json and *.safetensors, or a GGUF file.`,
    );
  if (existsSync(join(sourceDir, MANIFEST_FILE)))
    throw new UserError(
      `${model} is built already: serve it, or build the checkpoint that it was made from.`,
    );
  const variants = chooseVariants({ device, isOptional: false }, await probeKernels());
  const { variant, reason: variantReason } = await settleVariant(sourceDir, variants, contextLength);
  const choice = await explainPrecision(precision, sourceDir, variant, adapterDir);
  const chosen = choice.precision;
  const name = [source, adapterSource]
    .filter(path => path !== undefined)
    .map(nameOf)
    .join('-');
  const kind = [device === 'gpu' ? device : '', chosen, kvCache === 'int8' ? 'kv8' : ''];
  const outputDir = resolve(output ?? [name, ...kind].filter(part => part !== '').join('-'));
  const interrupted = new AbortController();
  const onSignal = () => interrupted.abort(new UserError('The build was stopped; nothing was written.'));
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  const matrices: WrittenMatrix[] = [];
  try {
    const manifest = await buildModel({
      sourceDir,
      adapterDir,
      outputDir,
      variant,
      precision: chosen,
      kvType: toKvType(kvCache),
      contextLength,
      onProgress: progress => bars.update(name, progress),
      ...(text === undefined ? {} : { onMatrix: matrix => matrices.push(matrix) }),
      signal: interrupted.signal,
    });
    bars.end(name);
    const size = `${(manifest.parameterCount / 1e6).toFixed(1)} M parameters`;
    terminal.out(
      `Built ${outputDir}\n${manifest.modelType}, ${size}, ${manifest.precision}, ${manifest.kvType} cache\n`,
    );
    if (variantReason !== undefined) terminal.out(`${describeVariant(variant, variantReason)}\n`);
    const { reason } = choice;
    if (reason !== undefined) terminal.out(`${describePrecision({ precision: chosen, reason })}\n`);
    else if (manifest.fileTypes !== undefined) terminal.out(describeFileTypes(manifest.fileTypes));
    for (const note of [await explainLoss(outputDir), await explainLongRope(outputDir)])
      if (note !== undefined) terminal.out(`Note: ${note}\n`);
    if (text === undefined) return;
    terminal.out(await reportMatrices(matrices, outputDir));
    terminal.out(await measurePerplexity(outputDir, manifest, text));
  } catch (error) {
    throwForUser(error);
  } finally {
    bars.end(name);
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

function throwForUser(error: unknown): never {
  if (error instanceof ModelBuildError) throw new UserError(error.message, { cause: error });
  throw error;
}

/** Before anything is downloaded. */
function refuseGraphs(): Promise<GraphChoice> {
  const fault = 'has ONNX graphs only, which need no build: `ortler serve` and `ortler chat` take its name';
  return Promise.resolve({ kind: 'refused', fault });
}

function describeFileTypes({ kept, rounded }: FileTypes): string {
  const parts = [
    ...(kept.length === 0 ? [] : [`values in ${kept.join(', ')} are kept exactly`]),
    ...(rounded.length === 0 ? [] : [`values in ${rounded.join(', ')} are rounded`]),
  ];
  return `Of the file, ${parts.join('; ')}.\n`;
}

/** The last part of a path or name: `Qwen3-0.6B` of `Qwen/Qwen3-0.6B`, `model-Q8_0` of `org/model:Q8_0`; of a file without its extension. */
function nameOf(source: string): string {
  return basename(source)
    .replace(/(-\d{5}-of-\d{5})?\.gguf$/i, '')
    .replaceAll(/[@:]/g, '-');
}
