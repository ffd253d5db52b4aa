// The published error items of the training endpoints, row by row: type, place and message.

import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { checkpointListInput, checkpointListQuery } from './checkpoint.ts';
import { feedbackPayloadSchemaRequest } from './feedback.ts';
import { trajectoryLogBody } from './trajectory.ts';
import { toJsonSyntaxDetails, toValidationDetails, validationErrorBody } from './validation-error.ts';

function detailsOf(schema: z.ZodType, input: unknown, location: 'body' | 'query' = 'body') {
  const result = schema.safeParse(input);
  return result.success ? [] : toValidationDetails(result.error, location, input);
}

/** A log body with one trajectory. */
function log(trajectory: unknown) {
  return { split: 'val', trajectory_groups: [{ trajectories: [trajectory] }] };
}

const GROUP = ['body', 'trajectory_groups', '0'];
const TRAJECTORY = [...GROUP, 'trajectories', '0'];

const NUMBER_TYPE = 'Input should be a valid number';
const NUMBER_PARSING = 'Input should be a valid number, unable to parse string as a number';
const INTEGER_TYPE = 'Input should be a valid integer';
const INTEGER_PARSING = 'Input should be a valid integer, unable to parse string as an integer';
const INTEGER_FRACTION = 'Input should be a valid integer, got a number with a fractional part';
const BOOLEAN_TYPE = 'Input should be a valid boolean';
const BOOLEAN_PARSING = 'Input should be a valid boolean, unable to interpret input';
const STRING = 'Input should be a valid string';
const LIST = 'Input should be a valid list';
const DICTIONARY = 'Input should be a valid dictionary';
const MODEL = 'Input should be a valid dictionary or object to extract fields from';
const REQUIRED = 'Field required';

const BODY_ROWS: [string, unknown, [string, string[], string][]][] = [
  [
    'an empty object',
    {},
    [
      ['missing', ['body', 'split'], REQUIRED],
      ['missing', ['body', 'trajectory_groups'], REQUIRED],
    ],
  ],
  ['no body', undefined, [['missing', ['body'], REQUIRED]]],
  ['null', null, [['missing', ['body'], REQUIRED]]],
  ['a list', [], [['model_attributes_type', ['body'], MODEL]]],
  ['a text', 'x', [['model_attributes_type', ['body'], MODEL]]],
  ['split 1', { split: 1, trajectory_groups: [] }, [['string_type', ['body', 'split'], STRING]]],
  ['split null', { split: null, trajectory_groups: [] }, [['string_type', ['body', 'split'], STRING]]],
  [
    'trajectory_groups {}',
    { split: 'val', trajectory_groups: {} },
    [['list_type', ['body', 'trajectory_groups'], LIST]],
  ],
  [
    'a group that is a list',
    { split: 'val', trajectory_groups: [[]] },
    [['model_attributes_type', GROUP, MODEL]],
  ],
  [
    'a group without trajectories',
    { split: 'val', trajectory_groups: [{}] },
    [['missing', [...GROUP, 'trajectories'], REQUIRED]],
  ],
  [
    'trajectories null',
    { split: 'val', trajectory_groups: [{ trajectories: null }] },
    [['list_type', [...GROUP, 'trajectories'], LIST]],
  ],
  ['reward abc', log({ reward: 'abc' }), [['float_parsing', [...TRAJECTORY, 'reward'], NUMBER_PARSING]]],
  ['reward null', log({ reward: null }), [['float_type', [...TRAJECTORY, 'reward'], NUMBER_TYPE]]],
  ['reward []', log({ reward: [] }), [['float_type', [...TRAJECTORY, 'reward'], NUMBER_TYPE]]],
  ['reward "1.5"', log({ reward: '1.5' }), []],
  ['reward true', log({ reward: true }), []],
  [
    'initial_policy_version 1.5',
    log({ initial_policy_version: 1.5 }),
    [['int_from_float', [...TRAJECTORY, 'initial_policy_version'], INTEGER_FRACTION]],
  ],
  [
    'initial_policy_version v1',
    log({ initial_policy_version: 'v1' }),
    [['int_parsing', [...TRAJECTORY, 'initial_policy_version'], INTEGER_PARSING]],
  ],
  ['metrics []', log({ metrics: [] }), [['dict_type', [...TRAJECTORY, 'metrics'], DICTIONARY]]],
  [
    'a metric that is text',
    log({ metrics: { a: 'x' } }),
    [
      ['float_parsing', [...TRAJECTORY, 'metrics', 'a', 'float'], NUMBER_PARSING],
      ['int_parsing', [...TRAJECTORY, 'metrics', 'a', 'int'], INTEGER_PARSING],
      ['bool_parsing', [...TRAJECTORY, 'metrics', 'a', 'bool'], BOOLEAN_PARSING],
    ],
  ],
  [
    'a metric that is null',
    log({ metrics: { a: null } }),
    [
      ['float_type', [...TRAJECTORY, 'metrics', 'a', 'float'], NUMBER_TYPE],
      ['int_type', [...TRAJECTORY, 'metrics', 'a', 'int'], INTEGER_TYPE],
      ['bool_type', [...TRAJECTORY, 'metrics', 'a', 'bool'], BOOLEAN_TYPE],
    ],
  ],
  [
    'metadata that is nested',
    log({ metadata: { a: {} } }),
    [
      ['float_type', [...TRAJECTORY, 'metadata', 'a', 'float'], NUMBER_TYPE],
      ['int_type', [...TRAJECTORY, 'metadata', 'a', 'int'], INTEGER_TYPE],
      ['string_type', [...TRAJECTORY, 'metadata', 'a', 'str'], STRING],
      ['bool_type', [...TRAJECTORY, 'metadata', 'a', 'bool'], BOOLEAN_TYPE],
    ],
  ],
  ['logs that are text', log({ logs: 'a' }), [['list_type', [...TRAJECTORY, 'logs'], LIST]]],
  [
    'a log that is a number',
    log({ logs: ['a', 1] }),
    [['string_type', [...TRAJECTORY, 'logs', '1'], STRING]],
  ],
  [
    'start_time yesterday',
    log({ start_time: 'yesterday' }),
    [
      [
        'datetime_from_date_parsing',
        [...TRAJECTORY, 'start_time'],
        'Input should be a valid datetime or date, input is too short',
      ],
    ],
  ],
  [
    'start_time null',
    log({ start_time: null }),
    [['datetime_type', [...TRAJECTORY, 'start_time'], 'Input should be a valid datetime']],
  ],
  [
    'messages_and_choices null',
    log({ messages_and_choices: null }),
    [['list_type', [...TRAJECTORY, 'messages_and_choices'], LIST]],
  ],
  [
    'a history without messages_and_choices',
    log({ additional_histories: [{}] }),
    [['missing', [...TRAJECTORY, 'additional_histories', '0', 'messages_and_choices'], REQUIRED]],
  ],
  [
    'a tool without function',
    log({ tools: [{ type: 'function' }] }),
    [['missing', [...TRAJECTORY, 'tools', '0', 'function'], REQUIRED]],
  ],
  [
    'a tool of another type',
    log({ tools: [{ type: 'x', function: { name: 'f' } }] }),
    [['literal_error', [...TRAJECTORY, 'tools', '0', 'type'], "Input should be 'function'"]],
  ],
];

const QUERY_ROWS: [string, unknown, string, string][] = [
  ['limit 0', { limit: '0' }, 'greater_than_equal', 'Input should be greater than or equal to 1'],
  ['limit 101', { limit: '101' }, 'less_than_equal', 'Input should be less than or equal to 100'],
  ['limit abc', { limit: 'abc' }, 'int_parsing', INTEGER_PARSING],
  ['limit 1.5', { limit: '1.5' }, 'int_parsing', INTEGER_PARSING],
  ['an empty limit', { limit: '' }, 'int_parsing', INTEGER_PARSING],
  ['order x', { order: 'x' }, 'literal_error', "Input should be 'asc' or 'desc'"],
  ['order DESC', { order: 'DESC' }, 'literal_error', "Input should be 'asc' or 'desc'"],
];

describe('toValidationDetails', () => {
  it.each(BODY_ROWS)('describes %s', (_what, input, expected) => {
    const details = detailsOf(trajectoryLogBody, input);
    expect(details.map(({ type, loc, msg }) => [type, loc, msg])).toEqual(expected);
    validationErrorBody.parse({ detail: details });
  });

  it.each(QUERY_ROWS)('describes %s', (_what, input, type, msg) => {
    const [field] = Object.keys(input as object);
    expect(detailsOf(checkpointListQuery, input, 'query')).toEqual([{ type, loc: ['query', field], msg }]);
  });

  it('reports all faults at once, in field order', () => {
    const input = {
      trajectory_groups: [{ trajectories: [{ reward: 'x' }, {}, { logs: 1, reward: 'y' }] }],
    };
    expect(detailsOf(trajectoryLogBody, input).map(({ loc }) => loc.slice(1).join('.'))).toEqual([
      'split',
      'trajectory_groups.0.trajectories.0.reward',
      'trajectory_groups.0.trajectories.2.reward',
      'trajectory_groups.0.trajectories.2.logs',
    ]);
  });

  it('records where each field of a gathered input came from', () => {
    const input = { limit: 'x' };
    const { error } = checkpointListInput.safeParse(input);
    const locate = (field: string) => (field === 'model_id' ? 'path' : 'query');
    expect(toValidationDetails(error!, locate, input).map(({ loc }) => loc)).toEqual([
      ['path', 'model_id'],
      ['query', 'limit'],
    ]);
  });

  it('stops at its limit and counts the rest', () => {
    const input = { split: 'val', trajectory_groups: Array.from({ length: 1500 }, () => 5) };
    const details = detailsOf(trajectoryLogBody, input);
    expect(details).toHaveLength(1001);
    expect(details.at(-1)).toEqual({ loc: ['body'], type: 'too_many_errors', msg: 'and 500 more' });
  });

  it('names the broken part of a date', () => {
    const input = { project_id: 'a/b', start: '2026-13-01' };
    expect(detailsOf(feedbackPayloadSchemaRequest, input)).toEqual([
      {
        loc: ['body', 'start'],
        type: 'datetime_from_date_parsing',
        msg: 'Input should be a valid datetime or date, month value is outside expected range of 1-12',
      },
    ]);
  });
});

describe('toJsonSyntaxDetails', () => {
  it('gives the character offset as text', () => {
    expect(toJsonSyntaxDetails(7)).toEqual([
      { loc: ['body', '7'], msg: 'JSON decode error', type: 'json_invalid' },
    ]);
  });

  it('names the limit that JSON goes beyond', () => {
    expect(toJsonSyntaxDetails(128, 'more than 128 nested levels')).toEqual([
      {
        loc: ['body', '128'],
        msg: 'JSON decode error: more than 128 nested levels',
        type: 'json_invalid',
      },
    ]);
  });
});
