// POST /v1/responses/input_tokens: the length of the prompt that a response would compute.

import type { GenerationRequest } from '@ortler/engine';
import type { ResponseRequest } from '@ortler/schemas';
import { toGenerationRequest } from '../chat/to-generation-request.ts';
import { toTemplateMessages } from '../chat/to-template-messages.ts';
import { withToolChoice } from '../chat/to-tools.ts';
import { validateChatRequest } from '../chat/validate-chat-request.ts';
import { fromEngineError } from '../generation/engine-error.ts';
import { findModel, withEngine } from '../generation/ready-engine.ts';
import type { Services } from '../ports/services.ts';
import { shareOf } from '../team.ts';
import type { CallerContext } from '../trpc/trpc.ts';
import { readFullInput, responseOwner } from './stored-conversation.ts';
import { toChatBody, toChatRequest } from './to-chat-request.ts';
import { toConversation } from './to-conversation.ts';
import { toResponseError } from './to-response-error.ts';

/** Throws: as the start of a response with these fields, before its prompt is computed. */
export async function countInputTokens(
  services: Services,
  { principal, signal }: Pick<CallerContext, 'principal' | 'signal'>,
  request: ResponseRequest,
): Promise<number> {
  const owner = responseOwner(principal);
  const { history, items } = await readFullInput(request, { store: services.responses, owner });
  try {
    const messages = toConversation(request.instructions, history, items);
    const chat = withToolChoice(toChatRequest(toChatBody(request, messages)), services.toolCalling);
    const model = await findModel(services, principal, chat.model);
    validateChatRequest(chat);
    const generation = toGenerationRequest(chat, toTemplateMessages(chat.messages), '');
    const { prompt, tools } = generation;
    const place = { signal, share: shareOf(principal) };
    return await withEngine(model, signal, async engine => {
      try {
        const tokens = await engine.encodePrompt(prompt, { ...place, ...(tools !== undefined && { tools }) });
        return Math.min(tokens.length, longestPrompt(generation, engine.info.contextLength));
      } catch (error) {
        throw fromEngineError(error, chat);
      }
    });
  } catch (error) {
    throw toResponseError(error);
  }
}

/** What truncation leaves of a prompt at most: room for the answer, which has at least one token. */
function longestPrompt(
  { truncatePromptTokens, stop }: Pick<GenerationRequest, 'truncatePromptTokens' | 'stop'>,
  contextLength: number,
): number {
  if (truncatePromptTokens === undefined) return Number.POSITIVE_INFINITY;
  const longest = contextLength - (stop?.maxTokens ?? 1);
  // The response itself is refused, and there is nothing that it would compute.
  return longest < 1 ? Number.POSITIVE_INFINITY : longest;
}
