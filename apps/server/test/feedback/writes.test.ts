// The write vectors over HTTP, on every database.

import { randomBytes } from 'node:crypto';
import { TEST_API_KEY } from '@ortler/api/testing';
import { MAX_INDEXED_BYTES, MAX_PROJECT_ID_BYTES } from '@ortler/schemas';
import { beforeEach, describe, expect, it } from 'vitest';
import { PROJECT, useFeedbackApp, where } from './feedback-app.ts';
import { describeOnEveryFeedbackPlace } from './feedback-places.ts';

/** `JSON.rawJSON`, which TypeScript does not declare yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };
const OP = 'weave:///acme/app/op/x:d1';
const OBJECT = 'weave:///acme/app/object/x:d1';
const CALL = 'weave:///acme/app/call/j1';
const subject = { project_id: PROJECT, weave_ref: 'weave:///acme/app/call/c1' };
const note = (text: string) => ({ ...subject, feedback_type: 'wandb.note.1', payload: { note: text } });
const reaction = (emoji: unknown) => ({
  ...subject,
  feedback_type: 'wandb.reaction.1',
  payload: emoji === undefined ? {} : { emoji },
});
const custom = (extra: Record<string, unknown> = {}) => ({
  ...subject,
  feedback_type: 'custom.score',
  payload: { score: 1 },
  ...extra,
});
const runnable = (extra: Record<string, unknown>) => ({
  ...subject,
  feedback_type: 'wandb.runnable.x',
  payload: { output: 1 },
  ...extra,
});
const byId = (id: string) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] });

describeOnEveryFeedbackPlace('feedback writes', ({ open, isConcurrent }) => {
  const feedback = useFeedbackApp(open);
  beforeEach(() => feedback.fill([]));

  const create = async (body: unknown) => {
    const response = await feedback.post('create', body);
    const answer: Record<string, unknown> = { status: response.statusCode, ...response.json<object>() };
    return answer;
  };

  describe('create', () => {
    it('W1: names a reaction with and without its skin tone', async () => {
      const created = await create(reaction('👍🏽'));
      expect(created).toMatchObject({
        status: 200,
        wb_user_id: 'key-1',
        payload: {
          emoji: '👍🏽',
          alias: ':thumbs_up_medium_skin_tone:',
          detoned: '👍',
          detoned_alias: ':thumbs_up:',
        },
      });
      const [row] = await feedback.rows({});
      expect(row).toMatchObject({
        id: created.id as string,
        payload: created.payload as object,
        wb_user_id: 'key-1',
        created_at: created.created_at as string,
      });
    });

    const refused: [string, unknown, string][] = [
      ['W2 two', reaction('👍👍'), 'exactly one emoji'],
      ['W2 a letter', reaction('a'), 'exactly one emoji'],
      ['W2 nothing', reaction(''), 'exactly one emoji'],
      ['W3', reaction(undefined), '`emoji`'],
      ['W4 empty', note(''), '1 to 1024'],
      ['W4 long', note('x'.repeat(1_025)), '1 to 1024'],
      ['W5 runnable_ref', custom({ runnable_ref: OP }), 'runnable_ref is not allowed'],
      ['W5 call_ref', custom({ call_ref: CALL }), 'call_ref is not allowed'],
      ['W5 trigger_ref', custom({ trigger_ref: OBJECT }), 'trigger_ref is not allowed'],
      ['W5 annotation_ref', custom({ annotation_ref: OBJECT }), 'annotation_ref is not allowed'],
      ['W6', runnable({}), 'runnable_ref is required'],
      ['W7', runnable({ runnable_ref: OP.replace('/x:', '/y:'), call_ref: CALL }), 'must name x'],
      ['W8', runnable({ runnable_ref: OP }), 'call_ref is required'],
      ['W9', runnable({ runnable_ref: OBJECT, payload: { a: 1 } }), '`output`'],
      ['W10 bare', custom({ feedback_type: 'wandb.annotation' }), 'wandb.annotation.<name>'],
      ['W10 dot', custom({ feedback_type: 'wandb.annotation.' }), 'wandb.annotation.<name>'],
      ['W10 glued', custom({ feedback_type: 'wandb.annotationfoo' }), 'wandb.annotation.<name>'],
      [
        'an annotation without its value',
        custom({ feedback_type: 'wandb.annotation.x', annotation_ref: OBJECT }),
        '`value`',
      ],
      [
        'an annotation of another project',
        custom({
          feedback_type: 'wandb.annotation.x',
          annotation_ref: OBJECT.replace('app', 'other'),
          payload: { value: 1 },
        }),
        'project',
      ],
      ['W12', custom({ scorer_tags: ['a'] }), 'scorer_tags is not allowed'],
      [
        'W13',
        custom({ feedback_type: 'wandb.agent_monitor', runnable_ref: OP, call_ref: CALL }),
        'trigger_ref is required',
      ],
      ['a ref of the wrong kind', runnable({ runnable_ref: CALL }), 'runnable_ref must be'],
      ['user feedback without tags', custom({ feedback_type: 'wandb.agent_user_feedback' }), 'scorer_tags'],
      ['W14', custom({ payload: { text: 'x'.repeat(2 * 1024 * 1024) } }), 'too large'],
      ['NUL', custom({ payload: { a: ['x\0'] } }), 'NUL'],
      [
        'an integer beyond all doubles',
        custom({ payload: { a: rawJSON('9'.repeat(400)) } }),
        'must not contain integers beyond',
      ],
      ['NUL in a key', custom({ payload: { 'a\0': 1 } }), 'NUL'],
      ['half of a surrogate pair', custom({ creator: '\ud83d' }), 'surrogate'],
      ['an empty id', custom({ id: '' }), 'id must have'],
    ];
    it.each(refused)('refuses %s', async (_name, body, message) => {
      expect(await create(body)).toEqual({ status: 400, detail: expect.stringContaining(message) });
      expect(await feedback.rows({})).toEqual([]);
    });

    describe('under annotation specs and in queues', () => {
      const spec = {
        project_id: PROJECT,
        name: 'x',
        field_schema: { type: 'integer', minimum: 1, maximum: 10 },
      };
      const made = async (path: string, body: object): Promise<Record<string, unknown>> => {
        const response = await feedback.post(path, body);
        return { status: response.statusCode, ...response.json<object>() };
      };
      const annotation = (annotation_ref: unknown, value: unknown, extra = {}) =>
        custom({ feedback_type: 'wandb.annotation.x', annotation_ref, payload: { value }, ...extra });

      it('W11: the value must satisfy the schema of the spec', async () => {
        const { annotation_ref: ref } = await made('annotation_spec/create', spec);
        expect(ref).toMatch(/^weave:\/\/\/acme\/app\/object\/x:[0-9a-f]{32}$/);
        expect(await made('annotation_spec/create', spec)).toEqual({ status: 200, annotation_ref: ref });
        expect(await create(annotation(ref, 7))).toMatchObject({ status: 200 });
        for (const value of [0, 11, 7.5, '7', null])
          expect(await create(annotation(ref, value))).toEqual({
            status: 400,
            detail: expect.stringContaining('does not match annotation spec'),
          });
        const batch = [annotation(ref, 1), annotation(ref, 99)];
        expect((await feedback.post('batch/create', { batch })).statusCode).toBe(400);
        expect(await feedback.rows({ fields: ['count(*)'] })).toEqual([{ 'count(*)': 1 }]);
      });

      it('the spec must be there, in that project and that version', async () => {
        const { annotation_ref: ref } = await made('annotation_spec/create', spec);
        const other = String(ref).replace(/.$/, last => (last === '0' ? '1' : '0'));
        for (const missing of [other, OBJECT])
          expect(await create(annotation(missing, 7))).toEqual({
            status: 400,
            detail: `There is no annotation spec ${missing}`,
          });
      });

      it('refuses a schema that nothing can be checked with', async () => {
        for (const field_schema of [{ type: 'nonsense' }, { $ref: 'https://example.org/x' }])
          expect(await made('annotation_spec/create', { ...spec, field_schema })).toMatchObject({
            status: 400,
          });
        expect(await made('annotation_spec/create', { ...spec, name: 'a/b' })).toMatchObject({ status: 422 });
        for (const project_id of ['acme', 'acme/', 'acme/app/more'])
          expect(await made('annotation_spec/create', { ...spec, project_id })).toEqual({
            status: 400,
            detail: 'project_id must be written <entity>/<project>',
          });
      });

      it('gives up a value whose check takes too long', async () => {
        const slow = { ...spec, field_schema: { pattern: '^(a|a)*$' } };
        const { annotation_ref: ref } = await made('annotation_spec/create', slow);
        expect(await create(annotation(ref, `${'a'.repeat(60)}b`))).toMatchObject({ status: 400 });
        expect(await create(annotation(ref, 'aa'))).toMatchObject({ status: 200 });
      }, 30_000);

      it('the queue must be open and of the project', async () => {
        const refusal = { status: 400, detail: `There is no open queue mine in the project ${PROJECT}` };
        expect(await create(custom({ queue_id: 'mine' }))).toEqual(refusal);
        await made('queue/create', { project_id: 'acme/other', id: 'mine' });
        expect(await create(custom({ queue_id: 'mine' }))).toEqual(refusal);
        expect(await made('queue/create', { project_id: PROJECT, id: 'mine' })).toEqual({
          status: 200,
          id: 'mine',
        });
        expect(await create(custom({ queue_id: 'mine' }))).toMatchObject({ status: 200 });
        await made('queue/delete', { project_id: PROJECT, id: 'mine' });
        expect(await create(custom({ queue_id: 'mine' }))).toEqual(refusal);
        const { id } = await made('queue/create', { project_id: PROJECT });
        expect(await create(custom({ queue_id: id }))).toMatchObject({ status: 200 });
      });

      it('a repeated write into a queue that was closed since is answered as the first one', async () => {
        await made('queue/create', { project_id: PROJECT, id: 'brief' });
        const first = custom({ queue_id: 'brief', id: 'repeated' });
        const answer = await create(first);
        expect(answer.status).toBe(200);
        await made('queue/delete', { project_id: PROJECT, id: 'brief' });
        expect(await create(first)).toEqual(answer);
        for (const other of [
          { ...first, id: 'other' },
          { ...first, payload: { other: 1 } },
        ])
          expect(await create(other)).toMatchObject({ status: 400 });
      });
    });

    const accepted: [string, unknown][] = [
      ['W4', note('é'.repeat(1_024))],
      ['W8 with an object ref', runnable({ runnable_ref: OBJECT })],
      ['W8 with a call', runnable({ runnable_ref: OP, call_ref: CALL, scorer_tags: ['a'] })],
      [
        'a monitor',
        custom({
          feedback_type: 'wandb.agent_monitor',
          runnable_ref: OP,
          call_ref: CALL,
          trigger_ref: OBJECT,
          scorer_ratings: { _rating_: 0.5 },
        }),
      ],
      ['a type of its own under wandb.', custom({ feedback_type: 'wandb.other' })],
      ['keys that are traps', custom({ payload: JSON.parse('{"__proto__":{"a":1},"constructor":"x"}') })],
    ];
    it.each(accepted)('takes %s', async (_name, body) => {
      expect(await create(body)).toMatchObject({ status: 200 });
      const [row] = await feedback.rows({ fields: ['payload'] });
      expect(JSON.stringify(row!.payload)).toBe(JSON.stringify((body as { payload: unknown }).payload));
    });

    it('names the emoji of a single tag of user feedback', async () => {
      const body = custom({ feedback_type: 'wandb.agent_user_feedback', scorer_tags: ['👍🏽'] });
      expect(await create(body)).toMatchObject({ payload: { score: 1, detoned_alias: ':thumbs_up:' } });
    });

    it('reports faults of the shape with their place', async () => {
      expect(await create({ ...note('x'), payload: [], scorer_tags: 'a' })).toEqual({
        status: 422,
        detail: [
          { loc: ['body', 'payload'], msg: expect.any(String), type: 'dict_type' },
          { loc: ['body', 'scorer_tags'], msg: expect.any(String), type: 'list_type' },
        ],
      });
    });
  });

  describe('ids of clients', () => {
    it('W21: stores the same feedback once, and says when it was stored first', async () => {
      const first = await create(custom({ id: 'mine', scorer_ratings: {} }));
      expect(await create(custom({ id: 'mine', creator: null }))).toEqual(first);
      expect(await feedback.ids({})).toEqual(['mine']);
    });

    it('W21: refuses other feedback under an id, also within one batch', async () => {
      await create(custom({ id: 'mine' }));
      expect(await create(custom({ id: 'mine', payload: { score: 2 } }))).toMatchObject({ status: 409 });
      const batch = [note('a'), note('b')].map(body => ({ ...body, id: 'twice' }));
      expect((await feedback.post('batch/create', { batch })).statusCode).toBe(409);
      expect(await feedback.ids({})).toEqual(['mine']);
    });

    it('keeps ids of different projects apart', async () => {
      await create(custom({ id: 'mine' }));
      expect(await create(custom({ id: 'mine', project_id: 'acme/other' }))).toMatchObject({ status: 200 });
      await feedback.post('purge', { project_id: 'acme/other', query: { $expr: byId('mine') } });
      expect(await feedback.ids({})).toEqual(['mine']);
    });

    it('stores the longest texts that it accepts, and refuses longer ones', async () => {
      // Without repetitions, which PostgreSQL would compress.
      const random = (byteCount: number) => randomBytes(byteCount).toString('base64url').slice(0, byteCount);
      const id = Array.from(randomBytes(256), byte => String.fromCharCode(0x4e00 + byte * 64)).join('');
      const longest = {
        project_id: random(MAX_PROJECT_ID_BYTES),
        id,
        weave_ref: random(MAX_INDEXED_BYTES.weave_ref),
      };
      const type = `wandb.runnable.${random(MAX_INDEXED_BYTES.feedback_type - 15)}`;
      const trigger = `weave:///a/b/object/c:${random(MAX_INDEXED_BYTES.trigger_ref - 22)}`;
      const run = {
        ...runnable({ runnable_ref: `weave:///a/b/object/${type.slice(15)}:d` }),
        ...longest,
        id: `${id.slice(1)}x`,
        feedback_type: type,
        trigger_ref: trigger,
      };
      const stored = [
        await feedback.post('create', custom(longest)),
        await feedback.post('create', run),
        await feedback.post('queue/create', { project_id: longest.project_id, id }),
        await feedback.post('annotation_spec/create', {
          project_id: `${longest.project_id.slice(0, 255)}/${longest.project_id.slice(256)}`,
          name: id.slice(0, 128),
          field_schema: {},
        }),
      ];
      expect(stored.map(({ statusCode, body }) => [statusCode, statusCode === 200 ? '' : body])).toEqual(
        stored.map(() => [200, '']),
      );
      for (const [name, maxBytes] of Object.entries(MAX_INDEXED_BYTES)) {
        const refused = await feedback.post('create', custom({ [name]: `é${'x'.repeat(maxBytes - 1)}` }));
        expect([refused.statusCode, refused.json().detail]).toEqual([
          400,
          `${name} must have at most ${maxBytes} bytes in UTF-8`,
        ]);
      }
      const queue = await feedback.post('queue/create', { project_id: `${longest.project_id}x` });
      expect(queue.statusCode).toBe(422);
    });

    it.runIf(isConcurrent)('takes batches, replaces and purges of the same ids at once', async () => {
      const ids = Array.from({ length: 40 }, (_, index) => `many${String(index).padStart(2, '0')}`);
      const batch = (turn: number) =>
        feedback.post('batch/create', {
          batch: ids.map((_, index) => custom({ id: ids[(index * 7 + turn * 11) % ids.length] })),
        });
      const purge = () =>
        feedback.post('purge', {
          project_id: PROJECT,
          query: { $expr: { $or: ids.toReversed().map(byId) } },
        });
      const calls = await Promise.all(
        Array.from({ length: 24 }, (_, turn) => (turn % 2 === 0 ? batch(turn) : purge())),
      );
      expect(calls.map(({ statusCode }) => statusCode)).toEqual(calls.map(() => 200));
      const replaced = await Promise.all(
        Array.from({ length: 40 }, (_, turn) =>
          feedback.post('replace', { ...custom({ id: 'one', payload: { turn } }), feedback_id: 'one' }),
        ),
      );
      expect(replaced.map(({ statusCode }) => statusCode)).toEqual(replaced.map(() => 200));
      expect(await feedback.ids({ query: where('id', 'one') })).toEqual(['one']);
    });

    it.runIf(isConcurrent)('stores one row when many send the same at once', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => create(custom({ id: 'race' }))));
      expect(answers.map(({ status }) => status)).toEqual(new Array(8).fill(200));
      expect(new Set(answers.map(({ created_at }) => created_at)).size).toBe(1);
      expect(await feedback.ids({})).toEqual(['race']);
    });
  });

  describe('integers beyond 2^53', () => {
    const [signed, unsigned] = ['-9223372036854775807', '18446744073709551615'];
    const ids = (id: string) =>
      custom({ id, payload: { signed: rawJSON(signed), unsigned: rawJSON(unsigned), other: 'x' } });
    const foundBy = (field: string, literal: unknown) =>
      feedback.ids({ query: { $expr: { $eq: [{ $getField: field }, { $literal: literal }] } } });

    it('keep their digits within 64 bits, in every answer', async () => {
      const stored = `{"signed":${signed},"unsigned":${unsigned},"other":"x"}`;
      expect((await feedback.post('create', ids('a'))).body).toContain(`"payload":${stored}`);
      const fields = ['payload', 'payload.signed', 'payload.unsigned'];
      const { body } = await feedback.post('query', { project_id: PROJECT, fields });
      expect(body).toBe(
        `{"result":[{"payload":${stored},"payload.signed":${signed},"payload.unsigned":${unsigned}}]}`,
      );
    });

    it('compare as texts with all digits and as numbers with doubles', async () => {
      await feedback.post('create', ids('a'));
      expect(await foundBy('payload.unsigned', unsigned)).toEqual(['a']);
      expect(await foundBy('payload.unsigned', '18446744073709551616')).toEqual([]);
      expect(await foundBy('payload.unsigned', 2 ** 64)).toEqual(['a']);
      expect(await foundBy('payload.signed', rawJSON('-9223372036854775806'))).toEqual(['a']);
      expect(await foundBy('payload.signed', -(2 ** 53))).toEqual([]);
    });

    it('are part of the content under an id', async () => {
      expect((await feedback.post('create', ids('a'))).statusCode).toBe(200);
      expect((await feedback.post('create', ids('a'))).statusCode).toBe(200);
      const other = custom({
        id: 'a',
        payload: { other: 'x', signed: rawJSON(signed), unsigned: rawJSON(unsigned) },
      });
      expect((await feedback.post('create', other)).statusCode).toBe(200);
      const rounded = custom({
        id: 'a',
        payload: { signed: rawJSON(signed), unsigned: 2 ** 64, other: 'x' },
      });
      expect((await feedback.post('create', rounded)).statusCode).toBe(409);
    });

    it('are doubles outside 64 bits', async () => {
      const wide = custom({ id: 'w', payload: { n: rawJSON('123456789012345678901') } });
      for (const _ of [1, 2]) expect((await feedback.post('create', wide)).statusCode).toBe(200);
      expect(await feedback.rows({ fields: ['payload.n'] })).toEqual([
        { 'payload.n': 123456789012345680000 },
      ]);
      expect(await foundBy('payload.n', 123456789012345680000)).toEqual(['w']);
    });
  });

  describe('batch', () => {
    it('answers in the order of the batch', async () => {
      const batch = ['c', 'a', 'b'].map(id => custom({ id, payload: { of: id } }));
      const response = await feedback.post('batch/create', { batch });
      const { res } = response.json() as { res: { id: string; payload: unknown }[] };
      expect(res.map(({ id, payload }) => [id, payload])).toEqual(
        ['c', 'a', 'b'].map(id => [id, { of: id }]),
      );
    });

    it('W15: stores nothing when one piece is wrong', async () => {
      const batch = [note('a'), note(''), note('c')];
      expect((await feedback.post('batch/create', { batch })).statusCode).toBe(400);
      expect(await feedback.ids({})).toEqual([]);
    });

    it('names the first piece that is wrong', async () => {
      const refusalOf = async (batch: readonly unknown[]) =>
        (await feedback.post('batch/create', { batch })).json();
      expect(await refusalOf([note('a'), note(''), reaction('x')])).toEqual({
        detail: 'The `note` must have 1 to 1024 characters (at batch.1)',
      });
      expect(await refusalOf([note('a'), note('b'), custom({ queue_id: 'closed' })])).toEqual({
        detail: 'There is no open queue closed in the project acme/app (at batch.2)',
      });
    });

    it('takes pieces of several projects, and none at all', async () => {
      const batch = [custom(), custom({ project_id: 'acme/other' }), custom()];
      const response = await feedback.post('batch/create', { batch });
      expect((response.json() as { res: unknown[] }).res).toHaveLength(3);
      expect(await feedback.rows({ fields: ['count(*)'] })).toEqual([{ 'count(*)': 2 }]);
      expect((await feedback.post('batch/create', { batch: [] })).json()).toEqual({ res: [] });
    });
  });

  describe('purge', () => {
    const purge = (query: unknown) => feedback.post('purge', { project_id: PROJECT, query });
    beforeEach(async () => {
      for (const id of ['f01', 'f02', 'f03']) await create(custom({ id }));
    });

    it('W16: removes an id, and an id that is gone is not an error', async () => {
      for (let time = 0; time < 2; time++) {
        const response = await purge({ $expr: byId('f01') });
        expect([response.statusCode, response.json()]).toEqual([200, {}]);
      }
      expect(await feedback.ids({})).toEqual(['f02', 'f03']);
    });

    it.each([
      where('feedback_type', 'custom.score'),
      { $expr: { $in: [{ $getField: 'id' }, [{ $literal: 'f01' }]] } },
      { $expr: { $eq: [{ $literal: 'f01' }, { $getField: 'id' }] } },
      where('id', 1),
      { $expr: { $or: [byId('f01'), { $or: [byId('f02')] }] } },
      { $expr: { $and: [byId('f01')] } },
      null,
    ])('W17: refuses %j', async query => {
      expect((await purge(query)).statusCode).toBe(400);
      expect(await feedback.ids({})).toHaveLength(3);
    });

    it('refuses a project that no database could keep', async () => {
      const query = { $expr: byId('f01') };
      const { statusCode } = await feedback.post('purge', { project_id: 'acme/\0', query });
      expect(statusCode).toBe(400);
    });

    it('W18: removes several ids', async () => {
      await purge({ $expr: { $or: [byId('f01'), byId('f03')] } });
      expect(await feedback.ids({})).toEqual(['f02']);
    });
  });

  describe('replace', () => {
    beforeEach(async () => {
      for (const id of ['old', 'other']) await create(custom({ id }));
    });
    const replace = async (body: Record<string, unknown>) => {
      const response = await feedback.post('replace', body);
      return { status: response.statusCode, body: response.json() as Record<string, unknown> };
    };

    it('W19: leaves the old row when the new content is wrong', async () => {
      expect((await replace({ ...note(''), feedback_id: 'old' })).status).toBe(400);
      expect((await replace({ ...note('x'), feedback_id: 'old\0' })).status).toBe(400);
      expect((await replace({ ...custom({ id: 'other', payload: {} }), feedback_id: 'old' })).status).toBe(
        409,
      );
      expect(await feedback.ids({})).toEqual(['old', 'other']);
    });

    it('W20: gives a new id and touches nothing else', async () => {
      const { status, body } = await replace({ ...note('new'), feedback_id: 'old' });
      expect(status).toBe(200);
      expect(body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      expect((await feedback.ids({})).sort()).toEqual([body.id, 'other'].sort());
    });

    it('creates when there is nothing to replace, and may keep the id', async () => {
      expect((await replace({ ...custom({ id: 'old', payload: {} }), feedback_id: 'old' })).status).toBe(200);
      expect((await replace({ ...note('x'), feedback_id: 'none' })).status).toBe(200);
      expect(await feedback.ids({})).toHaveLength(3);
    });
  });

  // A thread reads these.
  describe('large bodies', () => {
    const many = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, index / 2]),
    );
    const large = (extra: Record<string, unknown> = {}) => custom({ payload: many, ...extra });
    const post = async (name: string, body: unknown) => {
      const { statusCode: status, ...response } = await feedback.post(name, body);
      return { status, body: response.json() as Record<string, unknown> };
    };
    const countKeys = ({ payload }: Record<string, unknown>) => Object.keys(payload as object).length;

    it('are stored as others are', async () => {
      const { status, body } = await post('create', large({ id: 'one' }));
      expect([status, body.id, countKeys(body)]).toEqual([200, 'one', 20_000]);
      expect(await post('create', large({ id: 'one' }))).toEqual({ status, body });
      const batch = await post('batch/create', { batch: [note('first'), large(), large({ id: 'one' })] });
      expect([batch.status, (batch.body.res as unknown[]).length]).toEqual([200, 3]);
      expect((await post('replace', { ...large({ id: 'two' }), feedback_id: 'one' })).status).toBe(200);
      const rows = await feedback.rows({ query: { $expr: byId('two') } });
      expect(rows.map(row => (row.payload as typeof many)['key-19999'])).toEqual([9_999.5]);
    });

    it('are refused as others are, and nothing of them is stored', async () => {
      const wrong = await post('create', large({ creator: 5 }));
      expect([wrong.status, wrong.body]).toEqual([
        422,
        {
          detail: [{ loc: ['body', 'creator'], msg: 'Input should be a valid string', type: 'string_type' }],
        },
      ]);
      const broken = JSON.stringify(large()).slice(0, -1);
      expect(await post('create', broken)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', String(broken.length)], type: 'json_invalid' }] },
      });
      expect((await post('create', large({ project_id: '' }))).body).toMatchObject({
        detail: expect.stringMatching(/project_id/),
      });
      expect((await post('batch/create', { batch: [large(), reaction('x')] })).status).toBe(400);
      expect((await post('replace', { ...large(), feedback_id: 'a\0' })).status).toBe(400);
      const tooMany = Object.fromEntries(Array.from({ length: 65_537 }, (_, index) => [`${index}-`, 1]));
      expect((await post('create', custom({ payload: tooMany }))).status).toBe(413);
      expect((await post('create', custom({ payload: { text: 'x'.repeat(1_100_000) } }))).status).toBe(400);
      expect(await feedback.ids({})).toEqual([]);
    });

    it('reveal nothing of their faults to strangers', async () => {
      const response = await feedback.post('create', large({ creator: 'x'.repeat(2_000_000) }), {
        authorization: `Basic ${Buffer.from(`api:${TEST_API_KEY} of beta`).toString('base64')}`,
      });
      expect(response.statusCode).toBe(403);
    });
  });
});
