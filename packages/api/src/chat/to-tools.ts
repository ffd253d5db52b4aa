// Tools of a chat request -> those of the engine, or variables of the chat template where the model must not call them.

import type { ToolChoice, ToolDefinition, ToolsRequest } from '@ortler/engine';
import type { ChatCompletionRequest, ChatTool } from '@ortler/schemas';
import { ApiError } from '../trpc/errors.ts';

type ToolFields = Pick<ChatCompletionRequest, 'tools' | 'tool_choice' | 'parallel_tool_calls'>;

/**
 * The request with its `tool_choice` filled in. With tool calling that is `auto` beside tools, else `none`.
 * Throws: `malformed_request` for a choice that needs tool calling, `invalid_parameter` for one that needs tools.
 */
export function withToolChoice<Request extends ToolFields>(request: Request, toolCalling: boolean): Request {
  const { tools, tool_choice: choice } = request;
  if (choice === 'none') return request;
  if (!toolCalling) {
    if (choice != null)
      // The schema of a server without tool calling has `none` alone.
      throw new ApiError(
        'malformed_request',
        "tool_choice: Input should be 'none', because tool calling is off on this server. Its operator turns it on with --tool-calling on, or ORTLER_TOOL_CALLING=on.",
        { param: 'tool_choice' },
      );
    return { ...request, tool_choice: 'none' };
  }
  if (tools == null && choice != null && choice !== 'auto')
    throw new ApiError('invalid_parameter', `tool_choice ${nameOf(choice)} needs tools.`, {
      param: 'tool_choice',
    });
  return { ...request, tool_choice: tools == null ? 'none' : (choice ?? 'auto') };
}

/** The tools that the model may call; null: none. */
export function toTools({
  tools,
  tool_choice: choice,
  parallel_tool_calls,
}: ToolFields): ToolsRequest | null {
  if (tools == null || choice == null || choice === 'none') return null;
  return { definitions: tools.map(toDefinition), choice: toChoice(choice), parallel: parallel_tool_calls };
}

/** A tool as the chat template reads it: without `strict`, which is for the grammar alone. */
export function toTemplateTool({ type, function: { name, description, parameters } }: ChatTool) {
  return { type, function: { name, description, parameters } };
}

function toDefinition({ function: { name, description, parameters, strict } }: ChatTool): ToolDefinition {
  return {
    name,
    ...(description !== null && { description }),
    ...(parameters !== null && { parameters }),
    ...(strict === true && { strict }),
  };
}

function toChoice(choice: Exclude<NonNullable<ToolFields['tool_choice']>, 'none'>): ToolChoice {
  return typeof choice === 'string' ? choice : { name: choice.function.name };
}

function nameOf(choice: NonNullable<ToolFields['tool_choice']>): string {
  return typeof choice === 'string' ? choice : choice.function.name;
}
