// What a person has written is still there after another page, another view and a reload, in a real browser.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';
import { hasNoBrowser, launchBrowser, openConsole } from './browser.ts';

describe.skipIf(hasNoBrowser)('the playground keeps', () => {
  let server: RunningServer;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), launchBrowser()]);
  });
  afterAll(() => Promise.all([browser?.close(), server?.dispose()]));

  const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
  const leaveAndComeBack = async (page: Page) => {
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('heading', { name: 'Models' }).waitFor();
    await page.goBack();
  };
  const openAgain = async (page: Page) => void (await page.reload());

  it.each([
    ['the page is left', leaveAndComeBack],
    ['the page is loaded again', openAgain],
  ])('a message and what there is of its answer, when %s meanwhile', async (_, leave) => {
    const { page, troubles } = await openConsole(browser, server.url, { apiKey: server.apiKey });
    await page.getByText('Length and stops').click();
    // Without an end token the answer is as long as the context.
    await page.getByLabel('ignore_eos').selectOption('true');
    await message(page).fill('Tell me a story');
    await page.keyboard.press('Enter');
    const tokens = page.getByRole('listbox', { name: 'Answer tokens' }).getByRole('option');
    await tokens.nth(2).waitFor();
    await leave(page);
    await page.getByRole('article', { name: 'user message' }).getByText('Tell me a story').waitFor();
    await page.getByText('stopped', { exact: true }).waitFor();
    expect(await tokens.count()).toBeGreaterThan(2);
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('a message and a prompt that are not sent yet', async () => {
    const { page } = await openConsole(browser, server.url, { apiKey: server.apiKey });
    await message(page).fill('A draft');
    await page.getByRole('button', { name: 'Completion', exact: true }).click();
    await page.getByLabel('Prompt', { exact: true }).fill('Once upon');
    await page.getByRole('button', { name: 'Chat', exact: true }).click();
    expect(await message(page).inputValue()).toBe('A draft');
    await leaveAndComeBack(page);
    expect(await message(page).inputValue()).toBe('A draft');
    await openAgain(page);
    expect(await message(page).inputValue()).toBe('A draft');
    await page.getByRole('button', { name: 'Completion', exact: true }).click();
    expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('Once upon');
    await page.close();
  });

  it('nothing but the theme, when the key is forgotten while an answer is written', async () => {
    const { page } = await openConsole(browser, server.url, { apiKey: server.apiKey });
    await page.getByRole('button', { name: /^Theme/ }).click();
    await page.getByText('Length and stops').click();
    await page.getByLabel('ignore_eos').selectOption('true');
    await message(page).fill('Tell me a story');
    await page.keyboard.press('Enter');
    await page.getByRole('listbox', { name: 'Answer tokens' }).getByRole('option').nth(2).waitFor();
    await message(page).fill('A draft');
    await page.getByRole('button', { name: 'Forget key' }).click();
    await page.getByLabel('API key').waitFor();
    const kept = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);
    expect(kept).toEqual(['ortler-theme']);
    await page.close();
  });

  it('the model that was chosen after a link named another', async () => {
    const { page } = await openConsole(browser, server.url, {
      apiKey: server.apiKey,
      path: '/?model=ortler-demo',
    });
    const model = page.getByLabel('Model', { exact: true });
    await expect.poll(() => model.inputValue()).toBe('ortler-demo');
    await model.selectOption('');
    await openAgain(page);
    await page.getByText('Sampling temperature').waitFor();
    expect(await model.inputValue()).toBe('');
    await page.close();
  });

  it('the conversation of a tab beside that of another, which a new tab gets', async () => {
    const first = (await openConsole(browser, server.url, { apiKey: server.apiKey })).page;
    const openTab = async () => {
      const page = await first.context().newPage();
      await page.addInitScript(`sessionStorage.setItem('ortler-api-key', '${server.apiKey}')`);
      await page.goto(`${server.url}/#/`);
      return page;
    };
    const ask = async (page: Page, text: string) => {
      await message(page).fill(text);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    };
    const questions = (page: Page) => page.getByRole('article', { name: 'user message' });
    const second = await openTab();
    await ask(first, 'the first');
    await ask(second, 'the second');
    await first.reload();
    await questions(first).getByText('the first').waitFor();
    expect(await questions(first).count()).toBe(1);
    await questions(await openTab())
      .getByText('the first')
      .waitFor();
    await first.context().close();
  });
});
