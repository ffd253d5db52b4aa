// The reasoning of one request: the model's format, and whether the prompt has opened the reasoning. Decided once, for the
// splitter of the output and for a constraint, which begins to apply after the reasoning.

import type { SubmittedReasoning } from '../protocol/messages.ts';
import type { ChatMessage } from '../request/chat-message.ts';
import type { GenerationRequest } from '../request/generation-request.ts';
import type { ReasoningFormatName } from '../request/reasoning-parser.ts';
import { detokenize } from '../text/detokenizer.ts';
import {
  findReasoningStart,
  REASONING_FORMATS,
  type ReasoningFormat,
  type ReasoningStart,
} from '../text/reasoning/reasoning-format.ts';
import type { ReasoningSplitter, SplitText } from '../text/reasoning/reasoning-splitter.ts';
import { createPlainSplitter, createReasoningSplitter } from '../text/reasoning/split-reasoning.ts';
import type { Tokenizer } from '../text/tokenizer.ts';

export interface RequestReasoning {
  readonly format: ReasoningFormat;
  readonly start: ReasoningStart;
  /** Ids of the format's own special tokens: their text is kept for the splitter. */
  readonly specialIds: ReadonlySet<number>;
}

/** More prompt tokens than the end of any chat template after the last message. A mark is a few tokens long. */
const PROMPT_TAIL_LENGTH = 32;

/** Header of the message with the answer in the format `channels`. Messages of other channels come before it. */
const ANSWER_HEADER = '<|channel|>final<|message|>';

/** Null for models without a reasoning format, and for prompts of text or tokens, whose output stays as it is. */
export function readReasoning(
  name: ReasoningFormatName | null,
  prompt: GenerationRequest['prompt'],
  promptTokenIds: Int32Array,
  tokenizer: Pick<Tokenizer, 'tokenBytes' | 'tokenId'>,
): RequestReasoning | null {
  if (name === null || typeof prompt === 'string' || prompt.messages === undefined) return null;
  const { format, specialTokens } = REASONING_FORMATS[name];
  const tail = detokenize(tokenizer.tokenBytes, [...promptTokenIds.subarray(-PROMPT_TAIL_LENGTH)], {
    skipSpecialTokens: false,
  });
  const continuedText = prompt.template?.continueFinalMessage ? textOf(prompt.messages.at(-1)) : null;
  return {
    format,
    start: findReasoningStart(format, { tail, continuedText }),
    specialIds: new Set(specialTokens.map(text => tokenizer.tokenId(text)).filter(id => id !== undefined)),
  };
}

/** The splitter of one choice. */
export function createSplitter(reasoning: RequestReasoning | null): ReasoningSplitter {
  return reasoning === null
    ? createPlainSplitter()
    : createReasoningSplitter(reasoning.format, reasoning.start);
}

/** Splits new text of a choice; with the last text, held-back text is released. Mutates: `splitter`. */
export function splitDelta(
  splitter: ReasoningSplitter,
  text: string,
  { isLast }: { readonly isLast: boolean },
): SplitText {
  const now = splitter.push(text);
  if (!isLast) return now;
  const rest = splitter.finish();
  return { reasoning: now.reasoning + rest.reasoning, answer: now.answer + rest.answer };
}

/** The reasoning that the constraint leaves free; undefined when the answer begins with the first token. */
export function toSubmittedReasoning(
  { format, start }: RequestReasoning,
  tokenizer: Pick<Tokenizer, 'tokenId'>,
): SubmittedReasoning | undefined {
  if (format.kind === 'channels') return { isOpen: true, ends: encodeTexts([ANSWER_HEADER]) };
  if (start === 'closed') return undefined;
  const ends = encodeTexts(format.ends);
  if (start === 'open') return { isOpen: true, ends };
  // The model can choose only a mark of one token, because the first of several tokens may also begin an answer.
  const startTokenId = format.starts.map(mark => tokenizer.tokenId(mark)).find(id => id !== undefined);
  return startTokenId === undefined ? undefined : { isOpen: false, startTokenId, ends };
}

const encodeTexts = (texts: readonly string[]) => texts.map(text => new TextEncoder().encode(text));

function textOf(message: ChatMessage | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(part => part.text).join('\n');
}
