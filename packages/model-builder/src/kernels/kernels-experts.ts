// The mixture of experts of one layer by the operators of the CPU kernels.

import { weightName } from '../blocks/block-context.ts';
import { assertInvariant } from '../errors.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { declareFloats } from '../weights/declare-weights.ts';
import { type ExpertMatrices, expertInner, layerMatrices } from './decoder-matrices.ts';
import { type KernelsContext, multiply, type NormedInput, tiles } from './kernels-context.ts';
import { mlpInner } from './kernels-mlp.ts';
import { mixture } from './product.ts';
import { activationBits } from './weight-formats.ts';

/**
 * ```
 *   input -- norm, router          Product            [..., experts]
 *     |                               |
 *     +----- norm, experts         Experts <- residual, or what the shared expert adds to it
 *                                     |
 *                                  [..., hidden]
 * ```
 * Without `residual` the result is what the experts give alone. Experts with a latent size are between two
 * products, of which the second one adds the residual.
 */
export function experts(
  context: KernelsContext,
  layer: number,
  input: NormedInput,
  residual: string | undefined,
): string {
  const { graph, config, weights, precision } = context;
  const path = `/model/layers.${layer}/mlp`;
  const stored = weights.experts(layer);
  const { experts: own, gateUp: shared } = layerMatrices(config, layer);
  assertInvariant(own !== undefined && config.experts !== undefined, `layer ${layer} has experts`);
  const declare = (name: string, tensors: readonly (CheckpointTensor | undefined)[]) => {
    const found = tensors.filter(tensor => tensor !== undefined);
    return found.length === 0 ? undefined : declareFloats(graph, weightName(path, name), found, 'float32');
  };
  const logits = multiply(context, `${path}/router`, {
    ...input,
    matrices: [tiles(context, own.router)],
    bias: declare('router.bias', [stored.routerBias()]),
  });
  const gateUp = tiles(context, own.gateUp);
  const down = tiles(context, own.down);
  const { activation, isGated } = config;
  const beside = shared === undefined ? residual : sharedExpert(context, layer, own, input, residual);
  const { intoLatent, fromLatent } = own;
  const read: NormedInput =
    intoLatent === undefined
      ? input
      : {
          input: multiply(context, `${path}/into_latent`, {
            ...input,
            matrices: [tiles(context, intoLatent)],
          }),
        };
  const given = mixture(graph, `${path}/experts`, {
    input: read.input,
    norm: read.norm,
    logits,
    gateUp,
    isGated,
    down,
    gateUpBias: declare('experts.gate_up_proj.bias', stored.biases(...expertInner(config))),
    downBias: declare('experts.down_proj.bias', stored.biases('down')),
    selectionBias: declare('router.selection_bias', [stored.selectionBias()]),
    residual: fromLatent === undefined ? beside : undefined,
    activation: config.experts.gateLimit === undefined ? activation : 'clamped',
    activationBits: [activationBits(precision, [gateUp]), activationBits(precision, [down])],
    config: config.experts,
  });
  if (fromLatent === undefined) return given;
  return multiply(context, `${path}/from_latent`, {
    input: given,
    matrices: [tiles(context, fromLatent)],
    ...(beside === undefined ? {} : { residual: beside }),
  });
}

/** What the expert that all tokens share gives, times its weight, plus the residual. */
function sharedExpert(
  context: KernelsContext,
  layer: number,
  { sharedWeight }: ExpertMatrices,
  input: NormedInput,
  residual: string | undefined,
): string {
  const { graph, config } = context;
  const path = `/model/layers.${layer}/mlp/shared_expert`;
  const options = {
    input: mlpInner(context, layer, input),
    matrices: [tiles(context, layerMatrices(config, layer).down!)],
  };
  if (sharedWeight === undefined)
    return multiply(context, `${path}/down_proj`, {
      ...options,
      ...(residual === undefined ? {} : { residual }),
    });
  const given = multiply(context, `${path}/down_proj`, options);
  const logit = multiply(context, `${path}/weight`, { ...input, matrices: [tiles(context, sharedWeight)] });
  const weight = graph.op(`${path}/weight/Sigmoid`, 'Sigmoid', [logit]);
  const weighted = graph.op(`${path}/Mul`, 'Mul', [given, weight]);
  return residual === undefined ? weighted : graph.op(`${path}/Add`, 'Add', [residual, weighted]);
}
