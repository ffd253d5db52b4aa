// Everything the benchmark measures of one build, without comparison.

import type { Engine } from '@ortler/engine';
import { type ScoredText, scoreTexts } from '@ortler/engine';
import { createJsonSchemaChecker } from '@ortler/structured-output';
import { type Answer, answer } from './answer.ts';
import { EXTRACTIONS } from './extractions.ts';
import { type JudgedExtraction, judgeExtraction } from './judge-extraction.ts';
import { KEYED_EXTRACTIONS } from './keyed-extractions.ts';
import { PROMPTS } from './prompts.ts';

export const PARTS = ['perplexity', 'answers', 'extractions', 'keyed'] as const;
export type Part = (typeof PARTS)[number];

/** A part that was not measured is empty. */
export interface Measured {
  readonly texts: readonly ScoredText[];
  /** To `PROMPTS`, in their order. */
  readonly answers: readonly Answer[];
  /** To `EXTRACTIONS`, in their order. */
  readonly extractions: readonly Answer[];
  /** To `KEYED_EXTRACTIONS`, in their order. */
  readonly keyed: readonly (Answer & JudgedExtraction)[];
}

const ANSWER_LENGTH = 64;
export const EXTRACTION_LENGTH = 300;

/** Throws: as `Engine.generate`. */
export async function measureQuality(
  engine: Engine,
  texts: readonly string[],
  parts: readonly Part[],
): Promise<Measured> {
  const answers: Answer[] = [];
  const extractions: Answer[] = [];
  const scored = parts.includes('perplexity') ? await scoreTexts(engine, texts) : [];
  if (parts.includes('answers')) {
    for (const prompt of PROMPTS) answers.push(await answer(engine, prompt, { maxTokens: ANSWER_LENGTH }));
  }
  if (parts.includes('extractions')) {
    for (const { prompt, schema } of EXTRACTIONS) {
      const constraint = { jsonSchema: schema };
      extractions.push(await answer(engine, prompt, { maxTokens: EXTRACTION_LENGTH, constraint }));
    }
  }
  const keyed = parts.includes('keyed') ? await measureKeyed(engine) : [];
  return { texts: scored, answers, extractions, keyed };
}

async function measureKeyed(engine: Engine): Promise<Measured['keyed']> {
  const checker = createJsonSchemaChecker();
  const keyed: Measured['keyed'][number][] = [];
  try {
    for (const extraction of KEYED_EXTRACTIONS) {
      const constraint = { jsonSchema: extraction.schema, strict: true };
      const given = await answer(engine, extraction.prompt, { maxTokens: EXTRACTION_LENGTH, constraint });
      keyed.push({ ...given, ...(await judgeExtraction(given, extraction, checker)) });
    }
  } finally {
    await checker.close();
  }
  return keyed;
}
