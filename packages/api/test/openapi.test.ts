import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAppRouter } from '../src/app-router.ts';
import { listRestRoutes } from '../src/rest-routes.ts';
import { createFakeServices } from '../src/testing/index.ts';
import { goldenDocument } from './golden/golden-document.ts';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Record<string, readonly string[]>[];
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { schema: unknown }>> }>
  >;
}

const document = goldenDocument() as {
  openapi: string;
  servers: readonly { readonly url: string }[];
  tags: readonly { readonly name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
};
const routes = listRestRoutes(createAppRouter(createFakeServices()));

describe('the OpenAPI document', () => {
  it('is the reviewed one', () => {
    const golden = JSON.parse(readFileSync(join(import.meta.dirname, 'golden/openapi.json'), 'utf8')) as {
      provenance: Record<string, string>;
      document: unknown;
    };
    expect(Object.keys(golden.provenance)).toEqual(['script', 'node', 'zod', 'trpc-to-openapi']);
    expect(JSON.parse(JSON.stringify(document))).toEqual(golden.document);
  });

  it('is OpenAPI 3.1 and has one operation per route, each with an id of its own', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const operations = Object.values(document.paths).flatMap(item => Object.values(item));
    expect(operations).toHaveLength(routes.length);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length);
  });

  it('lists every tag that operations have, and no other', () => {
    const used = Object.values(document.paths).flatMap(operations =>
      Object.values(operations).flatMap(({ tags }) => tags),
    );
    expect(document.tags.map(({ name }) => name).sort()).toEqual([...new Set(used)].sort());
  });

  it('has its paths beside itself, also behind a proxy that puts a path before ours', () => {
    expect(document.servers).toEqual([{ url: '.' }]);
  });

  it('names only components that exist', () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(match => match[1]!);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(document.components.schemas).toHaveProperty([name]);
    expect(text.match(/"\$ref"/g)).toHaveLength(names.length);
  });

  it.each(routes)('says which credentials $method $path takes and how it fails', route => {
    const operation = document.paths[route.path]![route.method.toLowerCase()]!;
    expect(operation.security).toEqual([{ [route.auth]: [] }]);
    expect(document.components.securitySchemes).toHaveProperty(route.auth);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', '400', '401', '500']));
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (status === '200') continue;
      const detailBody = status === '422' ? 'ValidationErrorBody' : 'DetailErrorBody';
      const $ref = `#/components/schemas/${route.errors === 'openai' ? 'ErrorBody' : detailBody}`;
      expect(content['application/json']?.schema).toEqual({ $ref });
    }
  });

  it('shows a streamed reply beside the plain one', () => {
    const { content } = document.paths['/v1/chat/completions']!.post!.responses[200]!;
    expect(Object.keys(content)).toEqual(['application/json', 'text/event-stream']);
    expect(content['application/json']?.schema).toMatchObject({
      type: 'object',
      properties: { object: { const: 'chat.completion' } },
    });
  });
});
