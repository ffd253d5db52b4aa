// Pages of 100 logged trajectories at any depth, and one large log call, through the server as its users run it (on
// SQLite, or on the PostgreSQL that DATABASE_URL names). Every page is checked: it must go on where the last one ended.

import { parseArgs } from 'node:util';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { API_KEY, startServer } from '../start-server.ts';

const PAGE = 100;
const PER_CALL = 1_000;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    bytes: { type: 'string', default: '1000' },
    turns: { type: 'string', default: '20' },
    megabytes: { type: 'string', default: '64' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(
    'npm run bench -- trajectory-pages [--count 100000] [--bytes 1000] [--turns 20] [--megabytes 64]\n' +
      'count: trajectories to log first, each of so many bytes; turns: pages read at each depth; megabytes: the large call.',
  );
} else {
  const { count, bytes, turns, megabytes } = values;
  console.log(JSON.stringify(await measure(+count, +bytes, +turns, +megabytes), null, 2));
}

async function measure(count: number, bytes: number, turns: number, megabytes: number) {
  const { url, stop } = await startServer();
  try {
    const base = `${url}/v1/preview/models`;
    const { id } = (await call('POST', base, { base_model: 'bench' })) as { id: string };
    const model = `${base}/${id}`;
    const trajectory = { logs: ['x'.repeat(bytes)], reward: 0.5 };
    const body = (length: number) => ({
      split: 'train',
      trajectory_groups: [{ trajectories: new Array(length).fill(trajectory) }],
    });
    const filling = performance.now();
    for (let done = 0; done < count; done += PER_CALL) await call('POST', `${model}/log`, body(PER_CALL));
    const fillMs = performance.now() - filling;

    const depths = [0, 0.5, 0.99].map(part => Math.floor((count - PAGE) * part));
    const pages: Record<string, { readonly medianMs: number; readonly worstMs: number }> = {};
    // Depths take turns, so that a disturbance hits all of them.
    const times = new Map(depths.map(depth => [depth, [] as number[]]));
    for (let turn = 0; turn < turns; turn++)
      for (const [depth, found] of times) {
        const startedAt = performance.now();
        const page = await call('GET', `${model}/trajectories?split=train&limit=${PAGE}&after=${depth}`);
        found.push(performance.now() - startedAt);
        const { data } = page as { data: { id: string }[] };
        if (data.length !== PAGE || data.some((item, index) => Number(item.id) !== depth + index + 1))
          throw new Error(`The page behind ${depth} is wrong.`);
      }
    for (const [depth, found] of times)
      pages[depth] = { medianMs: median(found), worstMs: Math.max(...found) };

    const large = body(Math.ceil((megabytes * 1024 * 1024) / JSON.stringify(trajectory).length));
    const logging = performance.now();
    await call('POST', `${model}/log`, large);
    const largeMs = performance.now() - logging;
    return { count, bytes, fillMs, pages, megabytes, largeMs, machine: describeMachine() };
  } finally {
    await stop();
  }
}

async function call(method: string, url: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
