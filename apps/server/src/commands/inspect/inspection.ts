// What `ortler inspect` found; the shape of its JSON, where `model` has no `tensors`.

import type { GraphVariant } from '@ortler/engine/graph-contract';
import type { MemoryEstimate, ModelDescription, PrecisionChoice } from '@ortler/model-builder';
import type { DeviceChoice } from '@ortler/onnxruntime';
import type { Download } from './open-model.ts';

export interface Inspection {
  readonly source: string;
  readonly model: ModelDescription;
  readonly download: Download | undefined;
  readonly device: DeviceChoice;
  readonly variant: GraphVariant;
  /** Why the model does not have the first variant of the device; see `settleVariant`. */
  readonly variantReason: string | undefined;
  /** What `--precision auto` takes; undefined for a model that cannot be run. */
  readonly precision: PrecisionChoice | undefined;
  /** Context for which memory is estimated. Unit: tokens. */
  readonly contextLength: number;
  readonly memory: readonly MemoryEstimate[];
}
