import { chatCompletionRequest } from '@ortler/schemas';
import { describe, expect, it } from 'vitest';
import { describeSupport, PARAMETER_SUPPORT } from './parameter-support.ts';

describe('the table', () => {
  it('has a row for every field of the schema and for nothing else', () => {
    expect(Object.keys(PARAMETER_SUPPORT).sort()).toEqual(Object.keys(chatCompletionRequest.shape).sort());
  });
});

describe('describeSupport', () => {
  it('says why a field has no effect, and nothing else', () => {
    expect(describeSupport('user')).toMatch(/^Accepted without effect: .+\.$/);
    expect(describeSupport('temperature')).toBeNull();
    expect(describeSupport('no_such_field')).toBeNull();
  });
});
