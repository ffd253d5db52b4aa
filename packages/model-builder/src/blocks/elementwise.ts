// Scaling and soft caps.

import type { GraphContext } from './block-context.ts';

/** The value itself where the factor is 1. */
export function scaled(
  { graph, activation }: Pick<GraphContext, 'graph' | 'activation'>,
  path: string,
  value: string,
  factor: number,
  output?: string,
): string {
  if (factor === 1) return value;
  const constant = graph.constant(`${path}/factor`, activation, [factor]);
  return graph.op(`${path}/Mul`, 'Mul', [value, constant], output === undefined ? {} : { outputs: [output] });
}

/** `cap * tanh(value / cap)`, in float32. */
export function softcapped(
  { graph }: Pick<GraphContext, 'graph'>,
  path: string,
  value: string,
  cap: number,
  output: string,
): string {
  const constant = graph.constant(`${path}/cap`, 'float32', [cap]);
  const share = graph.op(`${path}/Div`, 'Div', [value, constant]);
  const bounded = graph.op(`${path}/Tanh`, 'Tanh', [share]);
  return graph.op(`${path}/Mul`, 'Mul', [bounded, constant], { outputs: [output] });
}
