// `ortler feedback import`: stores JSON lines, such as those of an export, in atomic batches. It is idempotent: rows keep
// their id, and a row without one gets an id derived from its text. So an interrupted import can be run again, or
// continued with --from-line.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ApiError, type FeedbackRecord, toFeedbackRecord } from '@ortler/api';
import { parseLosslessJson } from '@ortler/json';
import { feedbackCreateRequest, laxDateTime, toValidationDetails } from '@ortler/schemas';
import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';
import { createRowCounter, withFeedback } from '../with-database.ts';

export interface ImportOptions {
  readonly file: string;
  /** Overrides the project of the rows. */
  readonly projectId: string | undefined;
  /** First line to store; lines count from 1. */
  readonly fromLine: number;
  /** User id of rows without one. */
  readonly userId: string;
  /** Unit: milliseconds since 1970. */
  readonly now: () => number;
}

const BATCH_SIZE = 500;

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission is denied',
};

const importedRow = z.object({
  ...feedbackCreateRequest.shape,
  project_id: z.string().optional(),
  wb_user_id: z.string().nullish(),
  created_at: laxDateTime().nullish(),
});

/** Returns the number of rows that were not stored before. Throws: `UserError` with the line at fault; the batches before it are stored. */
export function importFeedback(config: Config, options: ImportOptions, terminal: Terminal): Promise<number> {
  return withFeedback(config, async ({ store }) => {
    const rows = createRowCounter(terminal, 'read');
    const seen = new Map<string, number>();
    let batch: FeedbackRecord[] = [];
    let [lineNumber, firstOfBatch, newCount, knownCount] = [0, options.fromLine, 0, 0];
    const storeBatch = async () => {
      try {
        const inserted = await store.insert(batch);
        const newOfBatch = inserted.filter(({ isNew }) => isNew).length;
        newCount += newOfBatch;
        knownCount += inserted.length - newOfBatch;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        throw new UserError(
          `Lines ${firstOfBatch} to ${lineNumber}: ${error.message}. Continue with --from-line ${firstOfBatch}.`,
        );
      }
      batch = [];
      firstOfBatch = lineNumber + 1;
      rows.update(newCount + knownCount);
    };
    try {
      for await (const line of readLines(options.file)) {
        lineNumber += 1;
        if (lineNumber < options.fromLine || line.trim() === '') continue;
        batch.push(await toRecord(line, lineNumber, options, seen));
        if (batch.length >= BATCH_SIZE) await storeBatch();
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const reason = code === undefined ? undefined : UNREADABLE[code];
      if (reason !== undefined) throw new UserError(`${options.file} cannot be read: ${reason}.`);
      throw error;
    }
    if (batch.length > 0) await storeBatch();
    const known = knownCount === 0 ? '' : `; ${knownCount} were stored before`;
    rows.end(`imported ${newCount} rows${known}`);
    return newCount;
  });
}

/** Lines as JSON lines have them. Those of `node:readline` end at U+2028 and U+2029 too, which texts in JSON may hold. */
async function* readLines(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const part of createReadStream(file, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + part).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield line.replace(/\r$/, '');
  }
  yield rest;
}

async function toRecord(
  line: string,
  lineNumber: number,
  { projectId, userId, now }: ImportOptions,
  seen: Map<string, number>,
): Promise<FeedbackRecord> {
  try {
    const input = parseLosslessJson(line);
    const parsed = importedRow.safeParse(input);
    if (parsed.error !== undefined) {
      const [fault] = toValidationDetails(parsed.error, 'body', input, 1);
      throw new ApiError('invalid_parameter', `${fault!.loc.slice(1).join('.')}: ${fault!.msg}`);
    }
    const { wb_user_id, created_at, project_id = projectId, ...request } = parsed.data;
    if (project_id === undefined) throw new ApiError('invalid_parameter', 'project_id: Field required');
    return await toFeedbackRecord(
      { ...request, project_id: projectId ?? project_id },
      {
        userId: wb_user_id ?? userId,
        nowMs: created_at == null ? now() : Date.parse(created_at),
        newId: idOfText(line, seen),
      },
    );
  } catch (error) {
    const isMistake = error instanceof ApiError || error instanceof SyntaxError;
    throw isMistake ? new UserError(`Line ${lineNumber}: ${error.message}`, { cause: error }) : error;
  }
}

/** An id derived from the line, the same in every run; equal lines of a file get a number each. */
function idOfText(line: string, seen: Map<string, number>): string {
  const digest = createHash('sha256').update(line).digest('hex').slice(0, 32);
  const number = (seen.get(digest) ?? 0) + 1;
  seen.set(digest, number);
  return `import-${digest}-${number}`;
}
