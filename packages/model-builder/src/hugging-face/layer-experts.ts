// The weights of a layer's experts, as one tensor for each matrix of each expert, however a checkpoint stores them.

import { assertInvariant } from '../errors.ts';
import type { WeightSource } from './checkpoint.ts';
import type { CheckpointTensor } from './checkpoint-tensor.ts';
import type { ExpertModules, ExpertsConfig } from './experts-config.ts';
import { inputsFirst } from './inputs-first.ts';
import type { RecentMatrices } from './recent-matrices.ts';
import { everyRow, flatRows, tensorRows } from './tensor-rows.ts';

export type ExpertMatrix = 'gate' | 'up' | 'down';

export interface LayerExpertsOptions {
  /** Path of the layer in the checkpoint. */
  readonly layer: string;
  readonly config: ExpertsConfig;
  readonly hiddenSize: number;
  readonly recent: RecentMatrices;
}

/** All methods throw as `WeightSource.tensor`. */
export class LayerExperts {
  readonly #source: WeightSource;
  readonly #layer: string;
  readonly #config: ExpertsConfig;
  readonly #hiddenSize: number;
  readonly #recent: RecentMatrices;

  constructor(source: WeightSource, { layer, config, hiddenSize, recent }: LayerExpertsOptions) {
    this.#source = source;
    this.#layer = layer;
    this.#config = config;
    this.#hiddenSize = hiddenSize;
    this.#recent = recent;
  }

  /** Shape: `[experts, hidden]`. */
  router(): CheckpointTensor {
    return this.#tensor(`${this.#config.modules.router}.weight`, [this.#config.count, this.#hiddenSize]);
  }

  /** Shape: `[experts]`. */
  routerBias(): CheckpointTensor | undefined {
    const { routerBias, modules, count } = this.#config;
    return routerBias ? this.#tensor(`${modules.router}.bias`, [count]) : undefined;
  }

  /** Shape: `[experts]`. */
  selectionBias(): CheckpointTensor | undefined {
    const { count, modules } = this.#config;
    const { selectionBias: name, selectionBiasIsRow: isRow = false } = modules;
    if (name === undefined) return undefined;
    return isRow ? flatRows(this.#tensor(name, [1, count]), 1) : this.#tensor(name, [count]);
  }

  /** Shape: `[1, hidden]`. */
  sharedWeight(): CheckpointTensor | undefined {
    const module = this.#config.modules.shared?.weight;
    return module === undefined ? undefined : this.#tensor(`${module}.weight`, [1, this.#hiddenSize]);
  }

  /** Projection to the latent size, of experts that have one. Shape: `[latent, hidden]`. */
  intoLatent(): CheckpointTensor {
    return this.#tensor(`${this.#config.modules.latent!.into}.weight`, [this.#width, this.#hiddenSize]);
  }

  /** Shape: `[hidden, latent]`. */
  fromLatent(): CheckpointTensor {
    return this.#tensor(`${this.#config.modules.latent!.from}.weight`, [this.#hiddenSize, this.#width]);
  }

  /** The matrices of these roles, expert by expert. Shape: `[outputs, inputs]`. */
  matrices(...roles: readonly ExpertMatrix[]): CheckpointTensor[] {
    return this.#each(roles, (expert, role) => this.#matrix(expert, role));
  }

  /** The biases of these roles, expert by expert; none where the model has none. Shape: `[outputs]`. */
  biases(...roles: readonly ExpertMatrix[]): CheckpointTensor[] {
    return this.#config.bias ? this.#each(roles, (expert, role) => this.#bias(expert, role)) : [];
  }

  #each(
    roles: readonly ExpertMatrix[],
    find: (expert: number, role: ExpertMatrix) => CheckpointTensor,
  ): CheckpointTensor[] {
    return Array.from({ length: this.#config.count }, (_, expert) =>
      roles.map(role => find(expert, role)),
    ).flat();
  }

  #matrix(expert: number, role: ExpertMatrix): CheckpointTensor {
    const { modules, count } = this.#config;
    const { outputs, inputs } = this.#size(role);
    const stack = stackOf(this.#stored(modules.matrices), role, outputs);
    if (stack.layout === 'single')
      return this.#tensor(`${numbered(stack.module, expert)}.weight`, [outputs, inputs]);
    if (stack.layout === 'rows') {
      const all = this.#tensor(stack.name, [count, stack.outputs, inputs]);
      return tensorRows(flatRows(all), expert * stack.outputs + stack.first, outputs);
    }
    if (stack.layout === 'stacked') {
      const all = this.#tensor(`${stack.module}.weight`, [count, outputs, inputs]);
      return tensorRows(flatRows(all), expert * outputs, outputs);
    }
    const packed = `${stack.name}.weight`;
    if (this.#source.has(`${this.#layer}.${packed}`)) {
      const all = flatRows(this.#tensor(packed, [count, stack.outputs, inputs]));
      return everyRow(all, { first: expert * stack.outputs + stack.first, step: stack.step, count: outputs });
    }
    const all = this.#tensor(stack.name, [count, inputs, stack.outputs]);
    return everyRow(inputsFirst(all, expert, this.#recent), { ...stack, count: outputs });
  }

  #bias(expert: number, role: ExpertMatrix): CheckpointTensor {
    const { modules, count } = this.#config;
    const { outputs } = this.#size(role);
    const stack = stackOf(modules.matrices, role, outputs);
    if (stack.layout === 'single') return this.#tensor(`${numbered(stack.module, expert)}.bias`, [outputs]);
    if (stack.layout === 'stacked') {
      const all = flatRows(this.#tensor(`${stack.module}.bias`, [count, outputs]), 1);
      return tensorRows(all, expert * outputs, outputs);
    }
    const all = flatRows(this.#tensor(`${stack.name}_bias`, [count, stack.outputs]), 1);
    return everyRow(all, { first: expert * stack.outputs + stack.first, step: stack.step, count: outputs });
  }

  #stored(matrices: ExpertModules['matrices']): ExpertModules['matrices'] {
    const joined = matrices.layout === 'single' ? matrices.joined : undefined;
    return joined !== undefined && this.#source.has(`${this.#layer}.${joined.gateUp}`) ? joined : matrices;
  }

  #size(role: ExpertMatrix): { readonly outputs: number; readonly inputs: number } {
    const { intermediateSize: inner } = this.#config;
    return role === 'down'
      ? { outputs: this.#width, inputs: inner }
      : { outputs: inner, inputs: this.#width };
  }

  /** Width of the rows that experts read and give. */
  get #width(): number {
    return this.#config.latentSize ?? this.#hiddenSize;
  }

  #tensor(name: string, shape: readonly number[]): CheckpointTensor {
    return this.#source.tensor(`${this.#layer}.${name}`, shape);
  }
}

/** Where a matrix is in its stack: outputs `first`, `first + step` and so on of `outputs`. */
function stackOf(matrices: ExpertModules['matrices'], role: ExpertMatrix, outputs: number) {
  if (matrices.layout === 'single') {
    const module = matrices[role];
    assertInvariant(module !== undefined, 'these experts have a matrix of this role');
    return { layout: 'single', module } as const;
  }
  if (matrices.layout === 'stacked') return { layout: 'stacked', module: matrices[role] } as const;
  const { layout } = matrices;
  if (role === 'down') return { layout, name: matrices.down, outputs, first: 0, step: 1 } as const;
  const isUp = role === 'up';
  const place = layout === 'rows' ? { first: isUp ? outputs : 0, step: 1 } : { first: isUp ? 1 : 0, step: 2 };
  return { layout, name: matrices.gateUp, outputs: 2 * outputs, ...place } as const;
}

function numbered(module: string, expert: number): string {
  return module.replace('*', String(expert));
}
