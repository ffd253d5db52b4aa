// Structured extractions of a model of 135 M parameters, which constraints must hold to the schema.

import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { KEYED_EXTRACTIONS } from '../../bench/quality/keyed-extractions.ts';
import { answer, describeWithModel, SMOLLM2, startEngine } from './real-model-engine.ts';

const LONGEST = 300;

describeWithModel(SMOLLM2, 'structured extractions', () => {
  test('29 of 30 strict answers end within 300 tokens, and those are valid', async () => {
    expect(KEYED_EXTRACTIONS).toHaveLength(30);
    await using engine = await startEngine(SMOLLM2, 'file', { maxSequences: 15, contextLength: 512 });
    const ajv = new Ajv();
    addFormats.default(ajv);
    const ended = await Promise.all(
      KEYED_EXTRACTIONS.map(async ({ name, prompt, schema }) => {
        const { text, isEnded } = await answer(
          engine,
          { messages: [{ role: 'user', content: prompt }] },
          { maxTokens: LONGEST, constraint: { jsonSchema: schema, strict: true } },
        );
        if (isEnded) expect(ajv.validate(schema as object, JSON.parse(text)), `${name}: ${text}`).toBe(true);
        return isEnded;
      }),
    );
    expect(ended.filter(isEnded => isEnded).length).toBeGreaterThanOrEqual(29);
  });
});
