import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { OPTION_NAMES, type OrtlerProviderOptions, parseProviderOptions } from './provider-options.ts';

it('reads the options of this provider and none of others', () => {
  const options = { ortler: { minP: 0.1, constraint: { regex: 'a+' } }, openai: { user: 'me' } };
  expect(parseProviderOptions(options)).toEqual({ minP: 0.1, constraint: { regex: 'a+' } });
  expect(parseProviderOptions({ openai: { minP: 1 } })).toEqual({});
  expect(parseProviderOptions(undefined)).toEqual({});
});

it.each([
  [{ minP: '0.1' }, 'providerOptions.ortler.minP', 'expected number, received string'],
  [{ min_p: 0.1 }, 'providerOptions.ortler', 'Unrecognized key: "min_p". Its options: minP, '],
  [{ stopTokenIds: [1, 2.5] }, 'providerOptions.ortler.stopTokenIds.1', 'expected int'],
  [{ ignoreEos: null }, 'providerOptions.ortler.ignoreEos', 'expected boolean'],
  [{ logprobs: true }, 'providerOptions.ortler.logprobs', 'expected number'],
  [{ logitBias: { hello: 1 } }, 'providerOptions.ortler.logitBias.hello', 'keys must be token ids'],
  [
    { constraint: { regex: 'a', choice: ['a'] } },
    'providerOptions.ortler.constraint',
    'one of regex, choice',
  ],
  [{ constraint: 'a+' }, 'providerOptions.ortler.constraint', 'one of regex, choice, grammar'],
  [
    { jsonStyle: { whitespace: 'some' } },
    'providerOptions.ortler.jsonStyle.whitespace',
    'expected canonical, bounded, any, none or { pattern }',
  ],
  [{ repetitionDetection: { minCount: 2 } }, 'providerOptions.ortler.repetitionDetection', 'expected'],
])('refuses %j at its place', (options, argument, message) => {
  const parse = () => parseProviderOptions({ ortler: options });
  expect(parse).toThrow(InvalidArgumentError);
  expect(parse).toThrow(expect.objectContaining({ argument: expect.stringContaining(argument) }));
  expect(parse).toThrow(message);
});

it('refuses options that are not an object', () => {
  expect(() => parseProviderOptions({ ortler: [] as never })).toThrow('providerOptions.ortler');
});

it('is described in the README, option by option', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8').split(
    '## Options of a call',
  )[1]!;
  const rows = [...readme.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name);
  expect(rows).toEqual(OPTION_NAMES satisfies readonly (keyof OrtlerProviderOptions)[]);
});
