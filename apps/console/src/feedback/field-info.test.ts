import { expect, it } from 'vitest';
import { fieldsOf, typeOf } from './field-info.ts';

it('knows the types of columns, map columns and payload paths', () => {
  const fields = fieldsOf([{ json_path: 'output.score', value_type: 'numeric' }]);
  expect(fields.at(-1)).toEqual({ name: 'payload.output.score', type: 'numeric' });
  expect(typeOf(fields, 'payload.output.score')).toBe('numeric');
  expect(typeOf(fields, 'feedback_type')).toBe('categorical');
  expect(typeOf(fields, 'scorer_ratings.quality')).toBe('numeric');
  expect(typeOf(fields, 'payload.other')).toBe('unknown');
});
