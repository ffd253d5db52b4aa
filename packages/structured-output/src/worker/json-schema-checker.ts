// JSON Schema validation in a worker thread that is killed when a schema takes too long: the evaluator of finished answers,
// for any value. The thread starts with the first check.

import { entryModule, KillableWorker } from '@ortler/worker';
import type { Violation } from '../json-schema/violation.ts';
import type { SchemaTask } from './schema-worker-entry.ts';
import { toConstraintError } from './to-constraint-error.ts';

export interface JsonSchemaChecker {
  /**
   * Whether values can be checked against the schema, JSON text of at most 256 KiB.
   * @param share Whose check it is: shares take turns. Default: one share of all.
   * Throws: `invalid_constraint` with the place of what is malformed, too large or in another document.
   */
  checkSchema(schema: string, share?: string): Promise<void>;
  /**
   * The keyword that a value (JSON text) breaks, or null. The schema has passed `checkSchema`. `share` as there.
   * Throws: `invalid_constraint` when it takes too long.
   */
  findViolation(schema: string, value: string, share?: string): Promise<Violation | null>;
  close(): Promise<void>;
}

const TIME_LIMIT_MS = 1_000;
const START_LIMIT_MS = 30_000;
const MEMORY_LIMIT_MB = 256;
const QUEUE_LIMIT = 1_024;
const QUEUE_LIMIT_PER_SHARE = 768;

export function createJsonSchemaChecker(): JsonSchemaChecker {
  const worker = new KillableWorker<SchemaTask, unknown>({
    entry: entryModule('./schema-worker-entry', import.meta.url),
    timeLimitMs: TIME_LIMIT_MS,
    startLimitMs: START_LIMIT_MS,
    memoryLimitMb: MEMORY_LIMIT_MB,
    queueLimit: QUEUE_LIMIT,
    queueLimitPerShare: QUEUE_LIMIT_PER_SHARE,
  });
  const run = async (task: SchemaTask, share: string | undefined): Promise<unknown> => {
    try {
      return await worker.run(task, undefined, share);
    } catch (error) {
      const message = `The check against the schema took longer than ${TIME_LIMIT_MS} ms.`;
      throw toConstraintError(error, { timeout: message, crashed: message });
    }
  };
  return {
    async checkSchema(schema, share) {
      await run({ kind: 'check-schema', schema }, share);
    },
    findViolation: async (schema, value, share) =>
      (await run({ kind: 'find-violation', schema, value }, share)) as Violation | null,
    close: () => worker.close(),
  };
}
