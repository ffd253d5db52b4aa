// Maps stored models, checkpoints and trajectories to the wire format.

import { parseLosslessJson } from '@ortler/json';
import type {
  Checkpoint,
  CheckpointRecord,
  SplitMetrics,
  StoredTrajectoryRecord,
  TrainingModelRecord,
} from '@ortler/schemas';
import type {
  SplitMetric,
  StoredCheckpoint,
  StoredTrajectory,
  TrainingModel,
} from '../ports/training-services.ts';
import { toCheckpointReference, toModelReference } from './model-reference.ts';

export function toModelRecord(model: TrainingModel): TrainingModelRecord {
  const { id, entity, project, name, baseModel, createdAtMs } = model;
  return {
    object: 'training_model',
    id,
    entity,
    project,
    name,
    base_model: baseModel,
    run_id: null,
    created_at: toIso(createdAtMs),
  };
}

/** A checkpoint of a list, with the published fields only. */
export function toCheckpoint({ id, step, metrics }: StoredCheckpoint): Checkpoint {
  return { id, step, metrics };
}

export function toCheckpointRecord(model: TrainingModel, checkpoint: StoredCheckpoint): CheckpointRecord {
  const { weights, step, createdAtMs } = checkpoint;
  return {
    ...toCheckpoint(checkpoint),
    model: weights === null ? null : toCheckpointReference(toModelReference(model), step),
    weights: weights === null ? null : { path: weights.path, kind: weights.kind },
    created_at: toIso(createdAtMs),
  };
}

type Envelope = Omit<StoredTrajectoryRecord, 'trajectory'>;

function toEnvelope(stored: StoredTrajectory): Envelope {
  return {
    id: String(stored.position),
    log_id: stored.logId,
    group_index: stored.groupIndex,
    trajectory_index: stored.trajectoryIndex,
    split: stored.split,
    step: stored.step,
    reward: stored.reward,
    initial_policy_version: stored.initialPolicyVersion,
    final_policy_version: stored.finalPolicyVersion,
    metrics: { ...stored.metrics },
    trainable_items: [...stored.trainableItems],
    start_time: toIso(stored.startTimeMs),
    logged_at: toIso(stored.loggedAtMs),
  };
}

export function toTrajectoryItem(stored: StoredTrajectory): StoredTrajectoryRecord {
  return { ...toEnvelope(stored), trajectory: parseLosslessJson(stored.json) };
}

/** A trajectory as one line of JSON, without parsing it. */
export function toTrajectoryLine(stored: StoredTrajectory): string {
  const head = JSON.stringify(toEnvelope(stored)).slice(0, -1);
  // Line breaks occur only between the tokens of JSON, never inside a string.
  return `${head},"trajectory":${stored.json.replace(/[\r\n]+/g, ' ')}}\n`;
}

/** One item per split and step. `metrics` must be ordered by both. */
export function toSplitMetrics(metrics: readonly SplitMetric[]): SplitMetrics {
  const data: SplitMetrics['data'] = [];
  for (const { split, step, name, value, count } of metrics) {
    const last = data.at(-1);
    const isSame = last?.split === split && last.step === step;
    const item = isSame ? last : { split, step, metrics: {}, counts: {} };
    if (!isSame) data.push(item);
    item.metrics[name] = value;
    item.counts[name] = count;
  }
  return { object: 'list', data };
}

function toIso(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
