import { chatCompletionRequest } from '@ortler/schemas';
import { describe, expect, it } from 'vitest';
import { constraintField, toConstraint } from './to-constraint.ts';

const parse = (fields: object) =>
  chatCompletionRequest.parse({ messages: [{ role: 'user', content: 'hi' }], ...fields });
const map = (fields: object) => toConstraint(parse(fields));
const outputs = (fields: object) => map({ structured_outputs: fields });

describe('toConstraint', () => {
  it('has none for plain text', () => {
    for (const fields of [{}, { response_format: null }, { response_format: { type: 'text' } }])
      expect(map(fields)).toBeNull();
  });

  it('maps every response format', () => {
    const schema = { type: 'object' };
    const format = (value: object) => map({ response_format: value });
    expect(format({ type: 'json_object' })).toEqual({ jsonObject: true });
    const expected = { jsonSchema: schema, strict: true };
    expect(format({ type: 'json_schema', json_schema: { name: 'n', schema, strict: true } })).toEqual(
      expected,
    );
    expect(format({ json_schema: { name: 'n', schema } })).toEqual({ ...expected, strict: false });
    const tag = { type: 'structural_tag', format: { type: 'any_text' } };
    expect(format(tag)).toEqual({ structuralTag: tag });
  });

  it('maps every kind of structured output', () => {
    expect(outputs({ json: '{}' })).toEqual({ jsonSchema: '{}' });
    expect(outputs({ json: { type: 'null' } })).toEqual({ jsonSchema: { type: 'null' } });
    expect(outputs({ regex: 'a+' })).toEqual({ regex: 'a+' });
    expect(outputs({ choice: ['a', 'b'] })).toEqual({ choice: ['a', 'b'] });
    expect(outputs({ grammar: 'root ::= "a"' })).toEqual({ grammar: 'root ::= "a"' });
    expect(outputs({ json_object: true })).toEqual({ jsonObject: true });
    expect(outputs({ structural_tag: '{}' })).toEqual({ structuralTag: '{}' });
  });

  it('maps how JSON is written', () => {
    const style = (fields: object) => outputs({ json: '{}', ...fields });
    expect(style({ disable_any_whitespace: true })).toMatchObject({ style: { whitespace: 'none' } });
    expect(style({ whitespace_pattern: ' ?' })).toMatchObject({ style: { whitespace: { pattern: ' ?' } } });
    expect(style({ disable_additional_properties: true })).toMatchObject({ style: { closeObjects: true } });
    expect(style({ json_whitespace: 'bounded' })).toMatchObject({ style: { whitespace: 'bounded' } });
    expect(style({ disable_number_limits: true })).toMatchObject({ style: { limitNumbers: false } });
    expect(style({ disable_repetition_guard: false })).toMatchObject({ style: { guardRepetition: true } });
    for (const [one, other] of [
      [{ disable_any_whitespace: true }, { whitespace_pattern: ' ?' }],
      [{ disable_any_whitespace: true }, { json_whitespace: 'any' }],
      [{ whitespace_pattern: ' ?' }, { json_whitespace: 'any' }],
    ])
      expect(() => style({ ...one, ...other })).toThrow('contradict');
    expect(style({ disable_any_whitespace: true, json_whitespace: 'none' })).toMatchObject({
      style: { whitespace: 'none' },
    });
  });

  it('takes no other engine than its own', () => {
    expect(outputs({ regex: 'a', _backend: 'auto', _backend_was_auto: true })).toMatchObject({ regex: 'a' });
    expect(() => outputs({ regex: 'a', _backend: 'xgrammar' })).toThrow('_backend');
  });

  it('refuses two constraints and beam search, naming the field', () => {
    const schema = { json_schema: { name: 'n', schema: {} } };
    const both = {
      response_format: { type: 'json_object' as const },
      structured_outputs: parse({ structured_outputs: { regex: 'a' } }).structured_outputs,
    };
    expect(() => toConstraint({ ...both, use_beam_search: false })).toThrow(
      expect.objectContaining({ reason: 'invalid_parameter', param: 'structured_outputs' }),
    );
    expect(() => map({ response_format: schema, use_beam_search: true })).toThrow(
      expect.objectContaining({ reason: 'invalid_parameter', param: 'response_format' }),
    );
    expect(map({ use_beam_search: true })).toBeNull();
  });

  it('knows which field a constraint came from', () => {
    expect(constraintField(parse({ structured_outputs: { regex: 'a' } }))).toBe('structured_outputs');
    expect(constraintField(parse({ response_format: { type: 'json_object' } }))).toBe('response_format');
  });
});
