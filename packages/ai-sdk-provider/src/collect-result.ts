// Stream parts -> the result of a call that does not stream, so that both kinds of call have the same result.

import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';

type FinishPart = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** Reads all parts. Throws: the error of a failed answer. */
export async function collectResult(
  parts: AsyncIterable<LanguageModelV4StreamPart>,
): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = [];
  let start: Pick<LanguageModelV4GenerateResult, 'warnings' | 'response'> = { warnings: [] };
  let finish: FinishPart | undefined;
  for await (const part of parts) {
    switch (part.type) {
      case 'stream-start':
        start = { warnings: part.warnings };
        break;
      case 'response-metadata': {
        const { type: _, ...response } = part;
        start = { ...start, response };
        break;
      }
      case 'text-start':
        content.push({ type: 'text', text: '' });
        break;
      case 'reasoning-start':
        content.push({ type: 'reasoning', text: '' });
        break;
      case 'text-delta':
      case 'reasoning-delta': {
        const last = content.at(-1);
        if (last?.type === 'text' || last?.type === 'reasoning') last.text += part.delta;
        break;
      }
      case 'tool-call':
        content.push(part);
        break;
      case 'error':
        throw part.error;
      case 'finish':
        finish = part;
    }
  }
  if (finish === undefined) throw new Error('The engine ended without a request-finish event.');
  const { type: _, ...end } = finish;
  return { content, ...start, ...end };
}
