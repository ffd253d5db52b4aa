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

  it('gives a parameter at the end all remaining segments, but no empty ones', () => {
    const last = ['', 'v1', 'models', '{model_id}'];
    const match = (path: string) => matchSegments(last, path.split('/'));
    expect(match('/v1/models/org/name')).toEqual({ model_id: 'org/name' });
    expect(match('/v1/models/org%2Fname/a%20b')).toEqual({ model_id: 'org/name/a b' });
    for (const path of ['/v1/models', '/v1/models/', '/v1/models/a//b', '/v1/other/a'])
      expect(match(path)).toBeUndefined();
  });

  it('refuses broken escapes', () => {
    expect(() => matchSegments(pattern, '/v1/models/%zz/log'.split('/'))).toThrow(URIError);
  });
});

describe('the route table', () => {
  const table = createRouteTable(createAppRouter(createFakeServices()));

  it('names the route of an address by its pattern', () => {
    expect(table.nameOf('GET', '/v1/models/org/name?a=/')).toBe('/v1/models/{model_id}');
    for (const url of ['/v1/nothing', '/v1/models/%zz']) expect(table.nameOf('GET', url)).toBeUndefined();
    expect(table.nameOf('PUT', '/v1/models')).toBeUndefined();
  });

  it('finds a route with and without one trailing slash, and answers HEAD as GET', () => {
    for (const path of ['/v1/models', '/v1/models/'])
      for (const method of ['GET', 'HEAD'])
        expect(table.match(method, path)).toMatchObject({
          kind: 'found',
          route: { procedure: 'models.list' },
        });
    expect(table.match('GET', '/v1/models//').kind).toBe('unknown');
  });

  it('finds a model with a raw and with an escaped slash in its id, and the list before any id', () => {
    for (const path of ['/v1/models/org/name', '/v1/models/org%2Fname', '/v1/models/org/name/'])
      expect(table.match('GET', path)).toMatchObject({
        route: { procedure: 'models.retrieve' },
        params: { model_id: 'org/name' },
      });
    expect(table.match('GET', '/v1/models/')).toMatchObject({ route: { procedure: 'models.list' } });
    expect(table.match('POST', '/v1/models/org/name')).toEqual({ kind: 'wrong-method', allowed: ['GET'] });
  });

  it('prefers a route of the same length to one whose last parameter takes the rest', () => {
    const path = '/v1/preview/models/a/log';
    expect(table.match('POST', path)).toMatchObject({ route: { procedure: 'training.trajectories.log' } });
    expect(table.match('GET', path)).toEqual({ kind: 'wrong-method', allowed: ['POST'] });
    expect(table.match('GET', '/v1/preview/models/a/b/c')).toMatchObject({
      route: { procedure: 'training.models.get' },
      params: { model_id: 'a/b/c' },
    });
  });

  it('finds the error style of the routes around an unknown path', () => {
    expect(table.errorsNear('/v1/preview/nothing')).toBe('detail');
    expect(table.errorsNear('/v1/chat/nothing')).toBe('openai');
    expect(table.errorsNear('/v1/nothing')).toBe('openai');
  });

  it('distinguishes a wrong method from an unknown path', () => {
    expect(table.match('PUT', '/v1/models')).toEqual({ kind: 'wrong-method', allowed: ['GET'] });
    expect(table.match('PUT', '/v1/model').kind).toBe('unknown');
  });
});
