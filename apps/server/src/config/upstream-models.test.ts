// Models that are given by address, and their keys.

import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';
import { DEMO_MODEL_DIR } from './settings/model-settings.ts';

const BIG = 'big=https://host/v1#org/Name';

function problemsOf(variables: Record<string, string>): readonly string[] {
  try {
    readConfig(variables);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('--models', () => {
  it('takes a pool of servers, beside models of this server', () => {
    const list = `${BIG},http://host2:8000/v1/, a=${DEMO_MODEL_DIR}, two=http://[::1]/v1`;
    expect(readConfig({ ORTLER_MODELS: list }).models).toEqual([
      { id: 'big', urls: ['https://host/v1', 'http://host2:8000/v1'], name: 'org/Name' },
      { id: 'a', source: DEMO_MODEL_DIR },
      { id: 'two', urls: ['http://[::1]/v1'], name: 'two' },
    ]);
    expect(readConfig({ ORTLER_MODELS: `${BIG},https://host2/v1#org/Name` }).models).toHaveLength(1);
  });

  it.each([
    ['https://host/v1', 'must give a server an id, as in big=https://host/v1'],
    [`a=${DEMO_MODEL_DIR},https://host/v1`, 'must give a server an id'],
    [`${BIG},https://host2/v1#other`, 'one name of the model; got org/Name and other'],
    [`${BIG},https://host/v1/`, 'names the server https://host/v1 twice'],
    [`${BIG},big=https://host2/v1`, 'names the model big twice'],
    ['big=https://host/v1#', 'must have the name of the model after the #'],
    ['big=https://ho st/v1', 'must list addresses such as'],
    ['big=https://host/v1?key=x', 'without a query'],
    ['big=https://me:secret@host/v1', 'without user and password'],
  ])('refuses %s', (list, reason) => {
    const problems = problemsOf({ ORTLER_MODELS: list });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(reason);
    expect(problems[0]).not.toContain('secret');
  });
});

describe('keys of upstream servers', () => {
  it('are one for all, or one for a model by its id', () => {
    const models = `${BIG},my-model.2=https://host3/v1`;
    const config = readConfig({
      ORTLER_MODELS: models,
      ORTLER_UPSTREAM_KEY: 'all',
      ORTLER_UPSTREAM_KEY_MY_MODEL_2: 'own',
      ORTLER_UPSTREAM_KEY_BIG: '',
    });
    expect(config.upstreamKey).toBe('all');
    expect(config.upstreamKeys).toEqual(new Map([['my-model.2', 'own']]));
  });

  it('are refused without the model that they name, and where two models have one variable', () => {
    expect(problemsOf({ ORTLER_UPSTREAM_KEY_BIG: 'secret' })).toEqual([
      'ORTLER_UPSTREAM_KEY_BIG names no model of other servers. --models has none.',
    ]);
    expect(problemsOf({ ORTLER_MODELS: BIG, ORTLER_UPSTREAM_KEY_BIGGER: 'secret' })).toEqual([
      'ORTLER_UPSTREAM_KEY_BIGGER names no model of other servers. Their variables: ORTLER_UPSTREAM_KEY_BIG.',
    ]);
    const twins = 'a-b=https://host/v1,a.b=https://host/v1';
    expect(problemsOf({ ORTLER_MODELS: twins, ORTLER_UPSTREAM_KEY_A_B: 'secret' })).toEqual([
      'ORTLER_UPSTREAM_KEY_A_B is the variable of several models: a-b, a.b. Rename one of them.',
    ]);
    expect(problemsOf({ ORTLER_MODELS: BIG, ORTLER_UPSTREAM_KEY_BIG: 'se cret' })).toEqual([
      'ORTLER_UPSTREAM_KEY_BIG must be printable ASCII without spaces.',
    ]);
  });
});
