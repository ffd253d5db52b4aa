// Models, training, feedback and server pages on a real server with much data, in a real browser.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ORTLER, REPOSITORY, type RunningServer, startServer } from '../support/server.ts';
import { hasNoBrowser, launchBrowser, type OpenOptions, openConsole } from './browser.ts';
import { copyRow } from './many-rows.ts';

const KEY = 'test-key-0123456789abcdef';
const HOSTILE = '<img src=x onerror="document.title=\'broken\'"><script>document.title="broken"</script>';
const FEEDBACK_COUNT = 100_000;
const TRAJECTORY_COUNT = 10_000;
const PAGES = ['Playground', 'Models', 'Training', 'Feedback', 'Server'];
/** A text that a page has once its data are there. */
const READY: Readonly<Record<string, string>> = {
  Playground: 'Sampling temperature',
  Models: 'Architecture',
  Training: 'Trajectories:',
  Feedback: '100,000 rows',
  Server: 'Requests by route',
};
/** More than the list of them shows at once. */
const ROUTES = [
  '/',
  '/health',
  '/health/live',
  '/health/ready',
  '/ping',
  '/load',
  '/metrics',
  '/version',
  '/v1/models',
  '/openapi.json',
  '/docs',
  '/console',
  '/v1/usage',
];
const SCREENSHOTS = join(REPOSITORY, '.cache/console-screenshots');

describe.skipIf(hasNoBrowser)('the data pages', () => {
  let server: RunningServer;
  let browser: Browser;
  const authorization = `Bearer ${KEY}`;
  const post = async (path: string, body: object, headers: Record<string, string> = { authorization }) => {
    const reply = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    expect(reply.status).toBe(200);
    return (await reply.json()) as { readonly id: string; readonly result: readonly unknown[] };
  };
  const basic = { authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}` };

  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ env: { ORTLER_API_KEY: KEY } }), launchBrowser()]);
    await post(
      '/feedback/create',
      {
        project_id: 'acme/app',
        weave_ref: 'weave:///acme/app/call/1',
        feedback_type: 'custom.score',
        payload: { score: 0.9, label: HOSTILE },
      },
      basic,
    );
    copyRow(server, 'feedback', FEEDBACK_COUNT - 1, {
      id: "printf('01998d2f-3a40-7c52-9d3e-%012d', i)",
      created_at: "strftime('%Y-%m-%dT%H:%M:%fZ', 1750000000 + i, 'unixepoch')",
      payload_dump: "json_object('score', (i % 100) / 100.0, 'label', 'row ' || i)",
    });
    const model = await post('/v1/preview/models', {
      base_model: 'ortler-demo',
      entity: 'acme',
      name: 'clerk',
    });
    for (const step of [1, 2]) {
      const answer = { message: { role: 'assistant', content: HOSTILE }, finish_reason: 'stop', index: 0 };
      const trajectory = {
        messages_and_choices: [{ role: 'user', content: 'Say it' }, answer],
        reward: step / 2,
        metrics: { seconds: step },
      };
      const worse = { ...trajectory, reward: step / 4 };
      const trajectory_groups = [{ trajectories: [trajectory, worse] }];
      await post(`/v1/preview/models/${model.id}/log`, { split: 'train', step, trajectory_groups });
      if (step === 1)
        copyRow(server, 'trajectories', TRAJECTORY_COUNT - 2, {
          position: '10 + i',
          reward: '(i % 10) / 10.0',
        });
    }
    await post(`/v1/preview/models/${model.id}/checkpoints`, { step: 1, metrics: { 'val/reward': 0.5 } });
  });
  afterAll(() => Promise.all([browser?.close(), server?.dispose()]));

  const open = async (path: string, options: OpenOptions = {}) => {
    const opened = await openConsole(browser, server.url, { apiKey: KEY, path, ...options });
    if (path === '/feedback') {
      await opened.page.getByLabel('Project').fill('acme/app');
      await opened.page.getByRole('button', { name: 'Open' }).click();
    }
    return opened;
  };

  it('feedback: a filter built by clicking is the JSON that is sent, and JSON becomes the builder', async () => {
    const { page, troubles } = await open('/feedback');
    await page.getByText('100,000 rows').waitFor();
    await page.getByRole('button', { name: 'Add condition' }).click();
    await page.getByLabel('Field', { exact: true }).fill('payload.score');
    await page.getByLabel('Operator').selectOption('>');
    await page.getByLabel('Value', { exact: true }).fill('0.98');
    await page.getByRole('button', { name: 'Add condition' }).click();
    await page.getByLabel('Field', { exact: true }).nth(1).fill('feedback_type');
    await page.getByLabel('Operator').nth(1).selectOption('starts with');
    const sent = page.waitForRequest(request =>
      (request.postData() ?? '').includes('"prefix":{"$literal":"custom"}'),
    );
    await page.getByLabel('Text', { exact: true }).fill('custom');
    const expected = {
      $expr: {
        $and: [
          { $gt: [{ $getField: 'payload.score' }, { $literal: 0.98 }] },
          { $startsWith: { input: { $getField: 'feedback_type' }, prefix: { $literal: 'custom' } } },
        ],
      },
    };
    // A request may hold several calls. The editor is loaded after the page.
    const calls: readonly unknown[] = Object.values(JSON.parse((await sent).postData()!));
    expect(calls).toContainEqual(expect.objectContaining({ query: expected }));
    const editor = page.getByLabel('Filter as JSON');
    await expect
      .poll(async () => (await editor.locator('.cm-line').allTextContents()).join('\n'), { timeout: 10_000 })
      .toBe(JSON.stringify(expected, null, 2));
    const { result } = await post(
      '/feedback/query',
      { project_id: 'acme/app', query: expected, fields: ['count(*)'] },
      basic,
    );
    await page.getByText(`${Number(Object(result[0])['count(*)']).toLocaleString('en')} rows`).waitFor();

    // The other way: written JSON is shown by the builder, and a fault by its place.
    // By keys: `fill` uses a command of the browser that writes inline styles.
    const write = async (json: string) => {
      await editor.press('ControlOrMeta+a');
      await editor.press('Delete');
      await page.keyboard.insertText(json);
    };
    await write(
      '{"$expr": {"$in": [{"$getField": "payload.score"}, [{"$literal": 0.5}, {"$literal": null}]]}}',
    );
    await page.getByText('1,000 rows').waitFor();
    expect(await page.getByLabel('Value 1', { exact: true }).inputValue()).toBe('0.5');
    await write('{"$expr": {"$like": 1}}');
    await page.getByText('$expr: there is no operator $like.').waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  it.each([1000, 1280])(
    'feedback: nothing moves when the JSON editor has loaded, in %d pixels',
    async width => {
      const viewport = { width, height: 800 };
      const { page } = await openConsole(browser, server.url, { apiKey: KEY, path: '/feedback', viewport });
      const editor = Promise.withResolvers<void>();
      await page.route(/json-editor/, async route => {
        await editor.promise;
        await route.continue();
      });
      await page.getByLabel('Project').fill('acme/app');
      await page.getByRole('button', { name: 'Open' }).click();
      await page.getByRole('button', { name: 'Add condition' }).click();
      const heightOf = () =>
        page.getByRole('heading', { name: 'Filter' }).locator('xpath=ancestor::section').boundingBox();
      await page.locator('pre[aria-busy]').waitFor();
      const reserved = await heightOf();
      editor.resolve();
      await page.getByLabel('Filter as JSON').waitFor();
      expect(await heightOf()).toEqual(reserved);
      await page.close();
    },
  );

  it('feedback: a value that is typed before the types of the payload are there is a number when they are', async () => {
    const { page, troubles } = await openConsole(browser, server.url, { apiKey: KEY, path: '/feedback' });
    const types = Promise.withResolvers<void>();
    await page.route(/feedback\.payloadSchema/, async route => {
      await types.promise;
      await route.continue();
    });
    await page.getByLabel('Project').fill('acme/app');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('button', { name: 'Add condition' }).click();
    await page.getByLabel('Field', { exact: true }).fill('payload.score');
    await page.getByLabel('Operator').selectOption('>');
    await page.getByLabel('Value', { exact: true }).fill('0.980');
    const lines = () => page.getByLabel('Filter as JSON').locator('.cm-line').allTextContents();
    await expect.poll(lines, { timeout: 10_000 }).toContainEqual(expect.stringContaining('"0.980"'));
    types.resolve();
    await expect.poll(lines, { timeout: 10_000 }).toContainEqual(expect.stringMatching(/: 0\.98$/));
    expect(await page.getByLabel('Value', { exact: true }).inputValue()).toBe('0.980');
    expect(await page.getByLabel('Value: type').inputValue()).toBe('number');
    await page.getByText(/^[1-9][\d,]* rows/).waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('feedback: 100,000 rows are counted, sorted and scrolled without slow frames', async () => {
    const { page } = await open('/feedback');
    await page.getByText('100,000 rows').waitFor();
    await page.getByText('Counts by type and day').click();
    await page.getByRole('cell', { name: '100,000' }).waitFor();
    await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').click();
    await page.getByRole('row').nth(3).waitFor();
    expect(await frameMs(page, 'Feedback')).toBeLessThan(100);
    expect(await page.getByRole('row').count()).toBeLessThan(120);
    // By the keyboard too, which opens no row.
    await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').press('Enter');
    await page.locator('[aria-sort="descending"]').waitFor();
    await page.locator('[aria-rowindex="2"]').waitFor();
    expect(await page.getByRole('region', { name: 'Feedback as JSON' }).count()).toBe(0);
    // Screen readers are told which row the arrow keys have come to.
    const grid = page.getByRole('grid', { name: 'Feedback' });
    await grid.press('ArrowDown');
    await page.locator('[aria-rowindex="3"][data-focused]').waitFor();
    const row = await grid.getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${row}"]`).getAttribute('aria-rowindex')).toBe('3');
    await page.close();
  });

  it('training: curves, and one of 10,000 trajectories as a conversation whose text stays text', async () => {
    const { page, troubles } = await open('/training');
    await page.getByRole('img', { name: /^Mean of reward by step/ }).waitFor();
    await page.getByText('train + σ').first().waitFor();
    const rows = page.getByRole('grid', { name: 'Trajectories' }).getByRole('row');
    await rows.nth(3).waitFor();
    expect(await frameMs(page, 'Trajectories')).toBeLessThan(100);
    // Other rows are shown from the first one, however far the ones before were scrolled: only their first page is loaded.
    for (const reward of ['0.6', '0.7', '0.8', '0.9']) {
      await page.getByLabel('Reward from').fill(reward);
      await page.getByText('Trajectories: 100 loaded').waitFor();
      await rows.and(page.locator('[aria-rowindex="2"]')).waitFor();
      if (reward !== '0.9') await frameMs(page, 'Trajectories');
    }
    await rows.nth(1).click();
    const conversation = page.getByRole('region', { name: 'Conversation' });
    await conversation.getByText(HOSTILE).waitFor();
    expect(await page.title()).toBe('Ortler console');
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('server: the load is live, and requests and tokens are counted', async () => {
    const { page, troubles } = await open('/server');
    await page.getByText('live', { exact: true }).waitFor();
    await post('/v1/chat/completions', {
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 4,
      ignore_eos: true,
    });
    const row = page.getByRole('row', { name: /ortler-demo/ });
    await row
      .getByRole('cell', { name: /^[1-9]\d*$/ })
      .first()
      .waitFor();
    await page.getByRole('row', { name: 'POST /v1/chat/completions 1' }).waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  it.each(['light', 'dark'] as const)(
    'every page is accessible in the %s theme, and fits wide and narrow screens',
    async colorScheme => {
      mkdirSync(SCREENSHOTS, { recursive: true });
      await Promise.all(ROUTES.map(route => fetch(`${server.url}${route}`, { headers: { authorization } })));
      const { page, troubles, foreignRequests } = await open('/feedback', { colorScheme });
      for (const name of PAGES) {
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1, name }).waitFor();
        await page.getByText(READY[name]!).first().waitFor();
        await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`) });
        expect({ name, violations: await violationsOf(page) }).toEqual({ name, violations: [] });
        await page.setViewportSize({ width: 390, height: 844 });
        await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}-narrow.png`) });
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect({ name, overflow: await page.evaluate(overflow) }).toEqual({ name, overflow: 0 });
      }
      expect(troubles).toEqual([]);
      expect(foreignRequests).toEqual([]);
      await page.close();
    },
  );

  it('models: a checkpoint is loaded, shows its memory, and is unloaded', async () => {
    const { id } = await post('/v1/preview/models', {
      base_model: 'ortler-demo',
      entity: 'acme',
      name: 'poet',
    });
    cpSync(join(REPOSITORY, 'models/demo'), join(server.folder, 'data/checkpoints/poet'), {
      recursive: true,
    });
    const weights = { path: 'poet', kind: 'full' };
    await post(`/v1/preview/models/${id}/checkpoints`, { step: 3, metrics: {}, weights });
    const { page, troubles } = await open('/models');
    await page.getByRole('button', { name: 'Load acme/default/poet:step3' }).click();
    await page.getByRole('button', { name: 'Unload acme/default/poet:step3' }).waitFor();
    expect(await page.getByText(/MB of weights, up to .* of KV cache/).count()).toBe(2);
    await page.getByRole('button', { name: 'Unload acme/default/poet:step3' }).click();
    await page.getByRole('button', { name: 'Load acme/default/poet:step3' }).waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('a key of a team sees the data of its team alone, and one that was revoked nothing', async () => {
    const folder = join(server.folder, 'data');
    const key = runCli('keys', 'create', '--team', 'other', '--data-dir', folder).trim();
    // A server learns of keys that others create within seconds.
    await expect.poll(() => statusWith(key), { timeout: 15_000 }).toBe(200);
    const { page } = await openConsole(browser, server.url, { apiKey: key, path: '/training' });
    await page.getByText('No model has been created').waitFor();
    await page.getByRole('link', { name: 'Feedback' }).click();
    await page.getByLabel('Project').fill('acme/app');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('This key belongs to the team other').first().waitFor();
    expect(await page.getByRole('row').count()).toBe(1);
    await page.getByRole('link', { name: 'Server' }).click();
    await page.getByText('of the team other').waitFor();
    const keys = page.getByRole('table').filter({ hasText: 'Limits of its own' }).getByRole('row');
    expect(await keys.count()).toBe(2);
    await keys.getByText('this one').waitFor();

    const id = /^(\S+) .*other/m.exec(runCli('keys', 'list', '--data-dir', folder))![1]!;
    runCli('keys', 'remove', id, '--data-dir', folder);
    await expect.poll(() => statusWith(key), { timeout: 15_000 }).toBe(401);
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByText('This key is no longer valid.').first().waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await page.close();
  });

  const statusWith = async (key: string) =>
    (await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
});

function runCli(...args: readonly string[]): string {
  return execFileSync(process.execPath, [...ORTLER, ...args], { encoding: 'utf8' });
}

/**
 * Scrolls a table through forty frames. Unit: milliseconds of CPU time that the page's thread took for each, which does not
 * depend on what else the machine does.
 */
async function frameMs(page: Page, label: string): Promise<number> {
  const frames = 40;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const taskSeconds = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')!.value;
  };
  const before = await taskSeconds();
  await page.evaluate(`(async () => {
    const grid = document.querySelector('[role=grid][aria-label=${label}]');
    for (let frame = 0; frame < ${frames}; frame++) {
      grid.scrollTop += 400;
      await new Promise(requestAnimationFrame);
    }
  })()`);
  return (((await taskSeconds()) - before) * 1000) / frames;
}

/** What axe finds, in short. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    "axe.run({ rules: { 'target-size': { enabled: true } } })",
  )) as AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.html.slice(0, 160)}`));
}
