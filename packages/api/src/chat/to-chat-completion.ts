// Engine events -> the whole reply of a chat completion. Every field of the wire is present, with null where this
// server has nothing to say, because clients and their types expect the keys.

import type { GenerationEvent, TokenUsage } from '@ortler/engine';
import type {
  ChatCompletion,
  ChatCompletionRequest,
  ChatMessageToolCall,
  TokenLogprob,
} from '@ortler/schemas';
import { toConstraintPosition } from '../generation/to-constraint-position.ts';
import { toFinishReason } from '../generation/to-finish-reason.ts';
import {
  countPromptLogprobs,
  refuseTooManyLogprobs,
  toPromptLogprobs,
} from '../generation/to-prompt-logprobs.ts';
import { toWholeUsage } from '../generation/to-usage.ts';
import { type ReplyDelta, type ReplyForm, toReplyDelta } from './reply-delta.ts';
import type { ReplyHeader } from './start-generation.ts';

type Choice = ChatCompletion['choices'][number];
type ReplyRequest = Pick<ChatCompletionRequest, 'n' | 'return_token_ids' | 'include_reasoning'>;

interface OpenChoice {
  content: string;
  reasoning: string;
  toolCalls: ChatMessageToolCall[];
  tokenIds: number[] | null;
  logprobs: TokenLogprob[] | null;
  finish: ReplyDelta['finish'];
}

/** Reads all events and builds the body. Throws: errors of the events. */
export async function toChatCompletion(
  header: ReplyHeader,
  events: AsyncIterable<GenerationEvent>,
  { request, form }: { readonly request: ReplyRequest; readonly form: ReplyForm },
): Promise<ChatCompletion> {
  const choices = Array.from({ length: request.n }, (): OpenChoice => {
    return { content: '', reasoning: '', toolCalls: [], tokenIds: null, logprobs: null, finish: null };
  });
  let promptTokenIds: readonly number[] = [];
  let promptLogprobs: ChatCompletion['prompt_logprobs'] = null;
  let usage: TokenUsage | undefined;
  let reasoningTokenCount = 0;
  for await (const event of events) {
    if (event.kind === 'prompt-ready') {
      promptTokenIds = event.promptTokenIds;
      refuseTooManyLogprobs(countPromptLogprobs(event.promptLogprobs ?? []));
      promptLogprobs = event.promptLogprobs ? await toPromptLogprobs(event.promptLogprobs) : null;
    } else if (event.kind === 'request-finish') {
      usage = event.usage;
    } else {
      const delta = toReplyDelta(event, form);
      if (delta.isReasoning) reasoningTokenCount += delta.tokenCount;
      addDelta(choices[event.choiceIndex]!, delta);
    }
  }
  if (usage === undefined) throw new Error('The engine ended a generation without its usage.');
  return {
    id: header.id,
    object: 'chat.completion',
    created: header.created,
    model: header.model,
    choices: choices.map((choice, index) => toChoice(choice, index, header, request)),
    service_tier: null,
    system_fingerprint: null,
    usage: toWholeUsage(usage, form.countsReasoning ? reasoningTokenCount : null),
    prompt_logprobs: promptLogprobs,
    prompt_token_ids: request.return_token_ids === true ? [...promptTokenIds] : null,
    kv_transfer_params: null,
  };
}

/** Mutates: `choice`. */
function addDelta(choice: OpenChoice, delta: ReplyDelta): void {
  choice.content += delta.content;
  choice.reasoning += delta.reasoning;
  for (const { index, start, arguments: args } of delta.toolCalls) {
    if (start !== undefined)
      choice.toolCalls[index] = {
        id: start.id,
        type: 'function',
        function: { name: start.name, arguments: '' },
      };
    choice.toolCalls[index]!.function.arguments += args;
  }
  if (delta.tokenIds !== null) {
    choice.tokenIds ??= [];
    choice.tokenIds.push(...delta.tokenIds);
  }
  if (delta.logprobs !== null) {
    choice.logprobs ??= [];
    choice.logprobs.push(...(delta.logprobs.content ?? []));
  }
  choice.finish ??= delta.finish;
}

function toChoice(choice: OpenChoice, index: number, header: ReplyHeader, request: ReplyRequest): Choice {
  const { content, reasoning, toolCalls, finish, logprobs, tokenIds } = choice;
  if (finish === null) throw new Error(`The engine never ended choice ${index}.`);
  // A model that was cut off in its reasoning, or only calls tools, has given no text, which is not the same as an empty one.
  const answer = content === '' && (reasoning !== '' || toolCalls.length > 0) ? null : content;
  return {
    index,
    message: {
      role: header.role,
      content: header.echoedText === '' ? answer : header.echoedText + content,
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      tool_calls: toolCalls,
      reasoning: reasoning === '' || !request.include_reasoning ? null : reasoning,
    },
    logprobs: logprobs === null ? null : { content: logprobs },
    finish_reason: toFinishReason(finish.reason),
    stop_reason: finish.stopReason,
    ...toConstraintPosition(finish),
    token_ids: tokenIds,
  };
}
