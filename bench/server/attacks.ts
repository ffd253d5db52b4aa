// Ways in which one caller with a valid key tried to stop all others. Each is sent over and over by some clients at once, from a
// process of its own (`run-attack.ts`). Callers: the benchmark `neighbours`, and `tests/server/neighbours.test.ts`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface AttackedServer {
  readonly url: string;
  /** Key of the attacker. */
  readonly apiKey: string;
  readonly project: string;
  /** A model of the server. */
  readonly baseModel: string;
}

export interface AttackRequest {
  readonly path: string;
  readonly body: string;
}

/** `never-reads`: the reply stays in the connection. `leaves`: the client ends its connection soon after the request. */
export type ClientKind = 'reads' | 'never-reads' | 'leaves';

export interface Attack {
  readonly title: string;
  readonly clients: number;
  readonly kind: ClientKind;
  /** Statuses of the replies that are read. */
  readonly statuses: readonly number[];
  /** Stores what the requests are about, with `post`, which gives the parsed reply. */
  prepare?(server: AttackedServer, post: Post): Promise<void>;
  /** The requests of one round of each client. */
  requests(server: AttackedServer): readonly AttackRequest[];
}

export type Post = (path: string, body: unknown) => Promise<Readonly<Record<string, unknown>>>;

export interface AttackResult {
  readonly sentCount: number;
  /** Replies by status. */
  readonly statuses: Readonly<Record<number, number>>;
}

/** What the attacker's process is told. */
export interface AttackOrder {
  readonly id: string;
  readonly server: AttackedServer;
}

export interface RunningAttack {
  /** Resolves when every client has sent its first request. */
  readonly open: Promise<void>;
  /** Ends all connections. */
  stop(): Promise<AttackResult>;
}

const MODEL = 'attacked';

const entries = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
const feedback = (project: string, payload: object, id: string) => ({
  project_id: project,
  weave_ref: `weave:///${project}/call/1`,
  feedback_type: 'custom',
  payload,
  id,
});

/** Stores `count` rows of a payload, each under an id of its own. */
async function storeRows(
  { project }: AttackedServer,
  post: Post,
  { count, prefix, payload }: { count: number; prefix: string; payload: (index: number) => object },
): Promise<void> {
  for (let index = 0; index < count; index++)
    await post('/feedback/create', feedback(project, payload(index), `${prefix}${index}`));
}

const readOf = (project: string) => ({
  path: '/feedback/query',
  body: JSON.stringify({ project_id: project }),
});

const logOf = (modelPath: string, trajectories: string): AttackRequest => ({
  path: `${modelPath}/log`,
  body: `{"split":"train","trajectory_groups":[{"trajectories":[${trajectories}]}]}`,
});

const createModel = async ({ project, baseModel }: AttackedServer, post: Post) => {
  await post('/v1/preview/models', { name: MODEL, project: project.split('/')[1], base_model: baseModel });
};
const modelPath = ({ project }: AttackedServer) =>
  `/v1/preview/models/${encodeURIComponent(`${project}/${MODEL}`)}`;

/** All attacks by their number in the report that found them. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  H1: {
    title: 'large answers of feedback queries that nobody reads',
    clients: 60,
    kind: 'never-reads',
    statuses: [200, 400, 429],
    prepare: (server, post) =>
      storeRows(server, post, { count: 72, prefix: 'wide', payload: () => entries(11_000, 1) }),
    requests: ({ project }) => [readOf(project)],
  },
  H1b: {
    title: 'large answers of feedback queries',
    clients: 4,
    kind: 'reads',
    statuses: [200, 429],
    requests: ({ project }) => [readOf(project)],
  },
  H2: {
    title: 'slow feedback queries whose clients leave',
    clients: 12,
    kind: 'leaves',
    statuses: [],
    prepare: (server, post) =>
      storeRows(server, post, {
        count: 12,
        prefix: 'long',
        payload: index => ({ text: `${'x'.repeat(700_000)}${index}` }),
      }),
    requests: ({ project }) => {
      const needles = Array.from({ length: 400 }, (_, index) => ({
        $contains: {
          input: { $getField: 'payload.text' },
          substr: { $literal: `${'x'.repeat(200)}y${index}` },
        },
      }));
      const query = { $expr: { $or: needles } };
      return [{ path: '/feedback/query', body: JSON.stringify({ project_id: project, query }) }];
    },
  },
  H3: {
    title: 'trajectory logs of 48 MB',
    clients: 1,
    kind: 'reads',
    statuses: [200],
    prepare: createModel,
    requests(server) {
      const messages = [{ role: 'user', content: 'x'.repeat(2_000) }];
      const one = JSON.stringify({ messages_and_choices: messages, reward: 1, metrics: entries(20, 1) });
      return [logOf(modelPath(server), new Array(20_000).fill(one).join())];
    },
  },
  H4: {
    title: 'trajectory logs of 100,000 empty trajectories',
    clients: 20,
    kind: 'reads',
    statuses: [200, 413, 422],
    prepare: createModel,
    requests: server => [
      logOf(modelPath(server), new Array(100_000).fill('{}').join()),
      logOf(modelPath(server), new Array(10_000).fill('{}').join()),
    ],
  },
  H5: {
    title: 'long texts for /tokenize',
    clients: 6,
    kind: 'reads',
    statuses: [200, 400, 429],
    requests: () =>
      ['a'.repeat(3_900_000), '\ufdfa'.repeat(300_000), '\u1100\u1161'.repeat(300_000)].map(prompt => ({
        path: '/tokenize',
        body: JSON.stringify({ prompt }),
      })),
  },
  M5: {
    title: 'schemas that nothing satisfies',
    clients: 4,
    kind: 'reads',
    statuses: [400],
    requests: () =>
      [{ not: {} }, { type: 'array', items: { const: 1 }, contains: { const: 2 } }].map(schema => ({
        path: '/v1/chat/completions',
        body: JSON.stringify({
          messages: [{ role: 'user', content: 'x' }],
          response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
        }),
      })),
  },
  M6: {
    title: 'slow chat templates',
    clients: 20,
    kind: 'reads',
    statuses: [200, 400, 429],
    requests: () => [
      {
        path: '/tokenize',
        body: JSON.stringify({
          messages: [{ role: 'user', content: 'x' }],
          chat_template: '{% for i in range(900) %}{% for j in range(900) %}{% endfor %}{% endfor %}x',
        }),
      },
    ],
  },
  M7: {
    title: 'bodies of 8 MB with 600,000 keys, and with the most that are allowed',
    clients: 8,
    kind: 'reads',
    statuses: [200, 400, 413, 422],
    requests: ({ project }) => {
      const many = JSON.stringify(entries(600_000, 1));
      const most = JSON.stringify(entries(60_000, 1));
      const create = (payload: string) =>
        `{"project_id":"${project}","weave_ref":"w","feedback_type":"c","id":"keys","payload":${payload}}`;
      return [
        { path: '/feedback/create', body: create(many) },
        { path: '/feedback/create', body: create(most) },
        { path: '/v1/chat/completions', body: many },
      ];
    },
  },
};

/** Stores what the attack is about. Throws: when a reply is not 200. */
export async function prepareAttack({ prepare }: Attack, server: AttackedServer): Promise<void> {
  await prepare?.(server, async (path, body) => {
    const reply = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: authorizationOf(path, server.apiKey), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    // The model of an earlier attack.
    if (!reply.ok && reply.status !== 409) throw new Error(`${path}: ${reply.status} ${text.slice(0, 300)}`);
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  });
}

const ENTRY = fileURLToPath(new URL('./run-attack.ts', import.meta.url));

/**
 * Starts the attack of this number. Attackers are on other machines; here they share the server's cores. So they have the lowest
 * CPU priority: what a neighbour waits for is the server, not the attacker who writes its bodies.
 */
export function startAttack(id: string, server: AttackedServer): RunningAttack {
  const attacker = spawn('nice', ['-n', '19', process.execPath, ENTRY], {
    env: { ...process.env, ATTACK: JSON.stringify({ id, server } satisfies AttackOrder) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const leave = () => void attacker.kill('SIGKILL');
  process.once('exit', leave);
  const ended = new Promise<never>((_, reject) => {
    attacker.once('error', reject);
    attacker.once('exit', () => reject(new Error(`The attacker ${id} ended.`)));
  });
  ended.catch(() => process.off('exit', leave));
  const nextMessage = () => Promise.race([once(attacker, 'message').then(([message]) => message), ended]);
  const open = nextMessage().then(() => undefined);
  open.catch(() => undefined);
  return {
    open,
    async stop() {
      await open;
      const result = nextMessage();
      attacker.send('stop');
      return (await result) as AttackResult;
    },
  };
}

export function authorizationOf(path: string, apiKey: string): string {
  return path.startsWith('/feedback')
    ? `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}`
    : `Bearer ${apiKey}`;
}
