import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatCompletionRequest } from '@ortler/schemas';
import { expect, it } from 'vitest';
import { renderParameterPage } from '../src/chat/parameter-page.ts';

it('stands in docs/chat-parameters.md as it is made', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/chat-parameters.md'), 'utf8');
  expect(page).toBe(renderParameterPage());
});

it('has a row with a meaning for every field', () => {
  const rows = renderParameterPage().matchAll(/^\| `(\w+)` \| (.+?) \| (.*?) \| (.+) \|$/gm);
  expect([...rows].map(([, field]) => field)).toEqual(Object.keys(chatCompletionRequest.shape));
});
