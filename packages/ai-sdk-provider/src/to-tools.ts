// Tools and the tool choice of a call -> tools of the engine's request, or of the template alone where none may be called.

import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { ChatTemplateOptions, ToolDefinition, ToolsRequest } from '@ortler/engine';
import { definedValues } from './defined-values.ts';

export interface MappedTools {
  readonly tools?: ToolsRequest;
  /** Shown to the model, which is to call none of them. */
  readonly template?: Pick<ChatTemplateOptions, 'tools'>;
}

/** Tools of other kinds are left out, with a warning of unsupported-settings.ts. */
export function toTools({ tools = [], toolChoice }: LanguageModelV4CallOptions): MappedTools {
  const functions = tools.filter(tool => tool.type === 'function');
  if (functions.length === 0) return {};
  const definitions = functions.map(toDefinition);
  switch (toolChoice?.type) {
    case 'none':
      return { template: { tools: definitions.map(toTemplateTool) } };
    case 'required':
      return { tools: { definitions, choice: 'required' } };
    case 'tool':
      return { tools: { definitions, choice: { name: toolChoice.toolName } } };
    default:
      return { tools: { definitions } };
  }
}

function toDefinition({
  name,
  description,
  inputSchema,
  strict,
}: LanguageModelV4FunctionTool): ToolDefinition {
  return {
    name,
    parameters: inputSchema as NonNullable<ToolDefinition['parameters']>,
    ...definedValues({ description, strict }),
  };
}

const toTemplateTool = ({ strict: _, ...definition }: ToolDefinition) => ({
  type: 'function',
  function: definition,
});
