// The log endpoint: what it stores, and every way it refuses, on every database.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../src/db/database.ts';
import { describeOnEveryDatabase } from './databases.ts';
import { faultsOf, oneTrajectory, openTrainingApp, type TrainingApp } from './open-training-app.ts';

const T = 'body,trajectory_groups,0,trajectories,0';
const GROUP = 'body,trajectory_groups,0';
const NUMBER = 'Input should be a valid number';
const MODEL = 'Input should be a valid dictionary or object to extract fields from';
const CHOICE = {
  finish_reason: 'stop',
  index: 0,
  message: { role: 'assistant', content: '4', token_ids: [7] },
  logprobs: { content: [{ token: '4', logprob: -0.1, bytes: [52], top_logprobs: [] }] },
};

describeOnEveryDatabase('POST /v1/preview/models/{model_id}/log', ({ open }) => {
  let database: Database;
  let training: TrainingApp;
  let model: string;
  const clock = { nowMs: 1_790_000_000_000 };

  beforeAll(async () => {
    database = await open();
    training = await openTrainingApp(database, clock);
    model = await training.createModel();
  });
  afterAll(async () => {
    await training.close();
    await database.close();
  });

  const stored = async (id: string, query = '') =>
    (await training.call('GET', `/${id}/trajectories?limit=100${query}`)).body;

  it('takes an empty log and tells what it stored', async () => {
    const { status, body } = await training.log(model, { split: 'train', trajectory_groups: [] });
    expect({ status, body }).toEqual({
      status: 200,
      body: { object: 'trajectory_log', id: expect.any(String), groups: 0, trajectories: 0 },
    });
  });

  it('stores an empty trajectory with its defaults, begun when it arrived', async () => {
    const id = await training.createModel();
    expect((await training.log(id, oneTrajectory({}))).status).toBe(200);
    expect((await stored(id)).data).toEqual([
      {
        id: '1',
        log_id: expect.any(String),
        group_index: 0,
        trajectory_index: 0,
        split: 'train',
        step: 0,
        reward: 0,
        initial_policy_version: null,
        final_policy_version: null,
        metrics: {},
        trainable_items: [],
        start_time: new Date(clock.nowMs).toISOString(),
        logged_at: new Date(clock.nowMs).toISOString(),
        trajectory: {},
      },
    ]);
  });

  it('keeps a choice with its log probabilities and marks it as trainable', async () => {
    const id = await training.createModel();
    const trajectory = { messages_and_choices: [{ role: 'user', content: '2 + 2?' }, CHOICE] };
    await training.log(id, oneTrajectory(trajectory));
    expect((await stored(id)).data[0]).toMatchObject({ trainable_items: [1], trajectory });
  });

  it('takes what real clients send beside the published fields, in any order', async () => {
    const id = await training.createModel();
    const group = {
      exceptions: [{ type: 'E', message: 'm', traceback: 't' }],
      metadata: { task: 'x' },
      metrics: { difficulty: 2 },
      trajectories: [
        { reward: 1, exchanges: [{ a: 1 }], additional_histories: [{ messages_and_choices: [] }] },
      ],
      logs: ['line'],
    };
    const reply = await training.log(id, {
      model_id: id,
      trajectory_groups: [group],
      split: 'val',
      new_key: {},
    });
    expect(reply.status).toBe(200);
    expect((await stored(id)).data[0]).toMatchObject({ split: 'val', trajectory: group.trajectories[0] });
    const [row] = await database.db
      .selectFrom('trajectory_groups')
      .selectAll()
      .where('model_id', '=', id)
      .execute();
    const { trajectories: _, ...rest } = group;
    expect(JSON.parse(row!.json)).toEqual(rest);
  });

  it('keeps the text of a trajectory, every digit and space of it', async () => {
    const id = await training.createModel();
    const text =
      '{ "metadata" : {"id":9223372036854775807,"half":1.50},\n "unknown":[1e5, 9007199254740993] }';
    const body = `{"split":"train","trajectory_groups":[{"trajectories":[${text}]}]}`;
    expect((await training.log(id, body)).status).toBe(200);
    const [row] = await database.db
      .selectFrom('trajectories')
      .select('json')
      .where('model_id', '=', id)
      .execute();
    expect(row!.json).toBe(text);
    const listed = (await training.call('GET', `/${id}/trajectories`)).text;
    expect(listed).toContain('"id":9223372036854775807');
    expect(listed).toContain('9007199254740993');
  });

  it('converts metrics', async () => {
    const id = await training.createModel();
    await training.log(id, oneTrajectory({ metrics: { ok: true, acc: 0.5, n: '2' }, reward: '1.5' }));
    expect((await stored(id)).data[0]).toMatchObject({ reward: 1.5, metrics: { ok: true, acc: 0.5, n: 2 } });
  });

  it('logs at the current step, or at the step it is given', async () => {
    const id = await training.createModel();
    await training.addCheckpoints(id, 3);
    await training.log(id, oneTrajectory({}));
    await training.log(id, { ...(oneTrajectory({}) as object), step: 1 });
    expect((await stored(id)).data.map(({ step }: { step: number }) => step)).toEqual([2, 1]);
  });

  it.each<[name: string, body: unknown, faults: readonly (readonly [string, string, string])[]]>([
    [
      'an empty object',
      {},
      [
        ['missing', 'body,split', 'Field required'],
        ['missing', 'body,trajectory_groups', 'Field required'],
      ],
    ],
    ['no body', '', [['missing', 'body', 'Field required']]],
    ['broken JSON', '{"split": x}', [['json_invalid', 'body,10', 'JSON decode error']]],
    ['a trailing comma', '{"split":"a",}', [['json_invalid', 'body,13', 'JSON decode error']]],
    [
      'NaN',
      '{"split":"a","trajectory_groups":[{"trajectories":[{"reward":NaN}]}]}',
      [['json_invalid', 'body,61', 'JSON decode error']],
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
  ])('refuses %s', async (_name, body, faults) => {
    const reply = await training.log(model, body);
    expect(reply.body).toEqual({
      detail: faults.map(([type, loc, msg]) => ({ loc: loc.split(','), msg, type })),
    });
    expect(reply.status).toBe(422);
  });

  it('stores nothing of a call with one wrong item in the middle', async () => {
    const id = await training.createModel();
    const item = { messages_and_choices: [{ role: 'user' }, {}, { role: 'user' }] };
    const groups = [{ trajectories: [{}, {}] }, { trajectories: [{}, item, {}] }, { trajectories: [{}] }];
    const reply = await training.log(id, { split: 'train', trajectory_groups: groups });
    expect(faultsOf(reply)).toEqual([
      'value_error body,trajectory_groups,1,trajectories,1,messages_and_choices,1',
    ]);
    expect((await stored(id)).data).toEqual([]);
    expect((await training.call('GET', `/${id}/metrics`)).body.data).toEqual([]);
  });

  it('stops at a thousand faults', async () => {
    const body = { split: 'a', trajectory_groups: [{ trajectories: new Array(3000).fill({ reward: 'x' }) }] };
    const { detail } = (await training.log(model, body)).body;
    expect(detail).toHaveLength(1001);
    expect(detail.at(-1).type).toBe('too_many_errors');
  });

  it('does not know other models, and tells strangers nothing', async () => {
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
    expect((await training.app.inject({ method: 'GET', url })).json()).toEqual({ detail: 'Not Found' });
    expect(await training.call('GET', `/${model}/log`)).toMatchObject({
      status: 405,
      body: { detail: 'Method Not Allowed' },
    });
  });

  it('gives a repeated call its first answer, and refuses its key to another body', async () => {
    const id = await training.createModel();
    const key = { 'idempotency-key': 'call-1' };
    const first = await training.log(id, oneTrajectory({ reward: 1 }), key);
    const again = await training.log(id, oneTrajectory({ reward: 1 }), key);
    expect(again.body).toEqual(first.body);
    expect((await stored(id)).data).toHaveLength(1);
    const other = await training.log(id, oneTrajectory({ reward: 2 }), key);
    expect(other.status).toBe(422);
    expect(faultsOf(other)).toEqual(['value_error header,idempotency-key']);
    expect((await training.log(id, oneTrajectory({ reward: 1 }))).body.id).not.toBe(first.body.id);
  });

  it('stores one of two calls with the same key that come together', async () => {
    const id = await training.createModel();
    const key = { 'idempotency-key': 'twins' };
    const replies = await Promise.all([1, 2, 3].map(() => training.log(id, oneTrajectory({}), key)));
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    expect((await stored(id)).data).toHaveLength(1);
  });

  it('refuses a body past its limit', async () => {
    const large = oneTrajectory({ logs: ['x'.repeat(70_000)] });
    expect((await training.log(model, large)).status).toBe(413);
  });

  it('finds a model by its escaped name', async () => {
    const { body } = await training.call('POST', '', {
      entity: 'acme',
      project: 'p',
      name: 'ä b',
      base_model: 'm',
    });
    const path = `/${encodeURIComponent('acme/p/ä b')}`;
    expect((await training.call('GET', path)).body).toEqual(body);
    expect((await training.call('POST', `${path}/log`, oneTrajectory({}))).status).toBe(200);
    expect((await stored(body.id)).data).toHaveLength(1);
  });

  it('refuses values whose sums would be infinite, and stores nothing of them', async () => {
    const id = await training.createModel();
    for (const trajectory of [{ reward: 1e151 }, { reward: -1e308 }, { metrics: { loss: 1e200 } }]) {
      const reply = await training.log(id, oneTrajectory(trajectory));
      expect(faultsOf(reply)).toEqual([`value_error ${T},metrics`]);
    }
    const largest = { trajectories: [{ reward: 1e150 }, { reward: -1e150 }] };
    expect((await training.log(id, { split: 'train', trajectory_groups: [largest] })).status).toBe(200);
    const { status, body } = await training.call('GET', `/${id}/metrics`);
    expect({ status, metrics: body.data[0].metrics }).toMatchObject({
      status: 200,
      metrics: { reward: 0, reward_std_dev: 1e150 },
    });
  });

  it('averages over the trajectories that have a metric, and over groups for their deviation', async () => {
    const id = await training.createModel();
    await training.addCheckpoints(id, 2);
    const trajectories = (rewards: readonly number[]) => rewards.map(reward => ({ reward }));
    const groups = [
      {
        trajectories: [{ reward: 1, metrics: { score: 8, reward: 100 } }, { reward: 0 }],
        metrics: { hard: true },
      },
      { trajectories: trajectories([1, 1]), exceptions: [{}] },
    ];
    await training.log(id, { split: 'val', trajectory_groups: groups });
    const expected = {
      'val/exception_rate': 0.2,
      'val/group_hard': 1,
      'val/reward': 0.75,
      'val/reward_std_dev': 0.25,
      'val/score': 8,
    };
    const [, newest] = (await training.call('GET', `/${id}/checkpoints`)).body.data;
    expect(newest.metrics).toEqual(expected);

    // A second call at the same step gives one mean over both.
    await training.log(id, {
      split: 'val',
      trajectory_groups: [{ trajectories: trajectories([0, 0, 0, 0]) }],
    });
    const [item] = (await training.call('GET', `/${id}/metrics?split=val`)).body.data;
    expect(item).toMatchObject({
      split: 'val',
      step: 1,
      metrics: { reward: 0.375, score: 8 },
      counts: { reward: 8, score: 1 },
    });
    expect((await training.call('GET', `/${id}/metrics?split=train`)).body.data).toEqual([]);
  });
});
