// Kysely types of the training tables. Times are in milliseconds since 1970.

import type { ColumnType } from 'kysely';

export interface TrainingModelsTable {
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  readonly base_model: string;
  /**
   * Position of the newest trajectory. An append raises it first, so that appends to one model take turns.
   */
  readonly last_position: number;
  readonly created_at: number;
}

export interface CheckpointsTable {
  readonly id: string;
  readonly model_id: string;
  readonly step: number;
  /** JSON object of the registered metrics; metrics of logged trajectories are in `split_metrics`. */
  readonly metrics: string;
  readonly weights_kind: 'full' | 'lora' | null;
  readonly weights_path: string | null;
  readonly created_at: number;
  /** Set: gone, and kept only so that a walk whose cursor it is can go on. */
  readonly deleted_at: number | null;
}

export interface TrajectoryLogsTable {
  readonly id: string;
  readonly model_id: string;
  readonly split: string;
  readonly step: number;
  readonly group_count: number;
  readonly trajectory_count: number;
  readonly idempotency_key: string | null;
  readonly body_digest: string | null;
  readonly created_at: number;
}

export interface TrajectoryGroupsTable {
  readonly log_id: string;
  readonly model_id: string;
  readonly group_index: number;
  /** The fields of the group other than its trajectories, as JSON text of the request. */
  readonly json: string;
}

export interface TrajectoriesTable {
  readonly model_id: string;
  readonly position: number;
  readonly log_id: string;
  readonly group_index: number;
  readonly trajectory_index: number;
  readonly split: string;
  readonly step: number;
  readonly reward: number;
  readonly initial_policy_version: number | null;
  readonly final_policy_version: number | null;
  /** JSON object. */
  readonly metrics: string;
  /** JSON list. */
  readonly trainable_items: string;
  readonly start_time: number;
  readonly logged_at: number;
  /** Unit: UTF-16 code units. Pages are cut by it before any `json` is read. */
  readonly json_length: number;
  /** The trajectory as it was sent. */
  readonly json: string;
}

export interface SplitMetricsTable {
  readonly model_id: string;
  readonly split: string;
  readonly step: number;
  readonly name: string;
  readonly total: ColumnType<number, number, number>;
  readonly count: ColumnType<number, number, number>;
}

export interface TrainingTables {
  readonly training_models: TrainingModelsTable;
  readonly checkpoints: CheckpointsTable;
  readonly trajectory_logs: TrajectoryLogsTable;
  readonly trajectory_groups: TrajectoryGroupsTable;
  readonly trajectories: TrajectoriesTable;
  readonly split_metrics: SplitMetricsTable;
}
