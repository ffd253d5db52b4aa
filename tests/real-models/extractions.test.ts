// Structured extractions of a model of 135 M parameters, which constraints must hold to the schema.

import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { EXTRACTIONS } from '../../bench/quality/extractions.ts';
import { answer, describeWithModel, SMOLLM2, startEngine } from './real-model-engine.ts';

/** Of schemas that allow no other properties. */
const NAMES = ['order 1', 'order 2', 'review 1', 'review 3', 'review 4'];
const LONGEST = 300;

describeWithModel(SMOLLM2, 'structured extractions', () => {
  test('answers end within 300 tokens and are valid', async () => {
    await using engine = await startEngine(SMOLLM2, 'file', {
      maxSequences: NAMES.length,
      contextLength: 512,
    });
    const tasks = EXTRACTIONS.filter(({ name }) => NAMES.includes(name));
    expect(tasks).toHaveLength(NAMES.length);
    const ajv = new Ajv();
    await Promise.all(
      tasks.map(async ({ name, prompt, schema }) => {
        const messages = [{ role: 'user', content: prompt } as const];
        const { text, isEnded } = await answer(
          engine,
          { messages },
          { maxTokens: LONGEST, constraint: { jsonSchema: schema } },
        );
        expect(isEnded, `${name}: ${text}`).toBe(true);
        expect(ajv.validate(schema as object, JSON.parse(text)), `${name}: ${text}`).toBe(true);
      }),
    );
  });
});
