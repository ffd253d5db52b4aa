import { createFakeEngine } from '@ortler/api/testing';
import { ModelBuildError } from '@ortler/model-builder';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createModelLog } from './log-models.ts';
import type { CatalogEvent } from './model-catalog.ts';

const READY: CatalogEvent = {
  kind: 'ready',
  modelId: 'a',
  engine: createFakeEngine({ info: { templateNote: 'It is broken.', deviceNote: 'It is slow.' } }),
};
const FAILED: CatalogEvent = {
  kind: 'failed',
  modelId: 'a',
  error: new ModelBuildError('source_invalid', 'It is missing.'),
};
const FALLBACK = { device: 'cpu', isFallback: true, note: 'no driver' } as const;

function logged(answer: 'shown' | undefined): readonly string[] {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: line => void lines.push(line) });
  const log = createModelLog(
    logger,
    () => answer,
    () => answer,
  );
  for (const event of [READY, FAILED]) log.onEvent(event);
  log.onDevice(FALLBACK);
  return lines.map(line => JSON.parse(line).msg);
}

it('has failures and notes that no person was shown, and no others', () => {
  expect(logged(undefined)).toEqual([
    'the model runs slower than it could',
    expect.stringContaining('a chat template of the model is broken'),
    'model could not be loaded',
    'GPU not usable, models run on the CPU',
  ]);
  expect(logged('shown')).toEqual([]);
});
