// Pages of the console with long names, with nothing to show, and with what comes later, on a real server in a real browser.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REPOSITORY, type RunningServer, startServer } from '../support/server.ts';
import { hasNoBrowser, launchBrowser, type OpenOptions, openConsole } from './browser.ts';

const PHONE = { width: 390, height: 844 };
const LONG = 'n'.repeat(100);
/** Counts lines that are drawn dashed, as those of checkpoints are. */
const COUNT_DASHED_LINES = `{
  window.dashedLineCount = 0;
  const { stroke } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.stroke = function (...args) {
    if (this.getLineDash().length > 0) window.dashedLineCount++;
    return stroke.apply(this, args);
  };
}`;

describe.skipIf(hasNoBrowser)('the console', () => {
  let server: RunningServer;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), launchBrowser()]);
  });
  afterAll(() => Promise.all([browser?.close(), server?.dispose()]));

  const open = (options: OpenOptions) =>
    openConsole(browser, server.url, { apiKey: server.apiKey, ...options });
  const post = async (path: string, body: object | string) => {
    const basic = Buffer.from(`api:${server.apiKey}`).toString('base64');
    const authorization = path.startsWith('/feedback') ? `Basic ${basic}` : `Bearer ${server.apiKey}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const reply = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    expect(reply.status).toBe(200);
  };
  const createModel = (name: string) => post('/v1/preview/models', { base_model: 'ortler-demo', name });
  const log = (name: string, split: string) =>
    post(`/v1/preview/models/${name}/log`, {
      split,
      trajectory_groups: [{ trajectories: [{ reward: 1, metrics: { [`${split}_metric`]: 1 } }] }],
    });
  const chooseModel = (page: Page, name: string) =>
    page.getByRole('combobox', { name: 'Model' }).selectOption({ label: `default/default/${name}` });
  const openProject = async (page: Page, project: string) => {
    await page.getByLabel('Project').fill(project);
    await page.getByRole('button', { name: 'Open' }).click();
  };

  it('wraps long names on a phone instead of growing wider than the screen', async () => {
    await createModel(LONG);
    await log(LONG, LONG);
    await post('/feedback/create', {
      project_id: 'acme/long',
      weave_ref: 'weave:///acme/long/call/1',
      feedback_type: `custom.${LONG}`,
      payload: {},
    });
    const { page } = await open({ path: '/training', viewport: PHONE });
    await chooseModel(page, LONG);
    expect(await isInside(page.getByRole('heading', { name: `${LONG}_metric` }))).toBe(true);
    expect(await isInside(page.getByText('trained from ortler-demo'))).toBe(true);

    await page.getByRole('link', { name: 'Feedback' }).click();
    await openProject(page, 'acme/long');
    // What is below the editor moves when that comes.
    await page.getByLabel('Filter as JSON').waitFor();
    await page.getByText('Counts by type and day').click();
    const counts = page.getByRole('table', { name: 'Feedback by type' });
    expect(await isInside(counts.getByRole('cell', { name: '1', exact: true }))).toBe(true);
    expect(await isInside(page.getByRole('img', { name: /^Feedback per day/ }))).toBe(true);

    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('word '.repeat(100));
    await page.keyboard.press('Enter');
    await page.getByText('The answer is complete.').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Code' }).click();
    expect(await isInside(page.getByRole('button', { name: 'Close' }))).toBe(true);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    await page.close();
  });

  it.each([
    ['upright', { width: 360, height: 640 }],
    ['on its side', { width: 844, height: 390 }],
  ])('leaves room for the conversation beside other panels on a phone %s', async (_, viewport) => {
    const { page } = await open({ viewport });
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('line\n'.repeat(60));
    await page.keyboard.press('Enter');
    await page.getByText('The answer is complete.').waitFor({ state: 'attached' });
    for (const panel of ['Code', 'Keep']) {
      await page.getByRole('button', { name: panel, exact: true }).click();
      const { height } = (await page.getByRole('region', { name: 'Conversation' }).boundingBox())!;
      expect(height).toBeGreaterThan(80);
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(viewport.height);
      await page.getByRole('button', { name: 'Close' }).click();
    }
    await page.close();
  });

  it('keeps a nested filter and the links to all pages inside the smallest phones', async () => {
    const { page } = await open({ path: '/feedback', viewport: { width: 360, height: 740 } });
    await openProject(page, 'acme/none');
    await page.getByRole('button', { name: 'Add negation' }).click();
    await page.getByRole('button', { name: 'Add group' }).click();
    const groups = page.getByRole('group').filter({ has: page.getByLabel('Operator') });
    for (const group of await groups.all()) expect(await isInside(group)).toBe(true);
    expect(await isInside(page.getByRole('link', { name: 'Server' }))).toBe(true);
    await page.close();
  });

  it('shows integers of a payload with all the digits that are stored', async () => {
    const payload = '{"id":9007199254740993,"list":[-9223372036854775808],"text":"9007199254740993"}';
    await post(
      '/feedback/create',
      `{"project_id":"acme/digits","weave_ref":"weave:///acme/digits/call/1","feedback_type":"custom.id","payload":${payload}}`,
    );
    const { page, troubles } = await open({ path: '/feedback' });
    await openProject(page, 'acme/digits');
    await page.getByRole('gridcell', { name: payload }).click();
    const shown = page.getByRole('region', { name: 'Feedback as JSON' });
    for (const line of ['"id": 9007199254740993,', '-9223372036854775808', '"text": "9007199254740993"'])
      await shown.getByText(line).waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('writes Arabic from the right, line by line', async () => {
    const { page } = await open({});
    const message = page.getByRole('textbox', { name: 'Message', exact: true });
    await message.fill('مرحبا بالعالم');
    expect(await message.getAttribute('dir')).toBe('auto');
    await page.keyboard.press('Enter');
    const text = page.getByRole('article', { name: 'user message' }).getByText('مرحبا بالعالم');
    const [left, right] = await text.evaluate(element => {
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      const [words, line] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
      return [words.left - line.left, line.right - words.right];
    });
    expect(left).toBeGreaterThan(right + 100);
    await page.close();
  });

  it('says that there are no rows, and that none match', async () => {
    await createModel('fresh');
    const { page, troubles } = await open({ path: '/training' });
    await chooseModel(page, 'fresh');
    await page.getByText('No trajectory has been logged for this model.').waitFor();
    await page.getByLabel('Reward from').fill('2');
    await page.getByText('No trajectory matches.').waitFor();
    await page.getByRole('link', { name: 'Feedback' }).click();
    await openProject(page, 'acme/none');
    await page.getByText('There is no feedback in the project acme/none.').waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('marks in the curves a checkpoint that comes later, and offers a chat with those that have weights', async () => {
    await createModel('clerk');
    await log('clerk', 'train');
    const { page } = await open({ path: '/models' });
    await page.evaluate(COUNT_DASHED_LINES);
    await page.getByRole('link', { name: 'Training' }).click();
    await chooseModel(page, 'clerk');
    await page.getByRole('img', { name: /^Mean of reward by/ }).waitFor();
    expect(await page.evaluate('dashedLineCount')).toBe(0);

    cpSync(join(REPOSITORY, 'models/demo'), join(server.folder, 'data/checkpoints/clerk'), {
      recursive: true,
    });
    const weights = { path: 'clerk', kind: 'full' };
    await post('/v1/preview/models/clerk/checkpoints', { step: 0, metrics: { 'val/reward': 1 } });
    await post('/v1/preview/models/clerk/checkpoints', { step: 1, metrics: {}, weights });
    // The page asks again by itself.
    await page.getByText('val/reward 1').waitFor();
    await expect.poll(() => page.evaluate('dashedLineCount')).toBeGreaterThan(0);

    await page.reload();
    await chooseModel(page, 'clerk');
    await page.getByRole('link', { name: 'Chat with step 1' }).waitFor();
    expect(await page.getByRole('link', { name: /^Chat with step/ }).count()).toBe(1);
    await page.close();
  });
});

/** Whether an element, its text included, is between the left and the right edge of the window. */
async function isInside(element: Locator): Promise<boolean> {
  await element.waitFor();
  const { x, width } = (await element.boundingBox())!;
  const isWhole = await element.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth + 1);
  return isWhole && x >= 0 && x + width <= element.page().viewportSize()!.width;
}
