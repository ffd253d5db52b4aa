// The position in its constraint where a choice was cut off, in names of the wire.

import type { ChoiceFinish } from '@ortler/engine';
import type { ConstraintPosition } from '@ortler/schemas';

/** The field of a choice; nothing where the choice ended otherwise. */
export function toConstraintPosition(finish: Pick<ChoiceFinish, 'constraintPosition'> | null): {
  readonly constraint_position?: NonNullable<ConstraintPosition>;
} {
  if (finish?.constraintPosition === undefined) return {};
  const { isComplete, path, inside } = finish.constraintPosition;
  return {
    constraint_position: {
      is_complete: isComplete,
      ...(path !== undefined && { path }),
      ...(inside !== undefined && { inside }),
    },
  };
}
