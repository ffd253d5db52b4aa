// All migrations in order. A new migration gets the next number and one line here; a released one never changes.

import type { DatabaseMigration } from '../column-types.ts';
import { apiKeysMigration } from './0001-api-keys.ts';
import { feedbackMigration } from './0002-feedback.ts';
import { trainingMigration } from './0003-training.ts';
import { teamsMigration } from './0004-teams.ts';
import { annotationsMigration } from './0005-annotations.ts';
import { responsesMigration } from './0006-responses.ts';
import { keyLimitsMigration } from './0007-key-limits.ts';
import { checkpointIdsMigration } from './0008-checkpoint-ids.ts';
import { feedbackStatisticsMigration } from './0009-feedback-statistics.ts';

export const MIGRATIONS: Readonly<Record<string, DatabaseMigration>> = {
  '0001-api-keys': apiKeysMigration,
  '0002-feedback': feedbackMigration,
  '0003-training': trainingMigration,
  '0004-teams': teamsMigration,
  '0005-annotations': annotationsMigration,
  '0006-responses': responsesMigration,
  '0007-key-limits': keyLimitsMigration,
  '0008-checkpoint-ids': checkpointIdsMigration,
  '0009-feedback-statistics': feedbackStatisticsMigration,
};
