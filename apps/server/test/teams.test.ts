// Access of teams: data of one team does not exist for another one; keys without a team have access to all data.

import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Services } from '@ortler/api';
import { createFakeEngine, TEST_API_KEY, teamApiKey } from '@ortler/api/testing';
import { createTinyAdapter } from '@ortler/model-builder/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../src/db/database.ts';
import { createCheckpointModels } from '../src/models/checkpoint-models.ts';
import { createLoadedModels, type LoadedModels } from '../src/models/loaded-models.ts';
import { createFeedbackStore } from '../src/stores/feedback/feedback-store.ts';
import { DATABASE_HOOK_TIMEOUT_MS, describeOnEveryDatabase } from './databases.ts';
import { type Method, openTrainingApp, type TrainingApp } from './open-training-app.ts';

const bearer = (team: string | null) => ({
  authorization: `Bearer ${team === null ? TEST_API_KEY : teamApiKey(team)}`,
});
const CHAT = { messages: [{ role: 'user', content: 'hi' }] };

describeOnEveryDatabase('keys of teams', ({ open }) => {
  let database: Database;
  let loaded: LoadedModels;
  let test: TrainingApp;
  /** Id of the model `clerk` of each team, and of the one created without a team. */
  const ids = new Map<string | null, string>();
  let checkpointId: string;

  beforeAll(async () => {
    database = await open();
    loaded = createLoadedModels({ capacity: 4, idleMs: 60_000, waitMs: 1_000, now: Date.now });
    test = await openTrainingApp(database, undefined, training => ({
      feedback: createFeedbackStore(database),
      checkpointModels: serving(training),
    }));
    for (const team of ['acme', 'beta', null]) {
      await writeAdapter(team === null ? 'own' : join(team, 'own'));
      const made = await test.call('POST', '', { name: 'clerk', base_model: 'demo' }, bearer(team));
      ids.set(team, made.body.id);
      const registered = await test.call(
        'POST',
        `/${made.body.id}/checkpoints`,
        { step: 3, weights: { path: 'own' } },
        bearer(team),
      );
      expect(registered.status).toBe(200);
      if (team === 'beta') checkpointId = registered.body.id;
    }
    const log = { split: 'train', trajectory_groups: [{ trajectories: [{ reward: 5 }] }] };
    expect((await test.call('POST', `/${ids.get('beta')}/log`, log, bearer('beta'))).status).toBe(200);
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(async () => {
    await test.close();
    await loaded.close();
    await database.close();
  }, DATABASE_HOOK_TIMEOUT_MS);

  function serving({ checkpoints }: Services['training']) {
    return createCheckpointModels({
      store: checkpoints,
      loaded,
      baseFolder: () => '/base',
      prepare: async () => '/built',
      findForeignFile: async () => undefined,
      start: async () => createFakeEngine(),
    });
  }

  const writeAdapter = (folder: string) => createTinyAdapter(join(test.checkpointDir, folder));

  /** Calls any path. `text` has the wanted name taken out, so that replies of different names compare. */
  async function send(method: Method, url: string, team: string | null, body?: unknown, name = ' ') {
    const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
    const headers = { ...bearer(team), 'content-type': 'application/json', 'x-request-id': 'same' };
    const reply = await test.app.inject({ method, url, headers, ...payload });
    const { date: _, 'content-length': __, ...rest } = reply.headers;
    return { status: reply.statusCode, headers: rest, text: reply.body.replaceAll(name, 'NAME') };
  }

  describe('a training model of another team', () => {
    const LOG = { split: 'train', trajectory_groups: [] };

    it('is not in the list, whichever team is asked for', async () => {
      const idsOf = async (team: string | null, query: string) =>
        (await test.call('GET', query, undefined, bearer(team))).body.data.map(
          (model: { entity: string }) => model.entity,
        );
      expect(await idsOf('beta', '')).toEqual(['beta']);
      expect(await idsOf('beta', '?entity=acme')).toEqual([]);
      expect(await idsOf('beta', '?entity=beta')).toEqual(['beta']);
      expect(new Set(await idsOf(null, ''))).toContain('beta');
      const unknown = await test.call('GET', '?after=x', undefined, bearer('acme'));
      for (const query of [`?after=${ids.get('beta')}`, `?entity=beta&after=${ids.get('beta')}`])
        expect(await test.call('GET', query, undefined, bearer('acme'))).toMatchObject({
          status: 422,
          body: unknown.body,
        });
    });

    const calls: [Method, string, unknown?][] = [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/log', LOG],
      ['GET', '/trajectories'],
      ['GET', '/trajectories/export'],
      ['GET', '/metrics'],
      ['GET', '/checkpoints'],
      ['POST', '/checkpoints', { step: 3 }],
      ['DELETE', '/checkpoints', { steps: [3] }],
      ['GET', '/checkpoints/CHECKPOINT'],
      ['PATCH', '/checkpoints/CHECKPOINT', { metrics: { a: 1 } }],
    ];

    it.each(calls)('is answered by %s %s exactly like an unknown one', async (method, path, body) => {
      const ask = (name: string) => {
        const url = `/v1/preview/models/${encodeURIComponent(name)}${path.replace('CHECKPOINT', checkpointId)}`;
        return send(method, url, 'acme', body, name);
      };
      const unknown = await ask('00000000-0000-4000-8000-000000000000');
      expect(unknown.status).toBe(404);
      expect(await ask(ids.get('beta')!)).toEqual(unknown);
      expect(await ask(ids.get(null)!)).toEqual(unknown);
      expect(await ask('beta/default/clerk')).toEqual(unknown);
      expect(await ask('default/default/clerk')).toEqual(unknown);
    });

    it('is untouched by those calls', async () => {
      const page = await send('GET', `/v1/preview/models/${ids.get('beta')}/checkpoints`, 'beta');
      expect(JSON.parse(page.text).data).toEqual([
        { id: checkpointId, step: 3, metrics: expect.objectContaining({ 'train/reward': 5 }) },
      ]);
    });

    it('has its own names and its own ids of checkpoints', async () => {
      expect(new Set(ids.values()).size).toBe(3);
      const again = await test.call(
        'POST',
        `/${ids.get('acme')}/checkpoints`,
        { id: checkpointId, step: 9 },
        bearer('acme'),
      );
      expect(again.status).toBe(200);
      const deleted = await test.call(
        'DELETE',
        `/${ids.get('acme')}/checkpoints`,
        { steps: [9] },
        bearer('acme'),
      );
      expect(deleted.body.deleted_count).toBe(1);
      const own = await test.call(
        'GET',
        `/${ids.get('beta')}/checkpoints/${checkpointId}`,
        undefined,
        bearer('beta'),
      );
      expect(own.status).toBe(200);
      const cursor = `/${ids.get('acme')}/checkpoints?after=${checkpointId}`;
      // A tombstone of its own, not the other team's checkpoint.
      expect((await test.call('GET', cursor, undefined, bearer('acme'))).status).toBe(200);
    });
  });

  it('a name alone is one of the own entity, and a key without a team reaches all by their whole names', async () => {
    for (const team of ['acme', 'beta', null]) {
      const { body } = await test.call('GET', '/clerk', undefined, bearer(team));
      expect([body.id, body.entity]).toEqual([ids.get(team), team ?? 'default']);
    }
    for (const team of ['acme', 'beta'])
      expect((await test.call('GET', `/${team}%2Fdefault%2Fclerk`)).body.id).toBe(ids.get(team));
    expect((await test.call('GET', `/${ids.get('beta')}`)).body.entity).toBe('beta');
  });

  it('a model can be made in the own entity only, whatever the other one holds', async () => {
    for (const name of ['clerk', 'never-made']) {
      const wanted = { entity: 'beta', name, base_model: 'demo', return_existing: true };
      const { status, body } = await test.call('POST', '', wanted, bearer('acme'));
      expect(status).toBe(403);
      expect(body).toEqual({ detail: 'This key belongs to the team acme; it may use its entity only.' });
    }
    const own = { entity: 'acme', name: 'clerk', base_model: 'demo', return_existing: true };
    expect((await test.call('POST', '', own, bearer('acme'))).body.id).toBe(ids.get('acme'));
  });

  describe('checkpoints as models', () => {
    it('are listed for their team and for keys without one', async () => {
      const list = async (team: string | null) =>
        (JSON.parse((await send('GET', '/v1/models', team)).text) as { data: { id: string }[] }).data.map(
          ({ id }) => id,
        );
      const of = (team: string) => [`${team}/default/clerk`, `${team}/default/clerk:step3`];
      expect(await list('acme')).toEqual(['demo', ...of('acme')]);
      expect(await list('beta')).toEqual(['demo', ...of('beta')]);
      expect(await list('gamma')).toEqual(['demo']);
      expect(await list(null)).toEqual(['demo', ...of('acme'), ...of('beta'), 'clerk', 'clerk:step3']);
    });

    it('answer chats of their team, by their whole name or the name alone', async () => {
      const whole = 'acme/default/clerk';
      for (const model of [
        'clerk',
        'clerk:step3',
        whole,
        `${whole}:step3`,
        `wandb-artifact:///${whole}:step3`,
      ]) {
        const { status, text } = await send('POST', '/v1/chat/completions', 'acme', { ...CHAT, model });
        expect(status).toBe(200);
        expect(JSON.parse(text).model).toBe('acme/default/clerk:step3');
      }
    });

    it.each<[Method, string, (model: string) => unknown]>([
      ['POST', '/v1/chat/completions', model => ({ ...CHAT, model })],
      ['POST', '/v1/chat/completions', model => ({ ...CHAT, model, stream: true })],
      ['POST', '/v1/completions', model => ({ prompt: 'hi', model })],
      ['POST', '/tokenize', model => ({ prompt: 'hi', model })],
      ['POST', '/detokenize', model => ({ tokens: [1], model })],
      ['GET', '/v1/models/MODEL', () => undefined],
    ])('of another team are unknown to %s %s', async (method, path, toBody) => {
      const ask = (model: string) =>
        send(method, path.replace('MODEL', encodeURIComponent(model)), 'acme', toBody(model), model);
      const unknown = await ask('nobody/default/nothing');
      expect(unknown.status).toBe(404);
      for (const model of [
        'beta/default/clerk',
        'beta/default/clerk:step3',
        'default/default/clerk:step3',
        'wandb-artifact:///beta/default/clerk:step3',
      ])
        expect(await ask(model)).toEqual(unknown);
    });

    it('of another team stay in memory when a team asks for what it may not have', async () => {
      await send('POST', '/v1/chat/completions', 'beta', { ...CHAT, model: 'clerk' });
      await send('POST', '/v1/chat/completions', 'acme', { ...CHAT, model: 'beta/default/clerk' });
      await send('GET', '/v1/models', 'gamma');
      expect(loaded.list().map(({ name }) => name)).toContain('beta/default/clerk:step3');
    });
  });

  it('weights are named in the folder of the team only, links included', async () => {
    await symlink(join(test.checkpointDir, 'beta', 'own'), join(test.checkpointDir, 'acme', 'borrowed'));
    const register = async (path: string, team: string | null) => {
      const { status, body } = await test.call(
        'POST',
        `/${ids.get('acme')}/checkpoints`,
        { weights: { path } },
        bearer(team),
      );
      return status === 200 ? body.weights.path : [status, body.detail[0].loc.join()];
    };
    const file = 'adapter_model.safetensors';
    await writeAdapter('acme/linked');
    await rm(join(test.checkpointDir, 'acme/linked', file));
    await symlink(join(test.checkpointDir, 'beta/own', file), join(test.checkpointDir, 'acme/linked', file));
    const outside = join(test.checkpointDir, 'beta/own');
    for (const path of ['../beta/own', outside, 'borrowed', 'linked', '..', '../nothing'])
      expect(await register(path, 'acme')).toEqual([422, 'body,weights,path']);
    expect(await register(join(test.checkpointDir, 'acme/own'), 'acme')).toMatch(/acme\/own$/);
    expect(await register('beta/own', null)).toMatch(/beta\/own$/);
  });

  describe('feedback', () => {
    const item = (project: string) => ({
      project_id: project,
      weave_ref: 'weave:///acme/app/call/c',
      feedback_type: 'custom',
      payload: { a: 1 },
    });
    const period = { start: '2020-01-01T00:00:00Z' };
    const calls: [string, (project: string) => unknown][] = [
      ['query', project => ({ project_id: project })],
      ['payload_schema', project => ({ project_id: project, ...period })],
      ['create', item],
      ['batch/create', project => ({ batch: [item('acme/app'), item(project)] })],
      ['replace', project => ({ ...item(project), feedback_id: 'x' })],
      [
        'purge',
        project => ({
          project_id: project,
          query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'x' }] } },
        }),
      ],
      ['annotation_spec/create', project => ({ project_id: project, name: 'n', field_schema: {} })],
      ['queue/create', project => ({ project_id: project, id: 'q' })],
      ['queue/delete', project => ({ project_id: project, id: 'q' })],
    ];
    const post = (path: string, team: string | null, body: unknown) => {
      const key = team === null ? TEST_API_KEY : teamApiKey(team);
      return test.app.inject({
        method: 'POST',
        url: `/feedback/${path}`,
        headers: {
          authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
          'content-type': 'application/json',
        },
        payload: JSON.stringify(body),
      });
    };

    it.each(calls)('%s of a project of another team is refused by its name alone', async (path, toBody) => {
      for (const project of ['beta/app', 'beta', 'acme2/app', ' acme/app', 'Acme/app', '/acme/app']) {
        const reply = await post(path, 'acme', toBody(project));
        expect([project, reply.statusCode]).toEqual([project, 403]);
        expect(reply.json()).toEqual({
          detail: 'This key belongs to the team acme; it may use its entity only.',
        });
      }
    });

    it('of the own team and, for keys without a team, of all is stored and found', async () => {
      for (const team of ['acme', 'beta'])
        expect((await post('create', team, item(`${team}/app`))).statusCode).toBe(200);
      const count = async (team: string | null, project: string) =>
        (await post('query', team, { project_id: project })).json().result.length;
      // The refused batch stored nothing.
      expect(await count('acme', 'acme/app')).toBe(1);
      expect(await count('beta', 'beta/app')).toBe(1);
      expect(await count(null, 'beta/app')).toBe(1);
    });
  });
});
