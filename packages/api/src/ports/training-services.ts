// Ports of the training room: models under training, their checkpoints and their logged trajectories. apps/server
// implements them on its databases; `fake-training-services.ts` in memory. All moments are milliseconds since 1970.

/** A model that is being trained. */
export interface TrainingModel {
  /** Made by the store; safe in a path without escapes. */
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  /** Id of the served model that training began from. */
  readonly baseModel: string;
  readonly createdAtMs: number;
}

/** What identifies a model besides its id. */
export type TrainingModelName = Pick<TrainingModel, 'entity' | 'project' | 'name'>;

export interface TrainingModelStore {
  /** Makes the model, or gives the one that has this name already (`isNew` false). */
  create(
    model: Omit<TrainingModel, 'id' | 'createdAtMs'>,
  ): Promise<{ readonly model: TrainingModel; readonly isNew: boolean }>;
  findById(id: string): Promise<TrainingModel | null>;
  findByName(name: TrainingModelName): Promise<TrainingModel | null>;
  /** Removes the model with everything logged and registered for it. False: there was none. */
  delete(id: string): Promise<boolean>;
}

/** Weights on the server's disk. `lora` needs the model's base model to run; `full` stands alone. */
export interface CheckpointWeights {
  readonly kind: 'full' | 'lora';
  /** Absolute path of a folder. */
  readonly path: string;
}

/** A stored state of a model. */
export interface StoredCheckpoint {
  /** UUID, unique within the model. */
  readonly id: string;
  readonly modelId: string;
  readonly step: number;
  /** What was registered, and `<split>/<metric>` of the trajectories logged at this step. Registered values win. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly weights: CheckpointWeights | null;
  readonly createdAtMs: number;
}

/** A checkpoint that can answer chats: it has weights. */
export interface ServableCheckpoint {
  readonly checkpointId: string;
  readonly modelId: string;
  /** What clients put before `:step<N>`; see `toModelReference`. */
  readonly modelName: string;
  readonly step: number;
  readonly baseModel: string;
  readonly weights: CheckpointWeights;
  readonly createdAtMs: number;
}

export interface CheckpointListOptions {
  /** Only checkpoints strictly behind this id in the given order. */
  readonly after: string | null;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

export interface CheckpointStore {
  /**
   * One page by (step, id). A cursor whose checkpoint was deleted still works. Null: the cursor names no checkpoint of
   * this model.
   */
  list(
    modelId: string,
    options: CheckpointListOptions,
  ): Promise<{ readonly checkpoints: readonly StoredCheckpoint[]; readonly hasMore: boolean } | null>;
  find(modelId: string, checkpointId: string): Promise<StoredCheckpoint | null>;
  /**
   * Makes a checkpoint. `step` null means one more than the newest, or 0. `taken`: there is one with that step or id.
   * `unknown-model`: it was deleted meanwhile.
   */
  register(
    modelId: string,
    checkpoint: {
      readonly id: string | null;
      readonly step: number | null;
      readonly metrics: Readonly<Record<string, number>>;
      readonly weights: CheckpointWeights | null;
    },
  ): Promise<StoredCheckpoint | 'taken' | 'unknown-model'>;
  /** Adds or replaces the given metrics and keeps the others. Null: there is no such checkpoint. */
  mergeMetrics(
    modelId: string,
    checkpointId: string,
    metrics: Readonly<Record<string, number>>,
  ): Promise<StoredCheckpoint | null>;
  /** Deletes the checkpoints of these steps; their weights stay on disk. Gives the steps that were there. */
  deleteSteps(modelId: string, steps: readonly number[]): Promise<readonly number[]>;
  /** Every checkpoint with weights of the models of an entity, or of all: by model, newest step first. */
  listServable(entity: string | null): Promise<readonly ServableCheckpoint[]>;
  /** The checkpoint that a chat request names. `step` null means the newest with weights. */
  findServable(model: TrainingModelName, step: number | null): Promise<ServableCheckpoint | null>;
}

/** One logged trajectory, ready to store. Numbers and maps are those of the validated value, `json` is what was sent. */
export interface TrajectoryRecord {
  readonly groupIndex: number;
  /** Position inside its group. */
  readonly trajectoryIndex: number;
  readonly reward: number;
  readonly initialPolicyVersion: number | null;
  readonly finalPolicyVersion: number | null;
  readonly metrics: Readonly<Record<string, number | boolean>>;
  /** Positions in `messages_and_choices` of the choices: what can be trained on. */
  readonly trainableItems: readonly number[];
  readonly startTimeMs: number;
  /** The trajectory as it was sent, every digit and unknown key included. */
  readonly json: string;
}

/** What a group held besides its trajectories, as JSON text of an object. */
export interface GroupRecord {
  readonly groupIndex: number;
  readonly json: string;
}

/** A sum and how many values it is of, so that later log calls at the same step give one mean over all. */
export interface MeanTally {
  readonly total: number;
  readonly count: number;
}

/**
 * Records of one log call between reading and storing. They wait here, so that a slow client never holds a
 * transaction open, and on disk when there are many.
 */
export interface TrajectorySpool {
  addTrajectory(record: TrajectoryRecord): Promise<void>;
  addGroup(record: GroupRecord): Promise<void>;
  /** Frees everything; the spool is of no use afterwards. */
  dispose(): Promise<void>;
}

/** One log call, complete and valid. */
export interface TrajectoryLog {
  readonly split: string;
  /** Null: the current step, which is that of the newest checkpoint, or 0. */
  readonly step: number | null;
  readonly groupCount: number;
  readonly trajectoryCount: number;
  /** By metric name, without the split. */
  readonly tallies: ReadonlyMap<string, MeanTally>;
  readonly spool: TrajectorySpool;
  /** With the digest of the body, which tells a repeated call from another one under the same key. */
  readonly idempotency: { readonly key: string; readonly digest: string } | null;
}

export interface StoredTrajectoryLog {
  readonly id: string;
  readonly step: number;
  readonly groupCount: number;
  readonly trajectoryCount: number;
}

export interface TrajectoryFilter {
  readonly split: string | null;
  readonly step: number | null;
  /** Inclusive. */
  readonly minReward: number | null;
  /** Inclusive. */
  readonly maxReward: number | null;
  /** Time of logging, inclusive. */
  readonly loggedFromMs: number | null;
  /** Time of logging, exclusive. */
  readonly loggedBeforeMs: number | null;
}

export interface StoredTrajectory extends TrajectoryRecord {
  /** Grows with every trajectory of the model in the order of commits: a later one is never below an earlier one. */
  readonly position: number;
  readonly logId: string;
  readonly split: string;
  readonly step: number;
  readonly loggedAtMs: number;
}

/** Mean of one metric over everything logged under a split at a step. */
export interface SplitMetric {
  readonly split: string;
  readonly step: number;
  readonly name: string;
  readonly value: number;
  /** How many values it is the mean of. */
  readonly count: number;
}

export interface TrajectoryStore {
  openSpool(): TrajectorySpool;
  /**
   * Stores everything or nothing; resolves when it is durable. `unknown-model`: it was deleted meanwhile.
   * `key-reused`: the idempotency key belongs to a call with another body. A repeated call gives the first one's answer.
   */
  append(modelId: string, log: TrajectoryLog): Promise<StoredTrajectoryLog | 'unknown-model' | 'key-reused'>;
  /**
   * The next trajectories behind a position, oldest first. Fewer than `limit` come when they are large, but at least
   * one if there is any.
   */
  list(
    modelId: string,
    filter: TrajectoryFilter,
    options: { readonly afterPosition: number; readonly limit: number },
  ): Promise<{ readonly trajectories: readonly StoredTrajectory[]; readonly hasMore: boolean }>;
  /** By split, step and name. */
  listMetrics(modelId: string, filter: { readonly split: string | null }): Promise<readonly SplitMetric[]>;
}

/** Looks at weights on the server's disk before a checkpoint is registered on them. */
export interface WeightsFolders {
  /**
   * Gives the absolute path and the kind, or says why the folder cannot be used, in words for the client.
   * @param team Whose folders may be named; null for all.
   */
  inspect(path: string, team: string | null): Promise<CheckpointWeights | { readonly problem: string }>;
}

export interface TrainingServices {
  readonly models: TrainingModelStore;
  readonly checkpoints: CheckpointStore;
  readonly trajectories: TrajectoryStore;
  readonly weights: WeightsFolders;
}
