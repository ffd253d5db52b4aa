// Fields of older clients that are refused by name, because their senders count on what the fields did.

import { z } from 'zod';

export const removedConstraintFields = {
  guided_json: removedField('guided_json', 'structured_outputs.json'),
  guided_regex: removedField('guided_regex', 'structured_outputs.regex'),
  guided_choice: removedField('guided_choice', 'structured_outputs.choice'),
  guided_grammar: removedField('guided_grammar', 'structured_outputs.grammar'),
} as const;

/** Of a chat, before there were tools. */
export const removedToolFields = {
  functions: removedField('functions', 'tools'),
  function_call: removedField('function_call', 'tool_choice'),
} as const;

function removedField(name: string, replacement: string) {
  return z
    .null({ error: `${name} is not supported; use ${replacement}` })
    .optional()
    .describe(`Refused: use \`${replacement}\`.`)
    .meta({ deprecated: true });
}
