// The log endpoint on every database: storage, averaged metrics, idempotency.

import { connect } from 'node:net';
import { join } from 'node:path';
import type { TrajectoryRecord } from '@ortler/api';
import { expect, it } from 'vitest';
import { openTrajectorySpool, type ReadableSpool } from '../src/stores/training/trajectory-spool.ts';
import { describeOnEveryDatabase } from './databases.ts';
import { AUTHORIZATION } from './open-test-app.ts';
import { faultsOf, oneTrajectory, openTrainingApp, useTrainingApp } from './open-training-app.ts';

const CHOICE = {
  finish_reason: 'stop',
  index: 0,
  message: { role: 'assistant', content: '4', token_ids: [7] },
  logprobs: { content: [{ token: '4', logprob: -0.1, bytes: [52], top_logprobs: [] }] },
};

/** An integer that no double can hold. */
const LONG = '9'.repeat(400);

const RECORD: TrajectoryRecord = {
  groupIndex: 0,
  trajectoryIndex: 0,
  reward: 0,
  initialPolicyVersion: null,
  finalPolicyVersion: null,
  metrics: {},
  trainableItems: [],
  startTimeMs: 0,
  json: '{}',
};

describeOnEveryDatabase('POST /v1/preview/models/{model_id}/log', ({ open }) => {
  const clock = { nowMs: 1_790_000_000_000 };
  const training = useTrainingApp(open, clock);

  const stored = async (id: string, query = '') =>
    (await training.call('GET', `/${id}/trajectories?limit=100${query}`)).body;

  it('takes an empty log and says what it stored', async () => {
    const { status, body } = await training.log(await training.createModel(), {
      split: 'train',
      trajectory_groups: [],
    });
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

  it('keeps tools, calls and results of calls as they are', async () => {
    const id = await training.createModel();
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'add', arguments: '{"a": 2,  "b": 2}' },
    };
    const trajectory = {
      messages_and_choices: [
        { role: 'user', content: '2 + 2?' },
        {
          ...CHOICE,
          finish_reason: 'tool_calls',
          message: { role: 'assistant', content: null, tool_calls: [call] },
        },
        { role: 'tool', tool_call_id: 'call_1', content: '4' },
        CHOICE,
      ],
      tools: [{ type: 'function', function: { name: 'add', parameters: { type: 'object' }, strict: true } }],
    };
    await training.log(id, oneTrajectory(trajectory));
    expect((await stored(id)).data[0]).toMatchObject({ trainable_items: [1, 3], trajectory });
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
    const [row] = await training.database.db
      .selectFrom('trajectory_groups')
      .selectAll()
      .where('model_id', '=', id)
      .execute();
    const { trajectories: _, ...rest } = group;
    expect(JSON.parse(row!.json)).toEqual(rest);
  });

  it('keeps the text of a trajectory, every digit and space of it', async () => {
    const id = await training.createModel();
    const text = `{ "metadata" : {"id":9223372036854775807,"half":1.50},\n "unknown":[1e5, 9007199254740993, ${LONG}] }`;
    const body = `{"split":"train","trajectory_groups":[{"trajectories":[${text}]}]}`;
    expect((await training.log(id, body)).status).toBe(200);
    const [row] = await training.database.db
      .selectFrom('trajectories')
      .select('json')
      .where('model_id', '=', id)
      .execute();
    expect(row!.json).toBe(text);
    const listed = (await training.call('GET', `/${id}/trajectories`)).text;
    expect(listed).toContain('"id":9223372036854775807');
    expect(listed).toContain('9007199254740993');
    expect(listed).toContain(LONG);
    expect((await training.call('GET', `/${id}/trajectories/export`)).text).toContain(LONG);
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

  it('finds an earlier call over tRPC that named the model otherwise', async () => {
    const id = await training.createModel('named');
    const log = (modelId: string) =>
      training.app.inject({
        method: 'POST',
        url: '/trpc/training.trajectories.log',
        headers: { authorization: AUTHORIZATION, 'idempotency-key': 'call-2' },
        payload: { split: 'train', trajectory_groups: [], model_id: modelId },
      });
    const first = await log(id);
    expect(first.statusCode).toBe(200);
    expect((await log('named')).json()).toEqual(first.json());
  });

  it('stores nothing of a call whose client leaves while it is written', async () => {
    const id = await training.createModel();
    const { trajectories } = training.training;
    const client = new AbortController();
    const spool = openTrajectorySpool(join(training.checkpointDir, 'spool'));
    const count = 300;
    for (let trajectoryIndex = 0; trajectoryIndex < count; trajectoryIndex++)
      await spool.addTrajectory({ ...RECORD, trajectoryIndex });
    await spool.addGroup({ groupIndex: 0, json: '{}' });
    const leaving: ReadableSpool = {
      ...spool,
      async *records() {
        let read = 0;
        for await (const record of spool.records()) {
          yield record;
          if (++read === 200) client.abort();
        }
      },
    };
    const log = {
      split: 'train',
      step: null,
      groupCount: 1,
      trajectoryCount: count,
      tallies: new Map(),
    } as const;
    const left = { ...log, idempotency: null, spool: leaving, signal: client.signal };
    await expect(trajectories.append(id, left)).rejects.toThrow('aborted');
    expect((await stored(id)).data).toEqual([]);
    await spool.dispose();
  });

  it.each([
    ['fit into memory', 40, 1_000],
    ['go through a file', 100, 10_000],
  ])('stores every digit of large logs that %s', async (_, count, length) => {
    const id = await training.createModel();
    const texts = Array.from(
      { length: count },
      (__, index) => `{"reward": ${index}.50, "n": ${LONG}, "text": "${'ä\ud83d\ude00'.repeat(length / 3)}"}`,
    );
    const groups = `[{"trajectories": [${texts.join()}], "metadata": {"digits": 1.10}}]`;
    const { status, body } = await training.log(id, `{"split": "train", "trajectory_groups": ${groups}}`);
    expect([status, body.trajectories]).toEqual([200, count]);
    const exported = await training.call('GET', `/${id}/trajectories/export`);
    expect(exported.text.split('\n').length - 1).toBe(count);
    for (const text of texts.slice(0, 3)) expect(exported.text).toContain(text);
    expect(exported.text).toContain(texts.at(-1));
  });

  it('stores nothing of a large log that is wrong, and names the place', async () => {
    const id = await training.createModel();
    const bodyOf = (last: string) =>
      `{"split": "train", "trajectory_groups": [{"trajectories": [${'{},'.repeat(9_000)}${last}]}]}`;
    const wrong = await training.log(id, bodyOf('{"reward": "x"}'));
    expect(wrong.status).toBe(422);
    expect(faultsOf(wrong)).toEqual([
      expect.stringMatching(/ body,trajectory_groups,0,trajectories,9000,reward$/),
    ]);
    const text = bodyOf('{"reward": 1');
    const broken = await training.log(id, text);
    expect([broken.status, faultsOf(broken)]).toEqual([422, [`json_invalid body,${text.indexOf('1]') + 1}`]]);
    expect((await stored(id)).data).toEqual([]);
  });

  it('receives the rest of a large log that it refused before its end, so that the client reads why', async () => {
    const id = await training.createModel();
    const { port } = new URL(await training.app.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), '127.0.0.1');
    const body = `{"split": "a", "trajectory_groups": [{"trajectories": [${'{},'.repeat(1_300_000)}{}]}]}`;
    socket.write(
      `POST /v1/preview/models/${id}/log HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${AUTHORIZATION}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const parts: Buffer[] = [];
    for await (const part of socket) parts.push(part as Buffer);
    const reply = String(Buffer.concat(parts));
    expect(reply).toMatch(/^HTTP\/1.1 422 /);
    expect(reply).toContain('one call may hold at most');
  });

  it('can be asked again when the thread that reads large logs has ended', async () => {
    const other = await openTrainingApp(training.database, clock);
    const id = await other.createModel('read by nobody');
    await other.closeReaders();
    const { status, headers, body } = await other.log(id, oneTrajectory({ text: 'x'.repeat(100_000) }));
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(body.detail).toMatch(/^Nothing was stored/);
    expect((await other.log(id, oneTrajectory({}))).status).toBe(200);
    await other.close();
  });

  it('stores one of two calls with the same key that come together', async () => {
    const id = await training.createModel();
    const key = { 'idempotency-key': 'twins' };
    const replies = await Promise.all([1, 2, 3].map(() => training.log(id, oneTrajectory({}), key)));
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    expect((await stored(id)).data).toHaveLength(1);
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
      expect(faultsOf(reply)).toEqual(['value_error body,trajectory_groups,0,trajectories,0,metrics']);
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
