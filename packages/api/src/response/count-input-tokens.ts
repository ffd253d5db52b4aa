// POST /v1/responses/input_tokens: the length of the prompt that a response would compute.

import type { ResponseRequest } from '@ortler/schemas';
import { toGenerationRequest } from '../chat/to-generation-request.ts';
import { toTemplateMessages } from '../chat/to-template-messages.ts';
import { withToolChoice } from '../chat/to-tools.ts';
import { validateChatRequest } from '../chat/validate-chat-request.ts';
import { fromEngineError } from '../generation/engine-error.ts';
import { findModel, withEngine } from '../generation/ready-engine.ts';
import type { Services } from '../ports/services.ts';
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
    const { prompt, tools } = toGenerationRequest(chat, toTemplateMessages(chat.messages), '');
    return await withEngine(model, signal, async engine => {
      try {
        return (await engine.encodePrompt(prompt, tools === undefined ? {} : { tools })).length;
      } catch (error) {
        throw fromEngineError(error, chat);
      }
    });
  } catch (error) {
    throw toResponseError(error);
  }
}
