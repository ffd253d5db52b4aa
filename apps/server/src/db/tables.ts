// The database schema for Kysely; the table types are in tables/.

import type { AnnotationQueuesTable, AnnotationSpecsTable } from './tables/annotations.ts';
import type { ApiKeysTable } from './tables/api-keys.ts';
import type { FeedbackTable } from './tables/feedback.ts';
import type { ResponsesTable } from './tables/responses.ts';
import type { TrainingTables } from './tables/training.ts';
import type { UsageTables } from './tables/usage.ts';

export interface Tables extends TrainingTables, UsageTables {
  readonly api_keys: ApiKeysTable;
  readonly feedback: FeedbackTable;
  readonly annotation_specs: AnnotationSpecsTable;
  readonly annotation_queues: AnnotationQueuesTable;
  readonly responses: ResponsesTable;
}
