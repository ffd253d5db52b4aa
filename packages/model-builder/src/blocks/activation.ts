// Activations of the MLP in ONNX Runtime's operators.

import { MICROSOFT } from '@ortler/onnx';
import type { Activation } from '../hugging-face/decoder-config.ts';
import type { GraphContext } from './block-context.ts';

/**
 * ```
 *   silu:      x * Sigmoid(x)
 *   gelu-tanh: x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
 *   relu2:     Relu(x) * Relu(x)
 * ```
 */
export function activate(
  { graph }: Pick<GraphContext, 'graph'>,
  path: string,
  input: string,
  activation: Activation,
): string {
  switch (activation) {
    case 'silu': {
      const sigmoid = graph.op(`${path}/Sigmoid`, 'Sigmoid', [input]);
      return graph.op(`${path}/Mul`, 'Mul', [input, sigmoid]);
    }
    case 'gelu-tanh':
      return graph.op(`${path}/FastGelu`, 'FastGelu', [input], { domain: MICROSOFT });
    case 'relu2': {
      const positive = graph.op(`${path}/Relu`, 'Relu', [input]);
      return graph.op(`${path}/Mul`, 'Mul', [positive, positive]);
    }
  }
}
