// JSON Schemas of callers for whoever hosts the engine: whether one can be checked, and whether a value satisfies it. The same
// evaluator that looks at finished answers, in a worker that is killed when a schema takes too long. It starts with the
// first check.

import type { Violation } from '../core/constraint/json-schema/violation.ts';
import { entryModule } from '../entry-module.ts';
import { EngineError } from '../errors.ts';
import { KillableWorker } from '../text/killable-worker.ts';
import type { SchemaTask } from './schema-worker-entry.ts';

export interface JsonSchemaChecker {
  /**
   * Whether values can be checked against the schema, JSON text of at most 256 KiB.
   * Throws: `EngineError` `invalid_request` with the place of what is malformed, too large or in another document.
   */
  checkSchema(schema: string): Promise<void>;
  /**
   * The keyword that a value (JSON text) breaks, or null. The schema has passed `checkSchema`.
   * Throws: `EngineError` `invalid_request` when it takes too long.
   */
  findViolation(schema: string, value: string): Promise<Violation | null>;
  close(): Promise<void>;
}

const TIME_LIMIT_MS = 1_000;
const START_LIMIT_MS = 30_000;
const MEMORY_LIMIT_MB = 256;
const QUEUE_LIMIT = 1_024;

export function createJsonSchemaChecker(): JsonSchemaChecker {
  const worker = new KillableWorker<SchemaTask, unknown>({
    entry: entryModule('./schema-worker-entry', import.meta.url),
    timeLimitMs: TIME_LIMIT_MS,
    startLimitMs: START_LIMIT_MS,
    memoryLimitMb: MEMORY_LIMIT_MB,
    queueLimit: QUEUE_LIMIT,
    toError: () =>
      new EngineError(
        'invalid_request',
        `The check against the schema took longer than ${TIME_LIMIT_MS} ms.`,
      ),
  });
  return {
    async checkSchema(schema) {
      await worker.run({ kind: 'check-schema', schema });
    },
    findViolation: async (schema, value) =>
      (await worker.run({ kind: 'find-violation', schema, value })) as Violation | null,
    close: () => worker.close(),
  };
}
