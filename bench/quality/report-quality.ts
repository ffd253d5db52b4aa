// The report of one build: its numbers, and their distance from the reference where there is one.

import { perplexity } from '@ortler/engine';
import { rounded } from '../rounded.ts';
import { compareAnswers } from './compare-answers.ts';
import { comparePerplexity } from './compare-perplexity.ts';
import { EXTRACTIONS } from './extractions.ts';
import { KEYED_EXTRACTIONS } from './keyed-extractions.ts';
import type { Measured } from './measure-quality.ts';

/** Throws: when the reference has other texts or prompts. */
export function reportQuality(measured: Measured, reference: Measured | undefined) {
  return {
    ...reportPerplexity(measured, reference),
    ...reportAnswers(measured, reference),
    ...reportExtractions(measured),
    ...reportKeyed(measured),
  };
}

function reportPerplexity({ texts }: Measured, reference: Measured | undefined) {
  if (texts.length === 0) return {};
  const value = Number(perplexity(texts).toFixed(4));
  if (reference === undefined || reference.texts.length === 0) return { perplexity: value };
  const { percent, standardError } = comparePerplexity(texts, reference.texts);
  return {
    perplexity: value,
    lossPercent: Number(percent.toFixed(3)),
    lossStandardError: Number(standardError.toFixed(3)),
  };
}

function reportAnswers({ answers }: Measured, reference: Measured | undefined) {
  if (answers.length === 0 || reference === undefined || reference.answers.length === 0) return {};
  const { differences, ...agreement } = compareAnswers(answers, reference.answers);
  return {
    answers: {
      ...agreement,
      differences: differences.map(({ gap, ...place }) => ({ ...place, gap: rounded(gap) })),
    },
  };
}

function reportExtractions({ extractions }: Measured) {
  if (extractions.length === 0) return {};
  const ended = extractions.filter(answer => answer.ended);
  return {
    extractions: {
      count: extractions.length,
      ended: ended.length,
      valid: ended.filter(({ text }) => isJson(text)).length,
      tokens: extractions.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
      endless: EXTRACTIONS.filter((_, index) => !extractions[index]!.ended).map(({ name }) => name),
    },
  };
}

export function reportKeyed({ keyed }: Pick<Measured, 'keyed'>) {
  if (keyed.length === 0) return {};
  const ended = keyed.filter(answer => answer.ended);
  const sum = (count: (answer: (typeof keyed)[number]) => number) =>
    keyed.reduce((total, answer) => total + count(answer), 0);
  return {
    keyed: {
      count: keyed.length,
      ended: ended.length,
      valid: ended.filter(({ isValid }) => isValid).length,
      right: keyed.filter(each => each.rightCount === each.valueCount && each.extraCount === 0).length,
      rightValues: sum(({ rightCount }) => rightCount),
      values: sum(({ valueCount }) => valueCount),
      extraValues: sum(({ extraCount }) => extraCount),
      tokens: sum(({ tokenIds }) => tokenIds.length),
      endless: KEYED_EXTRACTIONS.filter((_, index) => !keyed[index]!.ended).map(({ name }) => name),
    },
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
