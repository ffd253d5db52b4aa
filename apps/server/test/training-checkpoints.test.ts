// Models and checkpoints over REST, on every database.

import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTinyAdapter } from '@ortler/model-builder/testing';
import { expect, it } from 'vitest';
import { createCheckpointStore } from '../src/stores/training/checkpoints.ts';
import { describeOnEveryDatabase } from './databases.ts';
import { faultsOf, openTrainingApp, type Reply, useTrainingApp } from './open-training-app.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describeOnEveryDatabase('models and checkpoints', ({ open }) => {
  const training = useTrainingApp(open);

  const list = (id: string, query = ''): Promise<Reply> => training.call('GET', `/${id}/checkpoints${query}`);

  it('refuses to change anything of a checkpoint but its metrics', async () => {
    const id = await training.createModel();
    const [checkpoint] = await training.addCheckpoints(id, 1);
    const body = { metrics: { a: 1 }, step: 3 };
    expect(await training.call('PATCH', `/${id}/checkpoints/${checkpoint}`, body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'step'], type: 'extra_forbidden' }] },
    });
  });

  it('refuses the id of a model that the server serves, which chats would reach in its place', async () => {
    const taken = await training.call('POST', '', { name: 'demo', base_model: 'demo' });
    expect(taken).toMatchObject({ status: 409, body: { detail: expect.stringContaining('the id demo') } });
    const elsewhere = { entity: 'acme', name: 'demo', base_model: 'demo' };
    expect((await training.call('POST', '', elsewhere)).status).toBe(200);
  });

  it('creates a model, and gives the one that has its name only when asked to', async () => {
    const body = { entity: null, project: 'p', name: 'twice', base_model: 'm', return_existing: true };
    const first = await training.call('POST', '', body);
    expect(first.body).toEqual({
      object: 'training_model',
      id: expect.stringMatching(UUID),
      entity: 'default',
      project: 'p',
      name: 'twice',
      base_model: 'm',
      run_id: null,
      created_at: expect.any(String),
    });
    expect((await training.call('POST', '', body)).body).toEqual(first.body);
    const refused = await training.call('POST', '', { ...body, return_existing: false });
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('default/p/twice') },
    });
    const unnamed = await training.call('POST', '', { base_model: 'm' });
    expect(unnamed.body.name).toMatch(/^model-/);
  });

  it('lists models by time of creation, page by page, of all or of one project', async () => {
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const body = { entity: 'listing', project: name === 'two' ? 'q' : 'p', name, base_model: 'm' };
      ids.push((await training.call('POST', '', body)).body.id);
    }
    const pageOf = async (query: string) => {
      const { body } = await training.call('GET', `?entity=listing&${query}`);
      return { ...body, data: body.data.map((item: { id: string }) => item.id) };
    };
    const all = await pageOf('');
    expect(all.data.toSorted()).toEqual(ids.toSorted());
    const [a, b, c] = all.data;
    const page = (data: string[], hasMore: boolean) => ({
      object: 'list',
      data,
      has_more: hasMore,
      first_id: data[0] ?? '',
      last_id: data.at(-1) ?? '',
    });
    expect(await pageOf('limit=2')).toEqual(page([a, b], true));
    expect(await pageOf(`limit=2&after=${b}`)).toEqual(page([c], false));
    expect(await pageOf(`after=${c}`)).toEqual(page([], false));
    expect(await pageOf('order=desc&limit=1')).toEqual(page([c], true));
    expect(await pageOf(`order=desc&after=${b}`)).toEqual(page([a], false));
    expect(await pageOf('project=q')).toEqual(page([ids[1]!], false));
    expect((await training.call('GET', '?entity=listing')).body.data[0]).toMatchObject({
      object: 'training_model',
      entity: 'listing',
      base_model: 'm',
    });
    for (const query of ['after=unknown', 'after=%00', 'limit=0', 'order=up', 'project=%00'])
      expect((await training.call('GET', `?${query}`)).status, query).toBe(422);
  });

  it('counts a model as untrained until it has weights that are not deleted', async () => {
    const id = await training.createModel('untrained');
    const untrained = async () =>
      (await training.training.models.listUntrained('default')).some(model => model.id === id);
    const register = (step: number, weights: { kind: 'lora'; path: string } | null) =>
      training.training.checkpoints.register(id, { id: null, step, metrics: {}, weights });
    await register(0, null);
    expect(await untrained()).toBe(true);
    await register(1, { kind: 'lora', path: '/lora' });
    expect(await untrained()).toBe(false);
    await training.training.checkpoints.deleteSteps(id, [1]);
    expect(await untrained()).toBe(true);
    expect(await training.training.models.listUntrained('nobody')).toEqual([]);
  });

  it('makes one model when several ask for the same at once', async () => {
    const body = { name: 'at-once', base_model: 'm', return_existing: true };
    const replies = await Promise.all(Array.from({ length: 5 }, () => training.call('POST', '', body)));
    expect(new Set(replies.map(reply => reply.body.id)).size).toBe(1);
  });

  it('deletes a model with all that belongs to it', async () => {
    const id = await training.createModel();
    await training.addCheckpoints(id, 2);
    await training.log(id, { split: 'a', trajectory_groups: [{ trajectories: [{}], logs: [] }] });
    // Clients send the content type without a body.
    expect((await training.call('DELETE', `/${id}`)).body).toEqual({
      object: 'training_model.deleted',
      id,
      deleted: true,
    });
    for (const table of [
      'checkpoints',
      'trajectories',
      'trajectory_logs',
      'trajectory_groups',
      'split_metrics',
    ] as const)
      expect(
        await training.database.db.selectFrom(table).selectAll().where('model_id', '=', id).execute(),
      ).toEqual([]);
    for (const reply of [await list(id), await training.call('DELETE', `/${id}`)])
      expect(reply.status).toBe(404);
  });

  it('pages by step in both orders', async () => {
    const id = await training.createModel();
    const [a, b, c, d, e] = (await training.addCheckpoints(id, 5)) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const rows: [string, string[], boolean][] = [
      ['', [a, b, c, d, e], false],
      ['?limit=2', [a, b], true],
      [`?limit=2&after=${b}`, [c, d], true],
      [`?limit=2&after=${d}`, [e], false],
      [`?limit=2&after=${e}`, [], false],
      ['?limit=5', [a, b, c, d, e], false],
      ['?limit=1&order=desc', [e], true],
      [`?order=desc&limit=2&after=${e}`, [d, c], true],
      [`?order=desc&after=${a}`, [], false],
      ['?after=', [a, b, c, d, e], false],
      ['?limit=5&limit=1', [a], true],
      ['?limit=1&unknown=1', [a], true],
    ];
    for (const [query, ids, hasMore] of rows) {
      const { body } = await list(id, query);
      expect({ query, ...body, data: body.data.map((item: { id: string }) => item.id) }).toEqual({
        query,
        object: 'list',
        data: ids,
        has_more: hasMore,
        first_id: ids[0] ?? '',
        last_id: ids.at(-1) ?? '',
      });
    }
    expect((await list(id, '?limit=1')).body.data).toEqual([{ id: a, step: 0, metrics: {} }]);
    const fresh = await training.createModel();
    expect((await list(fresh, '?limit=1&order=desc')).body).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: '',
      last_id: '',
    });
  });

  it.each([
    ['limit=0', 'greater_than_equal', 'limit', 'Input should be greater than or equal to 1'],
    ['limit=-1', 'greater_than_equal', 'limit', 'Input should be greater than or equal to 1'],
    ['limit=101', 'less_than_equal', 'limit', 'Input should be less than or equal to 100'],
    [
      'limit=abc',
      'int_parsing',
      'limit',
      'Input should be a valid integer, unable to parse string as an integer',
    ],
    [
      'limit=1.5',
      'int_parsing',
      'limit',
      'Input should be a valid integer, unable to parse string as an integer',
    ],
    [
      'limit=',
      'int_parsing',
      'limit',
      'Input should be a valid integer, unable to parse string as an integer',
    ],
    ['order=x', 'literal_error', 'order', "Input should be 'asc' or 'desc'"],
    ['order=ASC', 'literal_error', 'order', "Input should be 'asc' or 'desc'"],
  ])('refuses ?%s', async (query, type, field, msg) => {
    const { status, body } = await list(await training.createModel(), `?${query}`);
    expect({ status, body }).toEqual({
      status: 422,
      body: { detail: [{ loc: ['query', field], msg, type }] },
    });
  });

  it('takes a limit of 100', async () => {
    expect((await list(await training.createModel(), '?limit=100')).status).toBe(200);
  });

  it('refuses an unknown cursor and one of another model alike', async () => {
    const [id, other] = [await training.createModel(), await training.createModel()];
    const [foreign] = await training.addCheckpoints(other, 1);
    const unknown = await list(id, '?after=01998d2f-3a40-7c52-9d3e-5a2b8f7c6d1e');
    expect(unknown.status).toBe(422);
    expect(faultsOf(unknown)).toEqual(['value_error query,after']);
    expect((await list(id, `?after=${foreign}`)).text).toBe(unknown.text);
  });

  it('knows nothing under names and ids that no database could keep', async () => {
    const id = await training.createModel();
    const own = `/${id}/checkpoints`;
    for (const path of ['/%00', '/%00/checkpoints', `${own}/%00`])
      expect((await training.call('GET', path)).status).toBe(404);
    expect((await training.call('PATCH', `${own}/%00`, { metrics: {} })).status).toBe(404);
    expect(faultsOf(await list(id, '?after=%00'))).toEqual(['value_error query,after']);
  });

  it('has no step after the last one that a number can count', async () => {
    const id = await training.createModel();
    await training.call('POST', `/${id}/checkpoints`, { step: Number.MAX_SAFE_INTEGER });
    expect((await training.call('POST', `/${id}/checkpoints`, {})).status).toBe(409);
    expect((await list(id)).body.data).toHaveLength(1);
  });

  it('walks on from a checkpoint that was deleted meanwhile', async () => {
    const id = await training.createModel();
    const ids = await training.addCheckpoints(id, 5);
    await training.call('DELETE', `/${id}/checkpoints`, { steps: [1] });
    const { body } = await list(id, `?limit=2&after=${ids[1]}`);
    expect(body.data.map((item: { step: number }) => item.step)).toEqual([2, 3]);
  });

  it('deletes steps and reports which were not there', async () => {
    const id = await training.createModel();
    await training.addCheckpoints(id, 3);
    const { body } = await training.call('DELETE', `/${id}/checkpoints`, { steps: [1, 99] });
    expect(body).toEqual({ deleted_count: 1, not_found_steps: [99] });
    expect((await list(id)).body.data.map((item: { step: number }) => item.step)).toEqual([0, 2]);
    expect((await training.call('DELETE', `/${id}/checkpoints`, { steps: [1] })).body).toEqual({
      deleted_count: 0,
      not_found_steps: [1],
    });
    expect(faultsOf(await training.call('DELETE', `/${id}/checkpoints`))).toEqual(['missing body,steps']);
    // The step is free again.
    expect((await training.call('POST', `/${id}/checkpoints`, { step: 1 })).status).toBe(200);
  });

  it('registers checkpoints under steps and ids that are free', async () => {
    const id = await training.createModel();
    const own = crypto.randomUUID();
    const first = await training.call('POST', `/${id}/checkpoints`, {
      id: own,
      step: 7,
      metrics: { loss: '0.5' },
    });
    expect(first.body).toMatchObject({
      id: own,
      step: 7,
      metrics: { loss: 0.5 },
      model: null,
      weights: null,
    });
    expect((await training.call('POST', `/${id}/checkpoints`, {})).body.step).toBe(8);
    expect((await training.call('POST', `/${id}/checkpoints`, { step: 7 })).status).toBe(409);
    expect((await training.call('POST', `/${id}/checkpoints`, { id: own, step: 9 })).status).toBe(409);
    expect((await training.call('GET', `/${id}/checkpoints/${own}`)).body).toEqual(first.body);
    for (const path of [`/${id}/checkpoints/${crypto.randomUUID()}`, `/unknown/checkpoints/${own}`])
      expect((await training.call('GET', path)).status).toBe(404);
  });

  it('knows a checkpoint by its id in any case, and gives it in lower case', async () => {
    const id = await training.createModel();
    const own = crypto.randomUUID();
    const upper = own.toUpperCase();
    const first = await training.call('POST', `/${id}/checkpoints`, { id: upper, step: 1 });
    expect(first.body.id).toBe(own);
    expect((await training.call('POST', `/${id}/checkpoints`, { id: own, step: 2 })).status).toBe(409);
    expect((await training.call('GET', `/${id}/checkpoints/${upper}`)).body).toEqual(first.body);
    const merged = await training.call('PATCH', `/${id}/checkpoints/${upper}`, { metrics: { a: 1 } });
    expect(merged.body.metrics).toEqual({ a: 1 });
    expect((await list(id, `?after=${upper}`)).body.data).toEqual([]);
  });

  it('registers no checkpoint of a model that is being deleted', async () => {
    const id = await training.createModel();
    let registering: Promise<unknown> = Promise.resolve();
    await training.database.transaction(async trx => {
      await trx.deleteFrom('training_models').where('id', '=', id).execute();
      registering = training.training.checkpoints.register(id, {
        id: null,
        step: null,
        metrics: {},
        weights: null,
      });
      // Long enough for a registration that does not wait.
      await Promise.race([registering, sleep(200)]);
    });
    expect(await registering).toBe('unknown-model');
  });

  it('keeps every step once when trainers register at the same time', async () => {
    const id = await training.createModel();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => training.call('POST', `/${id}/checkpoints`, {})),
    );
    expect(replies.map(({ body }) => body.step).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('registers as many checkpoints of a model and of a team as are allowed, deleted ones apart', async () => {
    const limited = await openTrainingApp(training.database, undefined, services => ({
      training: {
        ...services,
        checkpoints: createCheckpointStore(training.database, Date.now, { perModel: 2, perTeam: 3 }),
      },
    }));
    const make = async (name: string) =>
      (await limited.call('POST', '', { entity: 'narrow', project: 'p', name, base_model: 'm' })).body.id;
    const [first, second] = [await make('one'), await make('two')];
    const register = async (id: string, step: number) =>
      (await limited.call('POST', `/${id}/checkpoints`, { step })).body.detail;
    expect([await register(first, 1), await register(first, 2)]).toEqual([undefined, undefined]);
    expect(await register(first, 3)).toBe(
      'The model has 2 checkpoints, the maximum on this server. Delete some first.',
    );
    expect(await register(second, 1)).toBeUndefined();
    expect(await register(second, 2)).toContain('The team has 3 checkpoints');
    await limited.call('DELETE', `/${first}/checkpoints`, { steps: [1] });
    expect(await register(second, 2)).toBeUndefined();
    await limited.close();
  });

  it('adds metrics to a checkpoint; what was registered wins over what was logged', async () => {
    const id = await training.createModel();
    const [checkpoint] = await training.addCheckpoints(id, 1);
    await training.log(id, { split: 'val', trajectory_groups: [{ trajectories: [{ reward: 1 }] }] });
    const path = `/${id}/checkpoints/${checkpoint}`;
    await training.call('PATCH', path, { metrics: { loss: 1, speed: 2 } });
    const { body } = await training.call('PATCH', path, { metrics: { loss: 0.5, 'val/reward': 0.9 } });
    expect(body.metrics).toEqual({
      loss: 0.5,
      speed: 2,
      'val/reward': 0.9,
      'val/exception_rate': 0,
      'val/reward_std_dev': 0,
    });
    expect(faultsOf(await training.call('PATCH', path, { metrics: { a: 'x' } }))).toEqual([
      'float_parsing body,metrics,a',
    ]);
    expect((await training.call('PATCH', `/${id}/checkpoints/nope`, { metrics: {} })).status).toBe(404);
  });

  it('registers weights of the checkpoint folder only, and knows their kind', async () => {
    const id = await training.createModel();
    const put = async (name: string, files: readonly string[]) => {
      const folder = join(training.checkpointDir, name);
      await mkdir(folder, { recursive: true });
      for (const file of files) await writeFile(join(folder, file), '');
      return folder;
    };
    const lora = join(training.checkpointDir, 'lora');
    await createTinyAdapter(lora);
    await put('full', ['config.json', 'model-00001-of-00002.safetensors']);
    await put('empty', []);
    await symlink('/', join(training.checkpointDir, 'escape'));
    const register = (weights: unknown) => training.call('POST', `/${id}/checkpoints`, { weights });
    const { name } = (await training.call('GET', `/${id}`)).body;
    expect((await register({ path: 'lora' })).body).toMatchObject({
      model: `${name}:step0`,
      weights: { kind: 'lora', path: lora },
    });
    expect((await register({ path: join(training.checkpointDir, 'full') })).body).toMatchObject({
      weights: { kind: 'full' },
    });
    for (const path of ['empty', 'nowhere', '../other', '/etc', 'escape', 'escape/etc'])
      expect(faultsOf(await register({ path }))).toEqual(['value_error body,weights,path']);
    await put('quantised', ['model.gguf']);
    for (const path of ['quantised', 'quantised/model.gguf', '/etc/nothing.gguf'])
      expect(JSON.stringify((await register({ path })).body)).toContain('a GGUF file is served as a model');
    expect(faultsOf(await register({ path: 'lora', kind: 'full' }))).toEqual([
      'value_error body,weights,kind',
    ]);
  });

  it('refuses an adapter that no base could take, with the reason', async () => {
    const id = await training.createModel();
    const refusalOf = async (config: object) => {
      await createTinyAdapter(join(training.checkpointDir, 'broken'), { ...config });
      return training.call('POST', `/${id}/checkpoints`, { weights: { path: 'broken' } });
    };
    for (const [config, reason] of [
      [{ use_dora: true }, 'adapter_config.json, key use_dora: is true'],
      [{ r: 0 }, 'adapter_config.json, key r: '],
      [{ r: 2 }, 'has shape [1,2]; rank 2 in adapter_config.json asks for [2,2]'],
      [{ target_modules: ['k_proj'] }, 'which target_modules in adapter_config.json does not name'],
    ] as const) {
      const refused = await refusalOf(config);
      expect(faultsOf(refused)).toEqual(['value_error body,weights,path']);
      expect(refused.body.detail[0].msg).toContain(reason);
    }
    await truncate(join(training.checkpointDir, 'broken/adapter_model.safetensors'), 100);
    expect(
      (await training.call('POST', `/${id}/checkpoints`, { weights: { path: 'broken' } })).text,
    ).toContain('truncated');
    expect((await list(id)).body.data).toEqual([]);
    await writeFile(join(training.checkpointDir, 'broken/adapter_config.json'), ' '.repeat(300_000));
    expect(
      (await training.call('POST', `/${id}/checkpoints`, { weights: { path: 'broken' } })).text,
    ).toContain('at most 262144 are read');
  });

  it('leaves the check of a very long header to the build, because it would hold up other requests', async () => {
    const id = await training.createModel();
    await createTinyAdapter(join(training.checkpointDir, 'long'), {});
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(90_000_000n);
    const path = join(training.checkpointDir, 'long/adapter_model.safetensors');
    await writeFile(path, length);
    await truncate(path, 100_000_000);
    const startedAtMs = performance.now();
    const registered = await training.call('POST', `/${id}/checkpoints`, { weights: { path: 'long' } });
    expect(registered.status).toBe(200);
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  });
});
