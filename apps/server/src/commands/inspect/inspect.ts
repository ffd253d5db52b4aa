// `ortler inspect`: what a model is and what it would take, from its configuration and headers. Of a model of the Hub nothing else is
// downloaded, and nothing is kept.

import { chooseVariants } from '@ortler/engine/graph-contract';
import {
  describeModel,
  estimateMemory,
  explainCacheFault,
  explainPrecision,
  explainPrecisionFault,
  settleVariant,
} from '@ortler/model-builder';
import { chooseDevice, type DeviceChoice, probeKernels } from '@ortler/onnxruntime';
import type { Config } from '../../config/config.ts';
import { toKvType } from '../../models/build-options.ts';
import { isOperatorError } from '../../models/is-operator-error.ts';
import { toGivenSource } from '../fetch-source.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';
import type { Inspection } from './inspection.ts';
import { type OpenedModel, openModel } from './open-model.ts';
import { showInspection } from './show-inspection.ts';

export interface InspectArguments {
  /** A path, or a name of the Hub. */
  readonly model: string;
  /**
   * Context for which memory is estimated. Default: 4,096 tokens, or the model's own length if that is
   * shorter.
   */
  readonly contextLength: number | undefined;
  readonly json: boolean;
}

const DEFAULT_CONTEXT_LENGTH = 4_096;

/** Writes to standard output. Throws: `UserError`. */
export async function inspect(
  { model, contextLength, json }: InspectArguments,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const source = toGivenSource(model);
  const refuse = (error: unknown, explain = (message: string) => message): never => {
    if (isOperatorError(error)) throw new UserError(explain(error.message), { cause: error });
    throw error;
  };
  const device = await chooseDevice(config.device).catch(refuse);
  const onNotice = (message: string) => terminal.err(`  ${source}: ${message}\n`);
  const opened = await openModel(source, config, device, onNotice).catch(refuse);
  try {
    const inspection = await inspectOpened(opened, { source, contextLength, config, device });
    terminal.out(json ? toJson(inspection) : showInspection(inspection));
  } catch (error) {
    refuse(error, opened.explain);
  } finally {
    await opened.close();
  }
}

interface InspectOptions extends Pick<InspectArguments, 'contextLength'> {
  readonly source: string;
  readonly config: Config;
  readonly device: DeviceChoice;
}

/** Throws: `UserError`, `ModelBuildError`. */
async function inspectOpened(
  opened: OpenedModel,
  { source, contextLength: wanted, config, device }: InspectOptions,
): Promise<Inspection> {
  const target = { device: device.device, isOptional: config.device === 'auto' };
  const variants = chooseVariants(target, await probeKernels());
  const { variant, reason: variantReason, fault: noVariant } = await settleVariant(opened.path, variants);
  const described = await describeModel(opened.path, { variant, emptyFiles: opened.emptyFiles });
  const kvType = toKvType(config.kvCache);
  const needsBuild = described.layout === 'safetensors' || described.layout === 'gguf';
  const noCache = needsBuild ? await explainCacheFault(opened.path, variant, kvType) : undefined;
  const noPrecision =
    needsBuild && config.precision !== 'auto' ? explainPrecisionFault(variant, config.precision) : undefined;
  const fault =
    described.fault ??
    (noVariant && `the device cannot compute it: ${noVariant}`) ??
    (noPrecision && `it has no such precision on the device: ${noPrecision}`) ??
    (noCache && `it has no such KV cache on the device: ${noCache}`);
  const model = { ...described, fault: fault === undefined ? undefined : opened.explain(fault) };
  const longest = model.contextLength ?? Number.POSITIVE_INFINITY;
  if (wanted !== undefined && wanted > longest)
    throw new UserError(`--context is ${wanted}; ${source} has a context of ${longest} tokens.`);
  const contextLength = wanted ?? Math.min(DEFAULT_CONTEXT_LENGTH, longest);
  const precision =
    fault === undefined && model.layout !== 'built'
      ? await explainPrecision(config.precision, opened.path, variant)
      : undefined;
  const memory = estimateMemory(model, { variant, kvType, contextLength });
  return {
    source,
    model,
    download: opened.download,
    device,
    variant,
    variantReason,
    precision,
    contextLength,
    memory,
  };
}

/** The tensors of a model one by one are thousands of lines. */
function toJson({ model: { tensors: _, ...model }, ...inspection }: Inspection): string {
  return `${JSON.stringify({ ...inspection, model }, null, 2)}\n`;
}
