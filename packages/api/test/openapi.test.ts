import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GRAMMAR, type GrammarRule } from '@ortler/feedback-query';
import type { FeedbackOperand } from '@ortler/schemas';
import type { inferRouterInputs } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { type AppRouter, createAppRouter } from '../src/app-router.ts';
import { listRestRoutes } from '../src/rest-routes.ts';
import { createFakeServices } from '../src/testing/index.ts';
import { goldenDocument } from './golden/golden-document.ts';

type Json = Record<string, unknown>;
type Content = Readonly<Record<string, { readonly schema: unknown }>>;

interface Operation {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Record<string, readonly string[]>[];
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
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

  it('says which parameters of an address a request must have', () => {
    const required = Object.values(document.paths).flatMap(item =>
      Object.values(item).flatMap(({ parameters = [] }) =>
        parameters
          .filter(parameter => parameter.in === 'query' && parameter.required)
          .map(({ name }) => name),
      ),
    );
    expect(required).toEqual(['start_time']);
  });

  it('gives every body and every object inside one a name', () => {
    const { schemas } = document.components;
    for (const operation of Object.values(document.paths).flatMap(item => Object.values(item)))
      for (const body of [operation.requestBody, operation.responses[200]])
        for (const [type, { schema }] of Object.entries(body?.content ?? {}))
          if (type === 'application/json' && Object.keys((schema as Json).properties ?? {}).length > 0)
            expect(schema, operation.operationId).toHaveProperty('$ref');
    const unnamed = (schema: unknown, at: string): string[] =>
      typeof schema !== 'object' || schema === null
        ? []
        : Object.entries(schema).flatMap(([key, part]) => [
            ...(key === 'properties' && at.split('/').length > 2 && !at.endsWith('/properties') ? [at] : []),
            ...unnamed(part, `${at}/${key}`),
          ]);
    // Definitions of the filter grammar have one operator each, with its arguments inside.
    const own = Object.entries(schemas).filter(
      ([name]) =>
        !GRAMMAR.some(rule => name === `Feedback${rule.name[1]!.toUpperCase()}${rule.name.slice(2)}`),
    );
    expect(own.flatMap(([name, schema]) => unnamed(schema, `/${name}`))).toEqual([]);
    expect(Object.keys(schemas).filter(name => name.length > 45)).toEqual([]);
  });

  it('has the types by the names that clients look for', () => {
    const names = [
      ['ChatCompletionRequest', 'ChatCompletion', 'ChatChoice', 'ResponseMessage', 'ChatMessage', 'Usage'],
      [
        'ChatCompletionChunk',
        'Completion',
        'Model',
        'ModelList',
        'Checkpoint',
        'Trajectory',
        'TrainingModel',
      ],
      ['FeedbackCreateRequest', 'FeedbackQueryRequest', 'FeedbackFilter', 'FeedbackOperation', 'ErrorBody'],
    ];
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(names.flat()));
  });

  it('describes filters of feedback by the grammar', () => {
    const { schemas } = document.components;
    const refer = (name: string) => ({ $ref: `#/components/schemas/Feedback${name}` });
    const nameOf = ({ name }: GrammarRule) => name[1]!.toUpperCase() + name.slice(2);
    expect(schemas.FeedbackFilter).toMatchObject({ properties: { $expr: refer('Operation') } });
    const conditions = GRAMMAR.filter(({ result }) => result === 'condition');
    expect(schemas.FeedbackOperation).toEqual({ oneOf: conditions.map(rule => refer(nameOf(rule))) });
    expect(schemas.FeedbackOperand).toEqual({ oneOf: GRAMMAR.map(rule => refer(nameOf(rule))) });
    for (const rule of GRAMMAR)
      expect(schemas).toHaveProperty([`Feedback${nameOf(rule)}`, 'properties', rule.name]);
    expect(schemas.FeedbackQueryRequest).toMatchObject({
      properties: { query: { anyOf: [refer('Filter'), { type: 'null' }] } },
    });
    expect(schemas.FeedbackPurgeRequest).toMatchObject({ properties: { query: refer('Filter') } });
  });

  it('has a type of TypeScript for every operator of a filter', () => {
    type Keys<Operand> = Operand extends unknown ? keyof Operand : never;
    const operators: Record<Keys<FeedbackOperand>, true> = {
      $literal: true,
      $getField: true,
      $convert: true,
      $size: true,
      $and: true,
      $or: true,
      $not: true,
      $eq: true,
      $ne: true,
      $gt: true,
      $gte: true,
      $lt: true,
      $lte: true,
      $in: true,
      $nin: true,
      $contains: true,
      $startsWith: true,
      $exists: true,
    };
    expect(GRAMMAR.map(({ name }) => name)).toEqual(Object.keys(operators));
    type Query = inferRouterInputs<AppRouter>['feedback']['query']['query'];
    const eq = { $eq: [{ $getField: 'payload.score' }, { $literal: 1 }] } as const;
    const good: Query[] = [undefined, null, { $expr: eq }, { $expr: { $and: [eq, { $literal: 'text' }] } }];
    // @ts-expect-error A filter has the key $expr.
    const withoutExpr: Query = {};
    // @ts-expect-error Operands are objects.
    const bare: Query = { $expr: { $eq: ['payload.score', 1] } };
    // @ts-expect-error No such operator.
    const unknown: Query = { $expr: { $regex: eq } };
    expect([...good, withoutExpr, bare, unknown]).toHaveLength(7);
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
    expect(content['application/json']?.schema).toEqual({ $ref: '#/components/schemas/ChatCompletion' });
  });
});
