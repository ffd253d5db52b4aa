// Resolution of field names.
import { describe, expect, it } from 'vitest';
import { parseField } from './fields.ts';

const segments = (name: string) => {
  const field = parseField(name, []);
  return field.kind === 'payload' ? field.segments : field.kind;
};

describe('parseField', () => {
  it.each([
    ['payload', []],
    ['payload_dump', []],
    ['payload.a.b', ['a', 'b']],
    ['payload.a\\.b', ['a.b']],
    ['payload.a\\.b.c', ['a.b', 'c']],
    ['payload.', ['']],
    ['payload..a', ['', 'a']],
    ['payload.arr.0', ['arr', 0]],
    ['payload.01', [1]],
    ['payload.+2', [2]],
    ['payload.1a', ['1a']],
    ['payload.a\\b', ['a\\b']],
  ])('reads %s as the path %j', (name, expected) => {
    expect(segments(name)).toEqual(expected);
  });

  it('takes everything after the dot of a map column as one key', () => {
    expect(parseField('scorer_ratings.a.b\\.0', [])).toMatchObject({ kind: 'map-key', key: 'a.b\\.0' });
  });

  it.each([
    '',
    'nope',
    'ID',
    'id.x',
    'created_at.x',
    'scorer_tags.0',
    'payload_dump.a',
    'payloadx',
    '__proto__',
  ])('does not know %j', name => {
    expect(() => parseField(name, ['fields', 0])).toThrowError(
      expect.objectContaining({
        code: 'unknown_field',
        message: expect.stringMatching(
          `^Unknown field: ${name}; fields are payload.<key> and id, project_id, `,
        ),
        path: ['fields', 0],
      }),
    );
  });

  it('refuses paths of too many segments', () => {
    expect(() => parseField(`payload${'.a'.repeat(33)}`, [])).toThrowError(
      expect.objectContaining({ code: 'too_large' }),
    );
  });
});
