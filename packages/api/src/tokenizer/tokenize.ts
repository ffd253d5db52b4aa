// Encodes a text or conversation to token ids, exactly as a completion or chat with the same fields does.

import type { EncodePromptOptions, Engine, Prompt, ToolsRequest } from '@ortler/engine';
import { MAX_TOKEN_ID_COUNT, type TokenizeRequest } from '@ortler/schemas';
import { Turns } from '@ortler/worker';
import { toTemplate } from '../chat/to-generation-request.ts';
import { toTemplateMessages } from '../chat/to-template-messages.ts';
import { toTools, withToolChoice } from '../chat/to-tools.ts';
import { checkTemplateValues } from '../chat/validate-chat-request.ts';
import { fromEngineError } from '../generation/engine-error.ts';
import { findModel, withEngine } from '../generation/ready-engine.ts';
import type { Services } from '../ports/services.ts';
import { shareOf } from '../team.ts';
import type { CallerContext } from '../trpc/trpc.ts';

/** Tokens that are written between two pauses: a few milliseconds. */
const TOKENS_PER_SLICE = 8_192;

/**
 * Returns the UTF-8 of a `tokenizeResult`.
 * Throws: `invalid_parameter` for a failing chat template and for text that is too long to encode in time or has too
 * many tokens.
 */
export async function tokenize(
  services: Services,
  request: TokenizeRequest,
  { principal, signal }: Pick<CallerContext, 'principal' | 'signal'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const model = await findModel(services, principal, request.model);
  checkTemplateValues(request);
  const asked = toPrompt(request, services.toolCalling);
  const place = { signal, share: shareOf(principal) };
  return withEngine(model, signal, engine => tokenizeWith(engine, request, asked, place));
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
  place: Pick<EncodePromptOptions, 'signal' | 'share'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const isText = request.prompt !== undefined;
  try {
    const tokens = await engine.encodePrompt(prompt, {
      ...place,
      maxTokenCount: MAX_TOKEN_ID_COUNT,
      ...(tools !== null && { tools }),
    });
    const texts = request.return_token_strs
      ? await joinInTurns(tokens, some => engine.vocabularyTexts(some))
      : null;
    const ids = await joinInTurns(tokens, some => some);
    const start = `{"count":${tokens.length},"max_model_len":${engine.info.contextLength},"tokens":[`;
    const end = texts === null ? '],"token_strs":null}' : `],"token_strs":[${texts}]}`;
    return Buffer.concat([Buffer.from(start), Buffer.from(ids), Buffer.from(end)]);
  } catch (error) {
    throw fromEngineError(error, {
      chat_template: request.chat_template,
      promptField: isText ? 'prompt' : 'messages',
    });
  }
}

/** The items of a JSON list, written in slices, because a quarter of a million takes tenths of a second. */
async function joinInTurns(
  tokens: readonly number[],
  toItems: (some: readonly number[]) => readonly unknown[],
): Promise<string> {
  const turns = new Turns();
  const parts: string[] = [];
  for (let start = 0; start < tokens.length; start += TOKENS_PER_SLICE) {
    await turns.pause();
    parts.push(JSON.stringify(toItems(tokens.slice(start, start + TOKENS_PER_SLICE))).slice(1, -1));
  }
  return parts.join(',');
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
