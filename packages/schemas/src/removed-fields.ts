// Fields of older clients and of other endpoints that are refused by name, because their senders count on what the fields do.

import { z } from 'zod';

export const removedConstraintFields = {
  guided_json: removedField('guided_json', 'structured_outputs.json'),
  guided_regex: removedField('guided_regex', 'structured_outputs.regex'),
  guided_choice: removedField('guided_choice', 'structured_outputs.choice'),
  guided_grammar: removedField('guided_grammar', 'structured_outputs.grammar'),
} as const;

/** Fields of chats before there were tools. */
export const removedToolFields = {
  functions: removedField('functions', 'tools'),
  function_call: removedField('function_call', 'tool_choice'),
} as const;

/** Fields of chats for which responses have another field. */
export const movedToResponseFields = {
  messages: removedField('messages', 'input'),
  max_tokens: removedField('max_tokens', 'max_output_tokens'),
  max_completion_tokens: removedField('max_completion_tokens', 'max_output_tokens'),
  response_format: removedField('response_format', 'text.format'),
  reasoning_effort: removedField('reasoning_effort', 'reasoning.effort'),
} as const;

/** Fields of chats for which completions have another field. */
export const movedToCompletionFields = {
  max_completion_tokens: removedField('max_completion_tokens', 'max_tokens'),
} as const;

function removedField(name: string, replacement: string) {
  return z
    .null({ error: `${name} is not supported; use ${replacement}` })
    .optional()
    .describe(`Refused: use \`${replacement}\`.`)
    .meta({ deprecated: true });
}
