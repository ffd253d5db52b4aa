// Queries of trajectories over both transports: filters, pages during concurrent inserts, streams.

import { createOrtlerClient } from '@ortler/api/client';
import { TEST_API_KEY } from '@ortler/api/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { describeOnEveryDatabase } from './databases.ts';
import { faultsOf, oneTrajectory, useTrainingApp } from './open-training-app.ts';

interface Item {
  readonly id: string;
  readonly split: string;
  readonly step: number;
  readonly reward: number;
}

describeOnEveryDatabase('trajectories', ({ open, isConcurrent }) => {
  const clock = { nowMs: 1_790_000_000_000 };
  const training = useTrainingApp(open, clock);

  const page = async (id: string, query: string) =>
    (await training.call('GET', `/${id}/trajectories?${query}`)).body as { data: Item[]; has_more: boolean };

  /** All items, page by page; `between` runs after each page. */
  async function walk(id: string, query: string, limit: number, between = async () => {}): Promise<Item[]> {
    const items: Item[] = [];
    for (let after = ''; ; ) {
      const { data, has_more: hasMore } = await page(id, `${query}&limit=${limit}&after=${after}`);
      items.push(...data);
      if (!hasMore) return items;
      after = data.at(-1)!.id;
      await between();
    }
  }

  it('gives exactly the trajectories that pass every filter, whatever the page size', async () => {
    const id = await training.createModel();
    const logs: { split: string; step: number; rewards: number[]; loggedAt: number }[] = [];
    for (let index = 0; index < 12; index++) {
      const log = {
        split: ['train', 'val'][index % 2]!,
        step: index % 3,
        rewards: [index / 4, -1 - index],
        loggedAt: index,
      };
      clock.nowMs = 1_790_000_000_000 + index * 1000;
      logs.push(log);
      const trajectories = log.rewards.map(reward => ({ reward }));
      await training.log(id, { split: log.split, step: log.step, trajectory_groups: [{ trajectories }] });
    }
    const at = (index: number) => new Date(1_790_000_000_000 + index * 1000).toISOString();
    const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
    const filters = fc.record({
      split: optional(fc.constantFrom('train', 'val', 'none')),
      step: optional(fc.nat(3)),
      min_reward: optional(fc.integer({ min: -12, max: 3 })),
      max_reward: optional(fc.integer({ min: -12, max: 3 })),
      from: optional(fc.nat(12)),
      before: optional(fc.nat(12)),
    });
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 9 }), async (filter, limit) => {
        const { from, before, ...same } = filter;
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries(same))
          if (value !== undefined) query.set(name, String(value));
        if (from !== undefined) query.set('logged_from', at(from));
        if (before !== undefined) query.set('logged_before', at(before));
        const expected = logs.flatMap(({ split, step, rewards, loggedAt }) =>
          rewards
            .filter(
              reward =>
                (filter.split ?? split) === split &&
                (filter.step ?? step) === step &&
                reward >= (filter.min_reward ?? reward) &&
                reward <= (filter.max_reward ?? reward) &&
                loggedAt >= (from ?? 0) &&
                loggedAt < (before ?? 99),
            )
            .map(reward => ({ split, step, reward })),
        );
        const found = await walk(id, query.toString(), limit);
        expect(found.map(({ split, step, reward }) => ({ split, step, reward }))).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });

  it('shows no trajectory twice and misses none while others insert', async () => {
    const id = await training.createModel();
    const sent: number[] = [];
    const logSome = (start: number, count: number) => {
      const trajectories = Array.from({ length: count }, (_, index) => ({ reward: start + index }));
      sent.push(...trajectories.map(({ reward }) => reward));
      return training.log(id, { split: 'train', trajectory_groups: [{ trajectories }] });
    };
    await logSome(0, 20);
    let next = 1000;
    const running: Promise<unknown>[] = [];
    const items = await walk(id, '', 4, async () => {
      if (next >= 1100) return;
      // Concurrent calls of different lengths, so that they commit in any order.
      for (const count of [7, 1, 3]) {
        running.push(logSome(next, count));
        next += count;
      }
      if (!isConcurrent) await Promise.all(running);
    });
    await Promise.all(running);
    const rest = await walk(id, `after=${items.at(-1)!.id}`, 50).then(found =>
      found.filter(({ id: found }) => Number(found) > Number(items.at(-1)!.id)),
    );
    const seen = [...items, ...rest].map(({ reward }) => reward);
    expect([...seen].sort((a, b) => a - b)).toEqual([...sent].sort((a, b) => a - b));
    const positions = items.map(item => Number(item.id));
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
  });

  it('ends a page early when trajectories are large, and never leaves one empty', async () => {
    const id = await training.createModel();
    const model = await training.database.db
      .selectFrom('training_models')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    expect(model).toBeDefined();
    const large = { logs: ['x'.repeat(50_000)] };
    await training.log(id, oneTrajectory(large));
    await training.log(id, oneTrajectory(large));
    // As if they were of six million characters each.
    await training.database.db
      .updateTable('trajectories')
      .set({ json_length: 6_000_000 })
      .where('model_id', '=', id)
      .execute();
    const first = await page(id, 'limit=10');
    expect({ count: first.data.length, hasMore: first.has_more }).toEqual({ count: 1, hasMore: true });
    expect(await walk(id, '', 10)).toHaveLength(2);
  });

  it('streams every trajectory as one line, indented or not', async () => {
    const id = await training.createModel();
    const text = '{\n  "metadata": {"id": 9223372036854775807},\r\n  "logs": ["a\\nb"]\n}';
    await training.log(id, `{"split":"train","trajectory_groups":[{"trajectories":[${text},{}]}]}`);
    for (let index = 0; index < 150; index++) {
      const trajectories = [{ reward: index }];
      if (index % 50 === 0) await training.log(id, { split: 'val', trajectory_groups: [{ trajectories }] });
    }
    const reply = await training.call('GET', `/${id}/trajectories/export`);
    expect(reply.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = reply.text.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines[0]).toContain('9223372036854775807');
    const items = lines.map(line => JSON.parse(line) as Item);
    expect(JSON.stringify(items)).toBe(JSON.stringify(await walk(id, '', 100)));
    const filtered = await training.call('GET', `/${id}/trajectories/export?split=val&min_reward=50`);
    expect(filtered.text.trim().split('\n')).toHaveLength(2);
  });

  it('refuses wrong parameters and unknown models', async () => {
    const id = await training.createModel();
    const reply = await training.call('GET', `/${id}/trajectories?after=x&limit=0&step=-1&logged_from=y`);
    expect(faultsOf(reply)).toEqual([
      'greater_than_equal query,step',
      'datetime_from_date_parsing query,logged_from',
      'value_error query,after',
      'greater_than_equal query,limit',
    ]);
    for (const path of ['trajectories', 'trajectories/export', 'metrics'])
      expect((await training.call('GET', `/unknown/${path}`)).status).toBe(404);
    for (const path of ['trajectories', 'trajectories/export', 'metrics'])
      expect(faultsOf(await training.call('GET', `/${id}/${path}?split=%00`))).toEqual([
        'value_error query,split',
      ]);
  });

  it('stores, gives and refuses the same over tRPC as over REST', async () => {
    await training.app.listen({ host: '127.0.0.1', port: 0 });
    const address = training.app.server.address() as { port: number };
    const client = createOrtlerClient({ url: `http://127.0.0.1:${address.port}`, apiKey: TEST_API_KEY });
    const [rest, trpc] = [await training.createModel(), await training.createModel()];
    const groups = [
      {
        trajectories: [
          { reward: '2', metadata: { id: 9_223_372_036_854_775_807n } as never, unknown: [10n ** 400n] },
        ],
        exceptions: [{}],
      },
    ];
    await client.training.trajectories.log.mutate({
      model_id: trpc,
      split: 'val',
      trajectory_groups: groups as never,
    });
    const text = `{"reward":"2","metadata":{"id":9223372036854775807},"unknown":[1${'0'.repeat(400)}]}`;
    await training.log(
      rest,
      `{"split":"val","trajectory_groups":[{"trajectories":[${text}],"exceptions":[{}]}]}`,
    );
    const json = async (model: string) =>
      (
        await training.database.db
          .selectFrom('trajectories')
          .select('json')
          .where('model_id', '=', model)
          .execute()
      )[0]?.json;
    expect(await json(trpc)).toBe(await json(rest));

    const { data } = await client.training.trajectories.list.query({ model_id: trpc });
    expect(data[0]?.trajectory).toEqual({
      reward: '2',
      metadata: { id: 9_223_372_036_854_775_807n },
      unknown: [10n ** 400n],
    });
    const streamed: string[] = [];
    for await (const line of await client.training.trajectories.export.query({ model_id: trpc }))
      streamed.push(line);
    expect(streamed.join('')).toBe((await training.call('GET', `/${trpc}/trajectories/export`)).text);
    expect(await client.training.trajectories.metrics.query({ model_id: trpc })).toEqual(
      (await training.call('GET', `/${rest}/metrics`)).body,
    );

    const wrong = { model_id: rest, split: '', trajectory_groups: [{}] };
    const error = await client.training.trajectories.log
      .mutate(wrong as never)
      .catch((thrown: unknown) => thrown);
    const { detail } = (await training.log(rest, wrong)).body;
    expect((error as { data: { faults: unknown; httpStatus: number } }).data).toMatchObject({
      faults: detail,
      httpStatus: 422,
    });
    await expect(client.training.trajectories.logBytes.mutate({} as never)).rejects.toThrow();
  });
});
