// Encodes a text or conversation to token ids, exactly as a completion or chat with the same fields does.

import type { Engine, Prompt, ToolsRequest } from '@ortler/engine';
import type { TokenizeRequest, TokenizeResult } from '@ortler/schemas';
import { toTemplate } from '../chat/to-generation-request.ts';
import { toTemplateMessages } from '../chat/to-template-messages.ts';
import { toTools, withToolChoice } from '../chat/to-tools.ts';
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
  const asked = toPrompt(request, services.toolCalling);
  return withEngine(model, signal, engine => tokenizeWith(engine, request, asked));
}

interface AskedPrompt {
  readonly prompt: Prompt;
  /** Tools that a chat with the same fields could call. */
  readonly tools: ToolsRequest | null;
}

async function tokenizeWith(
  engine: Engine,
  request: TokenizeRequest,
  { prompt, tools }: AskedPrompt,
): Promise<TokenizeResult> {
  const isText = request.prompt !== undefined;
  try {
    const tokens = [...(await engine.encodePrompt(prompt, tools === null ? {} : { tools }))];
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

/** The prompt of a completion or a chat. Throws: `invalid_parameter` for a `tool_choice` without tools. */
function toPrompt(request: TokenizeRequest, toolCalling: boolean): AskedPrompt {
  const { prompt: text, add_special_tokens: addSpecialTokens = text !== undefined } = request;
  if (text !== undefined) return { prompt: { text, addSpecialTokens }, tools: null };
  const { messages = [], ...fields } = request;
  // Without tool calling a chat shows tools to its template alone, whatever is asked for here.
  const tools = toolCalling ? toTools(withToolChoice({ ...fields, parallel_tool_calls: true }, true)) : null;
  const template = toTemplate({
    ...fields,
    add_special_tokens: addSpecialTokens,
    tools: tools === null ? fields.tools : null,
  });
  return { prompt: { messages: toTemplateMessages(messages), template }, tools };
}
