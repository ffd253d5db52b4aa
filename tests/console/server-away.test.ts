// The console while its server cannot be reached, in a real browser.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';
import { hasNoBrowser, launchBrowser, openConsole } from './browser.ts';

describe.skipIf(hasNoBrowser)('the console without its server', () => {
  let server: RunningServer;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), launchBrowser()]);
  });
  afterAll(() => Promise.all([browser?.close(), server?.dispose()]));

  it('stays open when a page cannot be fetched, and opens it when the server is back', async () => {
    const { page } = await openConsole(browser, server.url, { apiKey: server.apiKey });
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.getByRole('alert').getByText('The server does not answer.').waitFor();

    await page.getByRole('link', { name: 'Training', exact: true }).click();
    await page.getByRole('alert').getByText('The server does not answer.').waitFor();

    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No model has been created').waitFor();
    await page.getByRole('link', { name: 'Server', exact: true }).click();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.getByText('Architecture').waitFor();
    expect(await page.evaluate("performance.getEntriesByType('navigation').length")).toBe(1);
    await page.close();
  });
});
