import { chatCompletionRequest } from '@ortler/schemas';
import { expect, it } from 'vitest';
import { EXAMPLE_TOOLS, readTools } from './tool-list.ts';

it('offers tools that the api takes', () => {
  const request = { messages: [{ role: 'user', content: 'x' }], ...readTools(EXAMPLE_TOOLS).fields };
  expect(chatCompletionRequest.safeParse(request).error).toBe(undefined);
});

it('offers nothing without a text', () => {
  expect(readTools(' ')).toEqual({ fields: {} });
});

it.each(['{', '{}', '[]'])('refuses %s', text => {
  expect(readTools(text)).toMatchObject({ fields: {}, fault: expect.any(String) });
});
