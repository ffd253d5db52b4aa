import { createAppRouter } from '@ortler/api';
import { createFakeServices } from '@ortler/api/testing';
import { describe, expect, it } from 'vitest';
import { createRouteTable, matchSegments } from './route-table.ts';

describe('matchSegments', () => {
  const pattern = ['', 'v1', 'models', '{model_id}', 'log'];

  it('decodes a parameter after the path is split, so an escaped slash stays inside it', () => {
    expect(matchSegments(pattern, '/v1/models/org%2Fname/log'.split('/'))).toEqual({ model_id: 'org/name' });
  });

  it('matches neither an empty parameter nor another length', () => {
    expect(matchSegments(pattern, '/v1/models//log'.split('/'))).toBeUndefined();
    expect(matchSegments(pattern, '/v1/models/a'.split('/'))).toBeUndefined();
  });

  it('refuses broken escapes', () => {
    expect(() => matchSegments(pattern, '/v1/models/%zz/log'.split('/'))).toThrow(URIError);
  });
});

describe('the route table', () => {
  const table = createRouteTable(createAppRouter(createFakeServices()));

  it('finds a route with and without one trailing slash, and answers HEAD as GET', () => {
    for (const path of ['/v1/models', '/v1/models/'])
      for (const method of ['GET', 'HEAD'])
        expect(table.match(method, path)).toMatchObject({
          kind: 'found',
          route: { procedure: 'models.list' },
        });
    expect(table.match('GET', '/v1/models//').kind).toBe('unknown');
  });

  it('tells a wrong method from an unknown path', () => {
    expect(table.match('PUT', '/v1/models')).toEqual({ kind: 'wrong-method', allowed: ['GET'] });
    expect(table.match('PUT', '/v1/model').kind).toBe('unknown');
  });
});
