// Engine events of all prompts -> the whole reply of a completion. Every field of the wire is present, with null where
// this server has nothing to say.

import type { Engine, PromptReadyEvent, TokenUsage } from '@ortler/engine';
import type { Completion, CompletionChoice, CompletionLogprobs, CompletionRequest } from '@ortler/schemas';
import {
  countPromptLogprobs,
  refuseTooManyLogprobs,
  toPromptLogprobs,
} from '../generation/to-prompt-logprobs.ts';
import { toWholeUsage } from '../generation/to-usage.ts';
import { CompletionChoiceWriter } from './completion-choice-writer.ts';
import type { CompletionHeader, PromptEvent } from './start-completion.ts';
import { addUsage, NO_USAGE } from './sum-usage.ts';

interface OpenChoice {
  readonly writer: CompletionChoiceWriter;
  readonly body: CompletionChoice;
}

/** Reads all events and builds the body. Throws: errors of the events. */
export async function toCompletion(
  header: CompletionHeader,
  events: AsyncIterable<PromptEvent>,
  { engine, request }: { readonly engine: Pick<Engine, 'decode'>; readonly request: CompletionRequest },
): Promise<Completion> {
  const choices: OpenChoice[] = [];
  let usage: TokenUsage = NO_USAGE;
  let promptLogprobCount = 0;
  for await (const { index: promptIndex, value: event } of events) {
    if (event.kind === 'prompt-ready') {
      const prompt = { given: request.prompt[promptIndex]!, ready: event };
      // Every choice has those of its prompt.
      promptLogprobCount += countPromptLogprobs(event.promptLogprobs ?? []) * request.n;
      refuseTooManyLogprobs(promptLogprobCount);
      const ofPrompt =
        event.promptLogprobs === undefined ? null : await toPromptLogprobs(event.promptLogprobs);
      for (let choiceIndex = 0; choiceIndex < request.n; choiceIndex++) {
        const index = promptIndex * request.n + choiceIndex;
        const writer = new CompletionChoiceWriter(request, prompt, engine);
        choices[index] = { writer, body: emptyChoice(index, prompt.ready, ofPrompt, request) };
      }
    } else if (event.kind === 'request-finish') {
      usage = addUsage(usage, event.usage);
    } else {
      const { writer, body } = choices[promptIndex * request.n + event.choiceIndex]!;
      const { text, logprobs } = writer.write(event);
      body.text += text;
      for (const id of event.tokenIds) body.token_ids?.push(id);
      if (logprobs !== null && body.logprobs !== null) append(body.logprobs, logprobs);
      Object.assign(body, writer.end(event));
    }
  }
  return {
    ...header,
    choices: choices.map(({ body }) => body),
    service_tier: null,
    system_fingerprint: null,
    usage: toWholeUsage(usage),
    kv_transfer_params: null,
  };
}

function emptyChoice(
  index: number,
  { promptTokenIds }: PromptReadyEvent,
  promptLogprobs: CompletionChoice['prompt_logprobs'],
  { logprobs, return_token_ids: withIds }: CompletionRequest,
): CompletionChoice {
  return {
    index,
    text: '',
    logprobs: logprobs == null ? null : { text_offset: [], token_logprobs: [], tokens: [], top_logprobs: [] },
    finish_reason: 'stop',
    stop_reason: null,
    token_ids: withIds ? [] : null,
    prompt_logprobs: promptLogprobs,
    prompt_token_ids: withIds ? [...promptTokenIds] : null,
  };
}

// Long prompts have more tokens than a call may have arguments, so lists are appended one by one.
function append(whole: CompletionLogprobs, part: CompletionLogprobs): void {
  for (const [index, token] of part.tokens.entries()) {
    whole.text_offset.push(part.text_offset[index]!);
    whole.token_logprobs.push(part.token_logprobs[index]!);
    whole.tokens.push(token);
    whole.top_logprobs.push(part.top_logprobs[index]!);
  }
}
