// What a graph depends on where a mixture of experts replaces an MLP: many small MLPs, of which a router
// chooses a few for each token and adds what they give, by their weights. They have gates where the MLPs of
// the model have.

export interface ExpertsConfig {
  readonly count: number;
  /** Experts of each token. */
  readonly chosen: number;
  readonly intermediateSize: number;
  /** Elements of what experts read and give, which two matrices project to and from; undefined for those of the residual stream. */
  readonly latentSize: number | undefined;
  /** What makes scores of the router's logits. The experts with the highest scores are chosen. */
  readonly scoring: 'softmax' | 'sigmoid';
  /** Weights are the scores over the sum of those that were chosen. */
  readonly isNormalised: boolean;
  /** Factor of the weights. */
  readonly scale: number;
  /**
   * Experts are chosen of some groups of neighbours only: those with the largest sum of their `keyCount` highest scores. Undefined
   * where all experts can be chosen.
   */
  readonly groups: { readonly count: number; readonly chosen: number; readonly keyCount: 1 | 2 } | undefined;
  readonly routerBias: boolean;
  /** Gates, ups and downs have biases. */
  readonly bias: boolean;
  /**
   * Undefined for `activation(gate) * up`. With a limit it is `g * sigmoid(1.702 * g) * (u + 1)`, where g is the gate up to the
   * limit and u the up within it on both sides.
   */
  readonly gateLimit: number | undefined;
  readonly modules: ExpertModules;
}

/** Names within a layer of the checkpoint. */
export interface ExpertModules {
  readonly router: string;
  /** Tensor that is added to scores to choose by, but not to the weights; undefined where there is none. */
  readonly selectionBias: string | undefined;
  /** Shape of that tensor: `[1, experts]` where it is a row, else `[experts]`. */
  readonly selectionBiasIsRow?: boolean;
  readonly matrices: SingleExperts | StackedExperts | JoinedExperts;
  /** Projections to and from a latent size, which have no biases. */
  readonly latent?: { readonly into: string; readonly from: string };
  /** The expert that all tokens go through; undefined where there is none. */
  readonly shared: SharedExpert | undefined;
}

/** A module for each matrix of each expert, whose number stands for `*`. */
export interface SingleExperts {
  readonly layout: 'single';
  /** Undefined where experts have none. */
  readonly gate: string | undefined;
  readonly up: string;
  readonly down: string;
  /** The tensors that some checkpoints of the family have in their place. */
  readonly joined?: JoinedExperts;
}

/** A module for each matrix, of all experts. Shape: `[experts, outputs, inputs]`. */
export interface StackedExperts {
  readonly layout: 'stacked';
  readonly gate: string;
  readonly up: string;
  readonly down: string;
}

/**
 * A tensor for the gates and ups of all experts, and one for the downs. `rows`: `[experts, outputs, inputs]`, gates first. `columns`: `[experts, inputs, outputs]`, with gates
 * and ups in turns, also in the biases, whose names end with `_bias`; with codes it is `[experts, outputs, inputs]`, and named `.weight`.
 */
export interface JoinedExperts {
  readonly layout: 'rows' | 'columns';
  readonly gateUp: string;
  readonly down: string;
}

export interface SharedExpert {
  /** Undefined where experts have none. */
  readonly gate: string | undefined;
  readonly up: string;
  /** As `ModuleNames.gateUp`. */
  readonly gateUp: string | undefined;
  readonly down: string;
  /** Module of one output, whose sigmoid is the expert's weight; undefined for a weight of one. */
  readonly weight: string | undefined;
}

export const QWEN_EXPERTS: ExpertModules = {
  router: 'mlp.gate',
  selectionBias: undefined,
  matrices: {
    layout: 'single',
    gate: 'mlp.experts.*.gate_proj',
    up: 'mlp.experts.*.up_proj',
    down: 'mlp.experts.*.down_proj',
    joined: { layout: 'rows', gateUp: 'mlp.experts.gate_up_proj', down: 'mlp.experts.down_proj' },
  },
  shared: undefined,
};

/** An expert that all tokens share, as a module of the MLP. */
export function sharedModules(module: string, weight: string | undefined): SharedExpert {
  const [gate, up, down] = ['gate', 'up', 'down'].map(part => `${module}.${part}_proj`) as [
    string,
    string,
    string,
  ];
  return { gate, up, gateUp: undefined, down, weight };
}

/** With an expert that all tokens share, as DeepSeek names it. */
export const SHARED_EXPERT_MODULES: ExpertModules = {
  ...QWEN_EXPERTS,
  shared: sharedModules('mlp.shared_experts', undefined),
};

/** With a shared expert whose gate weighs it for each token, as Qwen names it. */
export const GATED_SHARED_EXPERT_MODULES: ExpertModules = {
  ...QWEN_EXPERTS,
  shared: sharedModules('mlp.shared_expert', 'mlp.shared_expert_gate'),
};

/** As `SHARED_EXPERT_MODULES`, and with a bias to choose by. */
export const BIASED_EXPERT_MODULES: ExpertModules = {
  ...SHARED_EXPERT_MODULES,
  selectionBias: 'mlp.gate.e_score_correction_bias',
};
