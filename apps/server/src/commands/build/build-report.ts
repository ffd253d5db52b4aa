// `ortler build --report`: what a build lost. The error of each matrix as it was written, and the perplexity of the built model.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createEngine, perplexity, scoreTexts } from '@ortler/engine';
import type { ModelManifest } from '@ortler/engine/graph-contract';
import type { WrittenMatrix } from '@ortler/model-builder';
import { alignColumns } from '../align-columns.ts';
import { UserError } from '../user-error.ts';

/** Shipped beside `src` and `dist`. */
const DEFAULT_TEXT = new URL('../../../report-text.txt', import.meta.url);

/** Longest context of the perplexity, so that its cache is small whatever the model's is. Unit: tokens. */
const CONTEXT_LENGTH = 1024;

export interface ReportText {
  /** How the report names it. */
  readonly name: string;
  readonly paragraphs: readonly string[];
}

/** Throws: `UserError` for a file that cannot be read or holds no text. */
export async function readReportText(file: string | undefined): Promise<ReportText> {
  const content = await readFile(file ?? DEFAULT_TEXT, 'utf8').catch((cause: unknown) => {
    throw new UserError(`${file ?? DEFAULT_TEXT.pathname} cannot be read, for --report-text.`, { cause });
  });
  const paragraphs = content
    .split(/\n\s*\n/)
    .map(paragraph => paragraph.trim())
    .filter(paragraph => paragraph !== '');
  if (paragraphs.length === 0) throw new UserError(`${file} holds no text, for --report-text.`);
  return { name: file ?? 'the default text', paragraphs };
}

/** A table of all matrices and its sums. */
export async function reportMatrices(matrices: readonly WrittenMatrix[], modelDir: string): Promise<string> {
  const size = `Size of graph and weights: ${megabytes(await graphBytes(modelDir))}\n`;
  if (matrices.length === 0)
    return `\nErrors of matrices are not measured, because the graph is for ONNX Runtime's operators.\n${size}`;
  const rows = [
    ['matrix', 'format', 'bits per weight', 'error'],
    ...matrices.map(({ name, format, fileTypes, bytes, weightCount, relativeError }) => [
      name,
      fileTypes.length === 0 ? format : `${format}, was ${fileTypes.join(' and ')}`,
      ((8 * bytes) / weightCount).toFixed(2),
      `${(100 * relativeError).toFixed(2)} %`,
    ]),
  ];
  const bytes = matrices.reduce((sum, matrix) => sum + matrix.bytes, 0);
  const weightCount = matrices.reduce((sum, matrix) => sum + matrix.weightCount, 0);
  const bits = ((8 * bytes) / weightCount).toFixed(2);
  return `
The error is the root mean square of the differences between written and original weights, relative to that of the weights.

${alignColumns(rows, 2).join('\n')}

All ${matrices.length} matrices: ${bits} bits per weight, ${megabytes(bytes)}
${size}`;
}

/**
 * Runs the model on the text, on the CPU. Throws: as `createEngine` and `Engine.generate`, and `UserError` for a text of less
 * than two tokens.
 */
export async function measurePerplexity(
  modelDir: string,
  { contextLength }: Pick<ModelManifest, 'contextLength'>,
  { name, paragraphs }: ReportText,
): Promise<string> {
  const engine = await createEngine({
    modelDir,
    link: 'worker',
    device: 'cpu',
    maxSequences: 1,
    contextLength: Math.min(contextLength, CONTEXT_LENGTH),
    prefixCaching: false,
    modelDefaults: false,
    tuning: { speculativeDecoding: 'off' },
  });
  try {
    // One token less than the context, because each text is followed by a token that the engine generates.
    const texts = await scoreTexts(engine, paragraphs, engine.info.contextLength - 1);
    const tokenCount = texts.reduce((sum, { tokenIds }) => sum + Math.max(0, tokenIds.length - 1), 0);
    if (tokenCount === 0) throw new UserError(`${name} has less than two tokens, for --report-text.`);
    const value = perplexity(texts).toFixed(3);
    return `Perplexity: ${value} on ${tokenCount.toLocaleString('en')} tokens of ${name}; lower is better, and only the same text is comparable\n`;
  } finally {
    await engine.close();
  }
}

async function graphBytes(modelDir: string): Promise<number> {
  const names = (await readdir(modelDir)).filter(name => /\.onnx(\.data)?$/.test(name));
  const sizes = await Promise.all(names.map(async name => (await stat(join(modelDir, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
