// The console as it is opened from another machine: over plain HTTP, where browsers leave out parts of the platform.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';
import { hasNoBrowser, launchBrowser, openConsole } from './browser.ts';

/** Any name but localhost: the browser finds this machine by it. */
const HOST = 'console.test';

describe.skipIf(hasNoBrowser)('the console over plain HTTP', () => {
  let server: RunningServer;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([
      startServer({ env: { ORTLER_ALLOWED_HOSTS: HOST } }),
      launchBrowser([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]),
    ]);
  });
  afterAll(() => Promise.all([browser?.close(), server?.dispose()]));

  it('answers in the playground, and copies messages and code', async () => {
    const { port } = new URL(server.url);
    const { page, troubles } = await openConsole(browser, `http://${HOST}:${port}`, {
      apiKey: server.apiKey,
    });
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    expect(await page.evaluate('isSecureContext')).toBe(false);
    const message = page.getByRole('textbox', { name: 'Message', exact: true });
    await message.fill('What is the capital of France?');
    await page.keyboard.press('Enter');
    await page.getByText('The answer is complete.').last().waitFor({ state: 'attached' });

    await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
    await message.press('ControlOrMeta+v');
    expect(await message.inputValue()).toBe('What is the capital of France?');
    await page.getByRole('button', { name: 'Code' }).click();
    await page.getByRole('region', { name: 'Code' }).getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(troubles.filter(text => !text.includes('Cross-Origin-Opener-Policy'))).toEqual([]);
    await page.close();
  });
});
