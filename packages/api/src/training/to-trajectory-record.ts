// Maps a validated trajectory to the stored record: columns for queries, and the text as it was sent.

import type { Trajectory } from '@ortler/schemas';
import type { TrajectoryRecord } from '../ports/training-services.ts';

export interface RecordPlace {
  readonly groupIndex: number;
  readonly trajectoryIndex: number;
  /** Unit: milliseconds since 1970. */
  readonly receivedAtMs: number;
}

/** @param json The text of the trajectory as it was sent. */
export function toTrajectoryRecord(
  trajectory: Trajectory,
  json: string,
  { groupIndex, trajectoryIndex, receivedAtMs }: RecordPlace,
): TrajectoryRecord {
  const { start_time: startTime, messages_and_choices: items } = trajectory;
  return {
    groupIndex,
    trajectoryIndex,
    reward: trajectory.reward,
    initialPolicyVersion: trajectory.initial_policy_version ?? null,
    finalPolicyVersion: trajectory.final_policy_version ?? null,
    metrics: trajectory.metrics,
    trainableItems: [...items.keys()].filter(index => isChoice(items[index]!)),
    startTimeMs: startTime === undefined ? receivedAtMs : Date.parse(startTime),
    json,
  };
}

/** A choice has `message`; a chat message has `role`. Source: the reader of the public training client. */
function isChoice({ message }: Readonly<Record<string, unknown>>): boolean {
  return typeof message === 'object' && message !== null && !Array.isArray(message);
}
