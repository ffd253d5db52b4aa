import { describe, expect, it } from 'vitest';
import { StepFailures } from './step-failures.ts';

const cause = new Error('out of memory');

describe('failures of steps', () => {
  it('leave a step to be tried again up to the limit, then fail its requests with the reason', () => {
    const failures = new StepFailures({ stepRetryLimit: 2, fatalFailureLimit: 9 });
    expect(failures.attemptFailed(cause)).toBeNull();
    expect(failures.attemptFailed(cause)).toBeNull();
    const givenUp = failures.attemptFailed(cause);
    expect(givenUp?.error.message).toBe('The model call failed 3 times: out of memory');
    expect(givenUp?.error.cause).toBe(cause);
    expect(givenUp?.fatal).toBeUndefined();
  });

  it('are fatal once so many steps in a row were given up', () => {
    const failures = new StepFailures({ stepRetryLimit: 0, fatalFailureLimit: 2 });
    expect(failures.attemptFailed(cause)?.fatal).toBeUndefined();
    expect(failures.attemptFailed(cause)?.fatal).toEqual({
      kind: 'fatal',
      code: 'engine_failed',
      message: '2 steps in a row failed; the last one: out of memory',
    });
  });

  it('before a committed step count no more', () => {
    const failures = new StepFailures({ stepRetryLimit: 1, fatalFailureLimit: 2 });
    failures.attemptFailed(cause);
    failures.attemptFailed(cause);
    failures.attemptFailed(cause);
    failures.stepCommitted();
    expect(failures.attemptFailed(cause)).toBeNull();
    expect(failures.attemptFailed(cause)?.fatal).toBeUndefined();
  });
});
