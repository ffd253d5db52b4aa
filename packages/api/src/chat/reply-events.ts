// Events of the engine -> events of a reply, the same for whole and streamed replies: thinking split off, values in
// the form of the wire. What is joined later or sent at once is decided behind this file.

import type { Engine, GenerationEvent } from '@ortler/engine';
import type { ChatCompletionRequest, ChoiceLogprobs, FinishReason } from '@ortler/schemas';
import { toStopReason } from '../to-stop-reason.ts';
import {
  endsInThinking,
  opensThinking,
  REASONING_FORMATS,
  type ReasoningFormatName,
} from './reasoning/reasoning-format.ts';
import type { ReasoningSplitter } from './reasoning/reasoning-splitter.ts';
import { createReasoningSplitter } from './reasoning/split-reasoning.ts';
import { toChoiceLogprobs } from './to-logprobs.ts';

/** What is new in one choice. */
export interface ReplyDelta {
  readonly kind: 'delta';
  readonly choiceIndex: number;
  readonly content: string;
  readonly reasoning: string;
  /** The model is thinking: the text to come is reasoning. */
  readonly isThinking: boolean;
  readonly tokenCount: number;
  /** Null unless asked for. */
  readonly tokenIds: readonly number[] | null;
  /** Null unless asked for. */
  readonly logprobs: ChoiceLogprobs | null;
  /** Set on the last delta of a choice. */
  readonly finish: { readonly reason: FinishReason; readonly stopReason: string | number | null } | null;
}

export type ReplyEvent =
  | Extract<GenerationEvent, { readonly kind: 'prompt-ready' | 'request-finish' }>
  | ReplyDelta;

export interface ReplyEventsOptions {
  readonly engine: Pick<Engine, 'decode'>;
  readonly request: ChatCompletionRequest;
  /** How the model marks its thinking; null when it does not think. */
  readonly reasoningFormat: ReasoningFormatName | null;
  /** Text of the last message, when the answer continues it. */
  readonly continuedText: string | null;
}

/** Prompt tokens that surely hold the end of a template: an opening of the thinking is a few tokens long. */
const PROMPT_TAIL_LENGTH = 32;

/** Reads the engine's events. Throws: whatever they throw. */
export async function* toReplyEvents(
  events: AsyncIterable<GenerationEvent>,
  { engine, request, reasoningFormat, continuedText }: ReplyEventsOptions,
): AsyncGenerator<ReplyEvent, void, undefined> {
  const form = { topCount: request.top_logprobs, asTokenIds: request.return_tokens_as_token_ids === true };
  // Tokens and their probabilities would tell the thinking that the caller does not want.
  const hidesThinking = reasoningFormat !== null && !request.include_reasoning;
  const withLogprobs = request.logprobs && !hidesThinking;
  const withIds = request.return_token_ids === true && !hidesThinking;
  let splitters: ReasoningSplitter[] = [];
  for await (const event of events) {
    if (event.kind === 'request-finish') {
      yield event;
    } else if (event.kind === 'prompt-ready') {
      if (reasoningFormat !== null) {
        const { format } = REASONING_FORMATS[reasoningFormat];
        const tail = event.promptTokenIds.slice(-PROMPT_TAIL_LENGTH);
        const isOpen =
          continuedText === null
            ? opensThinking(format, engine.decode(tail))
            : endsInThinking(format, continuedText);
        splitters = Array.from({ length: request.n }, () => createReasoningSplitter(format, isOpen));
      }
      yield event;
    } else {
      const { choiceIndex, text, tokenIds, logprobs } = event;
      const isLast = event.kind === 'choice-finish';
      const split = splitText(splitters[choiceIndex], text, isLast);
      yield {
        kind: 'delta',
        choiceIndex,
        content: split.content,
        reasoning: split.reasoning,
        isThinking: splitters[choiceIndex]?.isThinking ?? false,
        tokenCount: tokenIds.length,
        tokenIds: withIds ? tokenIds : null,
        logprobs: withLogprobs ? toChoiceLogprobs(logprobs ?? [], form) : null,
        finish: isLast ? { reason: event.finishReason, stopReason: toStopReason(event) } : null,
      };
    }
  }
}

function splitText(splitter: ReasoningSplitter | undefined, text: string, isLast: boolean) {
  if (splitter === undefined) return { reasoning: '', content: text };
  const now = splitter.push(text);
  if (!isLast) return now;
  const rest = splitter.finish();
  return { reasoning: now.reasoning + rest.reasoning, content: now.content + rest.content };
}
