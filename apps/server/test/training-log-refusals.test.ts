// All refusals of the log endpoint, on every database: each fault has its location, and nothing is stored.

import { beforeAll, expect, it } from 'vitest';
import { describeOnEveryDatabase } from './databases.ts';
import { AUTHORIZATION, STREAMED_BODY_LIMIT } from './open-test-app.ts';
import { faultsOf, oneTrajectory, useTrainingApp } from './open-training-app.ts';

const T = 'body,trajectory_groups,0,trajectories,0';
const GROUP = 'body,trajectory_groups,0';
const NUMBER = 'Input should be a valid number';
const MODEL = 'Input should be a valid dictionary or object to extract fields from';

const OUT_OF_RANGE = 'a number beyond ±1.8e308, or an integer of more than 4300 digits';

describeOnEveryDatabase('POST /v1/preview/models/{model_id}/log', ({ open }) => {
  let model: string;
  const training = useTrainingApp(open);

  beforeAll(async () => {
    model = await training.createModel();
  });

  /** Status and faults. */
  const logOverTrpc = async (modelId: string, body: object) => {
    const reply = await training.app.inject({
      method: 'POST',
      url: '/trpc/training.trajectories.log',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      payload: JSON.stringify({ ...body, model_id: modelId }),
    });
    return [reply.statusCode, reply.json().error.data.faults];
  };

  it.each<[name: string, body: unknown, faults: readonly (readonly [string, string, string])[]]>([
    [
      'an empty object',
      {},
      [
        ['missing', 'body,split', 'Field required'],
        ['missing', 'body,trajectory_groups', 'Field required'],
      ],
    ],
    [
      'a split that only a prototype has',
      '{"__proto__":{"split":"a"},"trajectory_groups":[]}',
      [['missing', 'body,split', 'Field required']],
    ],
    ['no body', '', [['missing', 'body', 'Field required']]],
    ['broken JSON', '{"split": x}', [['json_invalid', 'body,10', 'JSON decode error']]],
    ['a trailing comma', '{"split":"a",}', [['json_invalid', 'body,13', 'JSON decode error']]],
    [
      'NaN',
      '{"split":"a","trajectory_groups":[{"trajectories":[{"reward":NaN}]}]}',
      [['json_invalid', 'body,61', 'JSON decode error']],
    ],
    [
      'a number beyond all doubles',
      '{"split":"a","trajectory_groups":[{"trajectories":[{"unknown":1e400}]}]}',
      [['json_invalid', 'body,62', `JSON decode error: ${OUT_OF_RANGE}`]],
    ],
    [
      'an integer of more digits than Python reads',
      `{"split":"a","unknown":${'9'.repeat(4_301)}}`,
      [['json_invalid', 'body,23', `JSON decode error: ${OUT_OF_RANGE}`]],
    ],
    [
      'a reward that no double can hold',
      `{"split":"a","trajectory_groups":[{"trajectories":[{"reward":${'9'.repeat(400)}}]}]}`,
      [['finite_number', `${T},reward`, 'Input should be a finite number']],
    ],
    ['a list', [], [['model_attributes_type', 'body', MODEL]]],
    ['text', '"x"', [['model_attributes_type', 'body', MODEL]]],
    [
      'split 1',
      { split: 1, trajectory_groups: [] },
      [['string_type', 'body,split', 'Input should be a valid string']],
    ],
    [
      'split null',
      { split: null, trajectory_groups: [] },
      [['string_type', 'body,split', 'Input should be a valid string']],
    ],
    [
      'groups {}',
      { split: 'a', trajectory_groups: {} },
      [['list_type', 'body,trajectory_groups', 'Input should be a valid list']],
    ],
    ['group []', { split: 'a', trajectory_groups: [[]] }, [['model_attributes_type', GROUP, MODEL]]],
    ['group null', { split: 'a', trajectory_groups: [null] }, [['model_attributes_type', GROUP, MODEL]]],
    [
      'group {}',
      { split: 'a', trajectory_groups: [{}] },
      [['missing', `${GROUP},trajectories`, 'Field required']],
    ],
    [
      'trajectories null',
      { split: 'a', trajectory_groups: [{ trajectories: null }] },
      [['list_type', `${GROUP},trajectories`, 'Input should be a valid list']],
    ],
    ['trajectory null', oneTrajectory(null), [['model_attributes_type', T, MODEL]]],
    [
      'reward "abc"',
      oneTrajectory({ reward: 'abc' }),
      [['float_parsing', `${T},reward`, `${NUMBER}, unable to parse string as a number`]],
    ],
    ['reward null', oneTrajectory({ reward: null }), [['float_type', `${T},reward`, NUMBER]]],
    ['reward []', oneTrajectory({ reward: [] }), [['float_type', `${T},reward`, NUMBER]]],
    [
      'version 1.5',
      oneTrajectory({ initial_policy_version: 1.5 }),
      [
        [
          'int_from_float',
          `${T},initial_policy_version`,
          'Input should be a valid integer, got a number with a fractional part',
        ],
      ],
    ],
    [
      'version "v1"',
      oneTrajectory({ initial_policy_version: 'v1' }),
      [
        [
          'int_parsing',
          `${T},initial_policy_version`,
          'Input should be a valid integer, unable to parse string as an integer',
        ],
      ],
    ],
    [
      'metrics []',
      oneTrajectory({ metrics: [] }),
      [['dict_type', `${T},metrics`, 'Input should be a valid dictionary']],
    ],
    [
      'metrics {"a":"x"}',
      oneTrajectory({ metrics: { a: 'x' } }),
      [
        ['float_parsing', `${T},metrics,a,float`, `${NUMBER}, unable to parse string as a number`],
        [
          'int_parsing',
          `${T},metrics,a,int`,
          'Input should be a valid integer, unable to parse string as an integer',
        ],
        ['bool_parsing', `${T},metrics,a,bool`, 'Input should be a valid boolean, unable to interpret input'],
      ],
    ],
    [
      'metrics {"a":null}',
      oneTrajectory({ metrics: { a: null } }),
      [
        ['float_type', `${T},metrics,a,float`, NUMBER],
        ['int_type', `${T},metrics,a,int`, 'Input should be a valid integer'],
        ['bool_type', `${T},metrics,a,bool`, 'Input should be a valid boolean'],
      ],
    ],
    [
      'metadata {"a":{}}',
      oneTrajectory({ metadata: { a: {} } }),
      [
        ['float_type', `${T},metadata,a,float`, NUMBER],
        ['int_type', `${T},metadata,a,int`, 'Input should be a valid integer'],
        ['string_type', `${T},metadata,a,str`, 'Input should be a valid string'],
        ['bool_type', `${T},metadata,a,bool`, 'Input should be a valid boolean'],
      ],
    ],
    ['logs "a"', oneTrajectory({ logs: 'a' }), [['list_type', `${T},logs`, 'Input should be a valid list']]],
    [
      'logs ["a",1]',
      oneTrajectory({ logs: ['a', 1] }),
      [['string_type', `${T},logs,1`, 'Input should be a valid string']],
    ],
    [
      'start "yesterday"',
      oneTrajectory({ start_time: 'yesterday' }),
      [
        [
          'datetime_from_date_parsing',
          `${T},start_time`,
          'Input should be a valid datetime or date, input is too short',
        ],
      ],
    ],
    [
      'start null',
      oneTrajectory({ start_time: null }),
      [['datetime_type', `${T},start_time`, 'Input should be a valid datetime']],
    ],
    [
      'items null',
      oneTrajectory({ messages_and_choices: null }),
      [['list_type', `${T},messages_and_choices`, 'Input should be a valid list']],
    ],
    [
      'a history without items',
      oneTrajectory({ additional_histories: [{}] }),
      [['missing', `${T},additional_histories,0,messages_and_choices`, 'Field required']],
    ],
    [
      'a tool without function',
      oneTrajectory({ tools: [{ type: 'function' }] }),
      [['missing', `${T},tools,0,function`, 'Field required']],
    ],
    [
      'a tool of type x',
      oneTrajectory({ tools: [{ type: 'x', function: { name: 'f' } }] }),
      [['literal_error', `${T},tools,0,type`, "Input should be 'function'"]],
    ],
    [
      'faults in two trajectories, the split and the step',
      {
        trajectory_groups: [{ trajectories: [{}] }, { trajectories: [{}, { logs: 1 }, { reward: 'abc' }] }],
        step: -1,
      },
      [
        ['missing', 'body,split', 'Field required'],
        ['list_type', 'body,trajectory_groups,1,trajectories,1,logs', 'Input should be a valid list'],
        [
          'float_parsing',
          'body,trajectory_groups,1,trajectories,2,reward',
          `${NUMBER}, unable to parse string as a number`,
        ],
        ['greater_than_equal', 'body,step', 'Input should be greater than or equal to 0'],
      ],
    ],
    [
      'a metric beyond the limit beside a wrong type',
      { split: 'a', trajectory_groups: [{ trajectories: [{ metrics: { a: 1e200 } }, { logs: 1 }] }] },
      [
        [
          'value_error',
          `${T},metrics`,
          'Value error, "a" must lie within ±1e+150, so that a mean can be computed',
        ],
        ['list_type', `${GROUP},trajectories,1,logs`, 'Input should be a valid list'],
      ],
    ],
  ])('refuses %s', async (_name, body, faults) => {
    const reply = await training.log(model, body);
    expect(reply.body).toEqual({
      detail: faults.map(([type, loc, msg]) => ({ loc: loc.split(','), msg, type })),
    });
    expect(reply.status).toBe(422);
    if (typeof body !== 'object' || Array.isArray(body)) return;
    expect(await logOverTrpc(model, body!)).toEqual([422, reply.body.detail]);
  });

  it('looks for the model before it reads the body, over tRPC too', async () => {
    const wrong = { trajectory_groups: [{}] };
    expect((await training.log('unknown', wrong)).status).toBe(404);
    expect(await logOverTrpc('unknown', wrong)).toEqual([404, undefined]);
  });

  it('stores nothing of a call with one wrong item in the middle', async () => {
    const id = await training.createModel();
    const item = { messages_and_choices: [{ role: 'user' }, {}, { role: 'user' }] };
    const groups = [{ trajectories: [{}, {}] }, { trajectories: [{}, item, {}] }, { trajectories: [{}] }];
    const reply = await training.log(id, { split: 'train', trajectory_groups: groups });
    expect(faultsOf(reply)).toEqual([
      'value_error body,trajectory_groups,1,trajectories,1,messages_and_choices,1',
    ]);
    expect((await training.call('GET', `/${id}/trajectories`)).body.data).toEqual([]);
    expect((await training.call('GET', `/${id}/metrics`)).body.data).toEqual([]);
  });

  it('stops at a thousand faults', async () => {
    const body = { split: 'a', trajectory_groups: [{ trajectories: new Array(3000).fill({ reward: 'x' }) }] };
    const { detail } = (await training.log(model, body)).body;
    expect(detail).toHaveLength(1001);
    expect(detail.at(-1).type).toBe('too_many_errors');
  });

  it('does not know other models, and reveals nothing to strangers', async () => {
    const body = { split: 'train', trajectory_groups: [] };
    expect(await training.log('unknown', body)).toMatchObject({
      status: 404,
      body: { detail: 'There is no model unknown.' },
    });
    for (const authorization of ['', 'Basic YTpi', 'Bearer wrong'])
      expect(await training.log(model, body, { authorization })).toMatchObject({
        status: 401,
        body: { detail: 'Not authenticated' },
        headers: { 'www-authenticate': 'Bearer' },
      });
    const url = '/v1/preview/nothing';
    const headers = { authorization: AUTHORIZATION };
    expect((await training.app.inject({ url })).json()).toEqual({ detail: 'Not authenticated' });
    expect((await training.app.inject({ url, headers })).json()).toEqual({ detail: 'Not Found' });
    expect(await training.call('GET', `/${model}/log`)).toMatchObject({
      status: 405,
      body: { detail: 'Method Not Allowed' },
    });
  });

  it('refuses a body past its limit', async () => {
    const large = oneTrajectory({ logs: ['x'.repeat(STREAMED_BODY_LIMIT)] });
    expect((await training.log(model, large)).status).toBe(413);
  });

  it('refuses over tRPC a number that JSON does not have, anywhere', async () => {
    const reply = await training.app.inject({
      method: 'POST',
      url: '/trpc/training.trajectories.log',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      payload: `{"model_id":"${model}","split":"a","trajectory_groups":[],"unknown":1e400}`,
    });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().error.message).toContain('a number beyond');
  });
});
