import { LETTER_COLUMN_COUNT, LETTER_ENDS, letterVocabulary } from '@ortler/structured-output/testing';
import { expect, it } from 'vitest';
import { ScriptedModel } from '../../testing/scripted-model.ts';
import { submission } from '../../testing/submission.ts';
import { EngineCore } from '../engine-core.ts';
import type { RunnerRow, RunOptions } from '../runners/model-runner.ts';
import { HostStepRunner } from './host-step-runner.ts';

/** Notes for each call of the model how many rows it has and whether it may be in the thread of the step loop. */
class NotingModel extends ScriptedModel {
  readonly notes: string[] = [];

  override async run(rows: readonly RunnerRow[], options?: RunOptions): Promise<Float32Array> {
    this.notes.push(`${rows.length} ${options?.mayBlock === true ? 'may block' : 'must not block'}`);
    return super.run(rows);
  }
}

const free = (id: number, maxTokens: number) =>
  submission(id, { promptTokenIds: Int32Array.of(5, 6, 7), maxTokens });

const constrained = (id: number, maxTokens: number) => ({
  ...free(id, maxTokens),
  eosTokenIds: [LETTER_ENDS[0]],
  constraint: { grammar: { kind: 'regex', text: 'a{9}' } as const },
});

async function notesOf(...requests: readonly ReturnType<typeof submission>[]): Promise<string[]> {
  const model = new NotingModel({ vocabSize: LETTER_COLUMN_COUNT, slotCount: 4, logitsLimit: 12 });
  const core = new EngineCore(new HostStepRunner(model), { prefillChunkLength: 16, maxQueuedSequences: 8 });
  core.setVocabulary(letterVocabulary);
  for (const request of requests) core.submit(request);
  while (core.hasWork) await core.step();
  await core.close();
  return model.notes;
}

it('lets the model compute in its thread while no sequence of the step has a constraint', async () => {
  expect(await notesOf(free(1, 3), free(2, 3))).toEqual(Array(3).fill('2 may block'));
});

it('leaves its thread free for masks while a sequence of the step has a constraint, and only then', async () => {
  expect(await notesOf(constrained(1, 2))).toEqual(Array(2).fill('1 must not block'));
  expect(await notesOf(free(1, 4), constrained(2, 2))).toEqual([
    ...Array(2).fill('2 must not block'),
    ...Array(2).fill('1 may block'),
  ]);
});
