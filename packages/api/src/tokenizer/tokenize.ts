// Encodes a text or conversation to token ids, exactly as a completion or chat with the same fields does.

import type { Engine } from '@ortler/engine';
import type { TokenizeRequest, TokenizeResult } from '@ortler/schemas';
import { toTemplate } from '../chat/to-generation-request.ts';
import { toTemplateMessages } from '../chat/to-template-messages.ts';
import { checkTemplateValues } from '../chat/validate-chat-request.ts';
import { fromEngineError } from '../generation/engine-error.ts';
import { findModel, withEngine } from '../generation/ready-engine.ts';
import type { Services } from '../ports/services.ts';
import type { CallerContext } from '../trpc/trpc.ts';

/** Throws: `invalid_parameter` for a failing chat template and for text that is too long to encode in time. */
export async function tokenize(
  services: Services,
  request: TokenizeRequest,
  { principal, signal }: Pick<CallerContext, 'principal' | 'signal'>,
): Promise<TokenizeResult> {
  const model = await findModel(services, principal, request.model);
  checkTemplateValues(request);
  return withEngine(model, signal, engine => tokenizeWith(engine, request));
}

async function tokenizeWith(engine: Engine, request: TokenizeRequest): Promise<TokenizeResult> {
  const isText = request.prompt !== undefined;
  try {
    const addSpecialTokens = request.add_special_tokens ?? isText;
    const text = request.prompt ?? (await renderMessages(engine, request));
    const tokens = [...(await engine.encode(text, { addSpecialTokens }))];
    return {
      count: tokens.length,
      max_model_len: engine.info.contextLength,
      tokens,
      token_strs: request.return_token_strs ? [...engine.vocabularyTexts(tokens)] : null,
    };
  } catch (error) {
    throw fromEngineError(error, {
      chat_template: request.chat_template,
      promptField: isText ? 'prompt' : 'messages',
    });
  }
}

function renderMessages(engine: Engine, request: TokenizeRequest): Promise<string> {
  // Special tokens are added where the text is encoded.
  const { messages = [], add_special_tokens: _, ...template } = request;
  return engine.renderChat(toTemplateMessages(messages), toTemplate(template));
}
