// A token delta of the engine -> a delta of a chat reply, in values of the wire. Whole and streamed replies share it.

import type { TokenDeltaEvent, ToolCallDelta } from '@ortler/engine';
import type { ChatCompletionRequest, ChoiceLogprobs } from '@ortler/schemas';
import type { ReplyFinish } from '../generation/to-finish-reason.ts';
import { type LogprobsForm, toChoiceLogprobs } from './to-logprobs.ts';
import { toTools } from './to-tools.ts';

/** New output of one choice. */
export interface ReplyDelta {
  readonly choiceIndex: number;
  readonly content: string;
  readonly reasoning: string;
  /** Why the model does not answer. Only of other servers; an engine never tells it from an answer. */
  readonly refusal: string;
  /** The tokens are of the reasoning, its marks included. */
  readonly isReasoning: boolean;
  /** New text of tool calls, mostly empty. */
  readonly toolCalls: readonly ToolCallDelta[];
  readonly tokenCount: number;
  /** Null unless asked for. */
  readonly tokenIds: readonly number[] | null;
  /** Null unless asked for. */
  readonly logprobs: ChoiceLogprobs | null;
  /** Set on the last delta of a choice. */
  readonly finish: ReplyFinish | null;
}

/** Parts of a delta that a request asked for. */
export interface ReplyForm {
  readonly withIds: boolean;
  /** Null: without log probabilities. */
  readonly logprobs: LogprobsForm | null;
  /** Marks of reasoning or calls are taken out of the text: a token without text of its own is not a chunk. */
  readonly hasMarks: boolean;
  /** Each token is known to be of the reasoning or of the answer. In a beam search it is not. */
  readonly countsReasoning: boolean;
}

/** @param canReason The model has a reasoning format. */
export function toReplyForm(
  request: ChatCompletionRequest,
  { canReason }: { readonly canReason: boolean },
): ReplyForm {
  // Tokens and their probabilities would show the reasoning that the caller does not want.
  const hidesReasoning = canReason && !request.include_reasoning;
  return {
    withIds: request.return_token_ids === true && !hidesReasoning,
    logprobs:
      request.logprobs && !hidesReasoning
        ? { topCount: request.top_logprobs, asTokenIds: request.return_tokens_as_token_ids === true }
        : null,
    hasMarks: canReason || toTools(request) !== null,
    countsReasoning: canReason && !request.use_beam_search,
  };
}

/** The delta in the form that was asked for. */
export function toReplyDelta(event: TokenDeltaEvent, { withIds, logprobs: form }: ReplyForm): ReplyDelta {
  const { choiceIndex, text, reasoning, isReasoning, toolCalls = [], tokenIds, logprobs, finish } = event;
  return {
    choiceIndex,
    content: text,
    reasoning,
    refusal: '',
    isReasoning,
    toolCalls,
    tokenCount: tokenIds.length,
    tokenIds: withIds ? tokenIds : null,
    logprobs: form === null ? null : toChoiceLogprobs(logprobs ?? [], form),
    finish,
  };
}
