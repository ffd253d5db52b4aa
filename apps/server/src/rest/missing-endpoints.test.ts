import { expect, it } from 'vitest';
import { describeMissing } from './missing-endpoints.ts';

it.each([
  ['/chat/completions', 'end with /v1'],
  ['/v1/v1/chat/completions', '/v1 twice'],
  ['/v1/tokenize', 'not below /v1'],
  ['/v1/messages', '/v1/chat/completions'],
  ['/api/chat', 'not Ollama’s'],
  ['/api/embed', 'embedding model'],
  ['/completion', '/v1/completions'],
  ['/props/', '/v1/models'],
  ['/v1/load_lora_adapter', 'checkpoints'],
  ['/v1/images/generations', 'text only'],
])('says of %s what there is instead', (path, advice) => {
  expect(describeMissing(path, path)).toContain(`There is nothing at ${path}. `);
  expect(describeMissing(path, path)).toContain(advice);
});

it('leads to the list of endpoints from any other path', () => {
  expect(describeMissing('/v1/modelsx', '/v1/modelsx')).toBe(
    'There is nothing at /v1/modelsx. All endpoints are listed at /docs.',
  );
});
