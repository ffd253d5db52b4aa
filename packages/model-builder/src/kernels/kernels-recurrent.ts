// Recurrent layers by the operators of the CPU kernels: short convolutions, gated delta networks and Mamba-2.

import { pastStateName, presentStateName, SLOTS_INPUT } from '@ortler/engine/graph-contract';
import { KERNELS_DOMAIN } from '@ortler/kernels';
import { float, int } from '@ortler/onnx';
import { weightName } from '../blocks/block-context.ts';
import { DYNAMIC_DIMS } from '../blocks/variant.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import {
  convolvedSize,
  type DecoderConfig,
  type GatedDeltaNet,
  type Mamba2,
  type RecurrentConfig,
  stateShapes,
} from '../hugging-face/decoder-config.ts';
import type { RecurrentMatrix } from '../hugging-face/layer-matrices.ts';
import { declareFloats } from '../weights/declare-weights.ts';
import { layerMatrices } from './decoder-matrices.ts';
import { biases, type KernelsContext, multiply, type NormedInput, tiles } from './kernels-context.ts';

/** Declares the inputs of all recurrent layers. Call it once, before the first layer. */
export function declareStates({ graph, config }: Pick<KernelsContext, 'graph' | 'config'>): void {
  if (!hasRecurrentLayers(config)) return;
  const { batch, length } = DYNAMIC_DIMS;
  graph.input(SLOTS_INPUT.stateReads, 'int32', [batch]);
  graph.input(SLOTS_INPUT.stateWrites, 'int32', [batch, length]);
}

export function hasRecurrentLayers({ layers }: Pick<DecoderConfig, 'layers'>): boolean {
  return layers.some(({ recurrent }) => recurrent !== undefined);
}

/**
 * ```
 *   short convolution   norm, B C x      Product                        [batch, length, 3 * hidden]
 *                       C * conv(B * x)  CausalConvolution <- states    [batch, length, hidden]
 *
 *   gated delta net     norm, q k v, z   Product                        [batch, length, convolved + values]
 *                       norm, b, a       Product                        [batch, length, 2 * heads of values]
 *                       silu(conv(qkv))  CausalConvolution <- states    [batch, length, convolved]
 *                       delta rule, norm, gate
 *                                        GatedDeltaNet <- states        [batch, length, values]
 *
 *   Mamba-2             norm, x B C, z   Product                        [batch, length, convolved + values]
 *                       norm, dt         Product                        [batch, length, heads]
 *                       silu(conv(xBC))  CausalConvolution <- states    [batch, length, convolved]
 *                       scan, gate, norm Mamba2 <- states               [batch, length, values]
 * ```
 */
export function recurrence(context: KernelsContext, layer: number, input: NormedInput): string {
  const own = context.config.layers[layer]!.recurrent!;
  const path = `/model/layers.${layer}/recurrent`;
  if (own.kind === 'short-convolution') {
    const projected = project(context, layer, { path: `${path}/in_proj`, input, roles: ['recurrentInput'] });
    return convolution(context, layer, own, projected);
  }
  const roles = ['recurrentInput', 'recurrentGate'] as const;
  const projected = project(context, layer, { path: `${path}/in_proj`, input, roles });
  if (own.kind === 'mamba-2') {
    const dt = project(context, layer, { path: `${path}/dt_proj`, input, roles: ['recurrentDecay'] });
    const xbc = convolution(context, layer, own, projected);
    return selectiveScan(context, layer, own, { xbc, dt, projected });
  }
  const gates = project(context, layer, {
    path: `${path}/ba_proj`,
    input,
    roles: ['recurrentBeta', 'recurrentDecay'],
  });
  const qkv = convolution(context, layer, own, projected);
  return deltaRule(context, layer, own, { qkv, gates, projected });
}

function project(
  context: KernelsContext,
  layer: number,
  {
    path,
    input,
    roles,
  }: { readonly path: string; readonly input: NormedInput; readonly roles: readonly RecurrentMatrix[] },
): string {
  const matrices = layerMatrices(context.config, layer);
  return multiply(context, path, {
    ...input,
    matrices: roles.map(role => tiles(context, matrices[role]!)),
    bias: biases(context, path, layer, roles),
  });
}

/** Convolution of the first columns of `input`. */
function convolution(context: KernelsContext, layer: number, own: RecurrentConfig, input: string): string {
  const { graph, config, weights } = context;
  const path = `/model/layers.${layer}/recurrent/conv`;
  const { weight, bias } = weights.recurrentVectors(layer).convolution();
  const isShort = own.kind === 'short-convolution';
  const declare = declareVectors(graph, path);
  return withState(context, layer, 0, {
    node: `${path}/CausalConvolution`,
    operator: 'CausalConvolution',
    input,
    others: [declare('weight', weight), ...(bias === undefined ? [] : [declare('bias', bias)])],
    attributes: {
      channels: int(convolvedSize(own, config.hiddenSize)),
      kernel: int(own.kernel),
      ...(isShort ? { gated: int(1) } : { activation: int(1) }),
    },
  });
}

/** Declares tensors that an operator takes in float32, under names in `path`. */
function declareVectors(graph: KernelsContext['graph'], path: string) {
  return (name: string, tensor: CheckpointTensor): string =>
    declareFloats(graph, weightName(path, name), [tensor], 'float32');
}

function deltaRule(
  context: KernelsContext,
  layer: number,
  own: GatedDeltaNet,
  { qkv, gates, projected }: { readonly qkv: string; readonly gates: string; readonly projected: string },
): string {
  const { graph, config, weights } = context;
  const path = `/model/layers.${layer}/recurrent`;
  const { decayLog, decayBias, norm } = weights.recurrentVectors(layer).delta();
  const declare = declareVectors(graph, path);
  return withState(context, layer, 1, {
    node: `${path}/GatedDeltaNet`,
    operator: 'GatedDeltaNet',
    input: qkv,
    others: [
      gates,
      projected,
      declare('decay_log', decayLog),
      declare('decay_bias', decayBias),
      declare('norm.weight', norm),
    ],
    attributes: {
      key_heads: int(own.keyHeadCount),
      value_heads: int(own.valueHeadCount),
      key_size: int(own.keySize),
      value_size: int(own.valueSize),
      gate_start: int(convolvedSize(own, config.hiddenSize)),
      epsilon: float(config.norm.epsilon),
      ...(own.keysInTurns ? { keys_in_turns: int(1) } : {}),
    },
  });
}

function selectiveScan(
  context: KernelsContext,
  layer: number,
  own: Mamba2,
  { xbc, dt, projected }: { readonly xbc: string; readonly dt: string; readonly projected: string },
): string {
  const { graph, config, weights } = context;
  const path = `/model/layers.${layer}/recurrent`;
  const { decayLog, decayBias, skip, norm } = weights.recurrentVectors(layer).mamba();
  const declare = declareVectors(graph, path);
  return withState(context, layer, 1, {
    node: `${path}/Mamba2`,
    operator: 'Mamba2',
    input: xbc,
    others: [
      dt,
      projected,
      declare('decay_log', decayLog),
      declare('decay_bias', decayBias),
      declare('skip', skip),
      ...(norm === undefined ? [] : [declare('norm.weight', norm)]),
    ],
    attributes: {
      heads: int(own.headCount),
      head_size: int(own.headSize),
      groups: int(own.groupCount),
      state_size: int(own.stateSize),
      gate_start: int(convolvedSize(own, config.hiddenSize)),
      ...(own.leastStep === 0 ? {} : { least_step: float(own.leastStep) }),
      ...(own.norm === undefined
        ? {}
        : {
            norm_groups: int(own.norm.groupCount),
            ...(own.norm.isFirst ? { norm_first: int(1) } : {}),
            epsilon: float(config.norm.epsilon),
          }),
    },
  });
}

/** An operator that reads and writes a state of the layer. */
function withState(
  { graph, config }: KernelsContext,
  layer: number,
  index: number,
  {
    node,
    operator,
    input,
    others,
    attributes,
  }: {
    readonly node: string;
    readonly operator: string;
    readonly input: string;
    readonly others: readonly string[];
    readonly attributes: NonNullable<NonNullable<Parameters<KernelsContext['graph']['op']>[3]>['attributes']>;
  },
): string {
  const shape = stateShapes(config.layers[layer]!.recurrent!, config.hiddenSize)[index]!;
  const dims = [DYNAMIC_DIMS.states, ...shape];
  const past = graph.input(pastStateName(layer, index), 'float32', dims);
  const present = presentStateName(layer, index);
  const inputs = [input, past, SLOTS_INPUT.stateReads, SLOTS_INPUT.stateWrites, ...others];
  const output = graph.op(node, operator, inputs, {
    domain: KERNELS_DOMAIN,
    attributes,
    outputs: [`${node}/output_0`, present],
  });
  graph.output(present, 'float32', dims);
  return output;
}
