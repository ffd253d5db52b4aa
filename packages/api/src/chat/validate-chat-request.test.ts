import { chatCompletionRequest } from '@ortler/schemas';
import { expect, it } from 'vitest';
import { MAX_TEMPLATE_VALUES, validateChatRequest } from './validate-chat-request.ts';

function validate(fields: object): void {
  validateChatRequest(chatCompletionRequest.parse({ messages: [{ role: 'user', content: 'a' }], ...fields }));
}

it.each<[string, (values: readonly number[]) => unknown, number]>([
  ['chat_template_kwargs', a => ({ a }), 2],
  ['documents', a => [{ a }], 3],
  // The tool, its type, its function with name, description and parameters, the list and the list of tools.
  ['tools', a => [{ function: { name: 'f', parameters: { a } } }], 8],
])('%s may hand a template so many values, at any depth, and no more', (field, around, count) => {
  const values = (more: number) => around(new Array<number>(MAX_TEMPLATE_VALUES - count + more).fill(1));
  expect(() => validate({ [field]: values(0) })).not.toThrow();
  const message = expect.stringContaining(String(MAX_TEMPLATE_VALUES));
  expect(() => validate({ [field]: values(1) })).toThrow(
    expect.objectContaining({ reason: 'invalid_parameter', param: field, message }),
  );
});
