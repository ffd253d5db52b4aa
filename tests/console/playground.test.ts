// The playground of a real server with the demo model, in a real browser.

import type { ChatCompletion, Completion } from '@ortler/schemas';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';
import { hasNoBrowser, launchBrowser, numbersOf, type OpenOptions, openConsole } from './browser.ts';

const QUESTION = 'What is the capital of France?';

describe.skipIf(hasNoBrowser)('the playground', () => {
  let server: RunningServer;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([
      startServer({ arguments: ['--tool-calling', 'on'] }),
      launchBrowser(),
    ]);
  });
  afterAll(() => Promise.all([browser?.close(), server?.dispose()]));

  const open = (options: OpenOptions = {}) =>
    openConsole(browser, server.url, { apiKey: server.apiKey, ...options });
  const call = async <Answer>(path: string, body: object) => {
    const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' };
    const reply = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return (await reply.json()) as Answer;
  };
  const ask = async (page: Page, text: string, { temperature = '0' } = {}) => {
    await page.getByLabel('temperature', { exact: true }).fill(temperature);
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text);
    await page.keyboard.press('Enter');
    await settled(page);
  };
  const settled = async (page: Page) => {
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await page.getByText('The answer is complete.').last().waitFor({ state: 'attached' });
  };
  const shownAnswers = (page: Page) => page.getByRole('listbox', { name: 'Answer tokens' }).allTextContents();

  it('asks for the key once, refuses a wrong one, and keeps it in the session alone', async () => {
    const { page, troubles } = await openConsole(browser, server.url);
    // No header of a browser has these letters.
    await page.getByLabel('API key').fill('ключ');
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByText('Copy the key again.').first().waitFor();
    await page.getByLabel('API key').fill('wrong');
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByText('The server does not know this key.').first().waitFor();
    await page.getByLabel('API key').fill(server.apiKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    const stored = await page.evaluate(
      () => [{ ...sessionStorage }, JSON.stringify({ ...localStorage })] as const,
    );
    expect(Object.values(stored[0])).toEqual([server.apiKey]);
    expect(stored[1]).not.toContain(server.apiKey);
    await page.reload();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    await page.getByRole('button', { name: 'Forget key' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    // The browser itself reports the 401.
    expect(troubles.filter(text => !text.includes('401'))).toEqual([]);
    await page.close();
  });

  it('streams an answer whose tokens have the probabilities of the api', async () => {
    const { page, troubles, foreignRequests } = await open();
    await ask(page, QUESTION);
    const expected = await call<ChatCompletion>('/v1/chat/completions', {
      messages: [{ role: 'user', content: QUESTION }],
      temperature: 0,
      logprobs: true,
      top_logprobs: 5,
    });
    const tokens = expected.choices[0]!.logprobs!.content!;
    const options = page.getByRole('listbox', { name: 'Answer tokens' }).getByRole('option');
    expect(await options.allTextContents()).toEqual(tokens.map(({ token }) => token));
    expect(await numbersOf(options, 'data-logprob')).toEqual(tokens.map(({ logprob }) => logprob));
    expect(await options.last().getAttribute('aria-label')).toContain(
      'ends the answer; not part of its text',
    );

    // The arrow keys go from token to token, and the list shows what else was possible there.
    await page.getByRole('listbox', { name: 'Answer tokens' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const candidates = page.getByRole('region', { name: 'Candidates' }).getByRole('button');
    expect(await numbersOf(candidates, 'data-logprob')).toEqual(
      tokens[1]!.top_logprobs.map(candidate => candidate.logprob),
    );
    expect(troubles).toEqual([]);
    expect(foreignRequests).toEqual([]);
    await page.close();
  });

  it('continues from another candidate with the exact tokens before it, as a branch', async () => {
    const { page, troubles } = await open();
    await ask(page, QUESTION);
    const [first] = await shownAnswers(page);
    await page.getByRole('listbox', { name: 'Answer tokens' }).getByRole('option').nth(1).click();
    await page.getByRole('region', { name: 'Candidates' }).getByRole('button').nth(1).click();
    await page.getByText('2/2').waitFor();
    await settled(page);
    const [second] = await shownAnswers(page);
    expect(second).not.toBe(first);

    // The same from the api alone, by ids.
    const chat = await call<ChatCompletion>('/v1/chat/completions', {
      messages: [{ role: 'user', content: QUESTION }],
      temperature: 0,
      return_token_ids: true,
    });
    const context = [...chat.prompt_token_ids!, chat.choices[0]!.token_ids![0]!];
    const listed = await call<Completion>('/v1/completions', {
      prompt: context,
      max_tokens: 1,
      temperature: 0,
      logprobs: 5,
      return_tokens_as_token_ids: true,
    });
    const candidateId = Number(Object.keys(listed.choices[0]!.logprobs!.top_logprobs[0]!)[1]!.split(':')[1]);
    const continued = await call<Completion>('/v1/completions', {
      prompt: [...context, candidateId],
      max_tokens: 200,
      temperature: 0,
      logprobs: 0,
    });
    const options = page.getByRole('listbox', { name: 'Answer tokens' }).getByRole('option');
    const rest = (await numbersOf(options, 'data-logprob')).slice(2);
    expect(rest).toEqual(continued.choices[0]!.logprobs!.token_logprobs);

    await page.getByRole('button', { name: 'Previous branch' }).click();
    expect(await shownAnswers(page)).toEqual([first]);
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('shows several answers to one message as branches', async () => {
    const { page, troubles } = await open();
    await page.getByLabel('seed', { exact: true }).fill('7');
    await page.getByText('Sampling', { exact: true }).click();
    await page.getByLabel('n', { exact: true }).fill('3');
    await ask(page, QUESTION, { temperature: '1.5' });
    const { choices } = await call<ChatCompletion>('/v1/chat/completions', {
      messages: [{ role: 'user', content: QUESTION }],
      temperature: 1.5,
      seed: 7,
      n: 3,
      logprobs: true,
    });
    const texts = choices.map(({ logprobs }) => logprobs!.content!.map(({ token }) => token).join(''));
    for (const [index, text] of texts.entries()) {
      await page.getByText(`${index + 1}/3`).waitFor();
      expect(await shownAnswers(page)).toEqual([text]);
      if (index < 2) await page.getByRole('button', { name: 'Next branch' }).click();
    }
    await page.getByLabel('n', { exact: true }).fill('17');
    await page.getByText('This page shows up to 16 answers at once.').first().waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('edits and regenerates as branches that a reload keeps', async () => {
    const { page } = await open();
    await ask(page, QUESTION);
    const [first] = await shownAnswers(page);
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await page.getByText('2/2').waitFor();
    await settled(page);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Edited message' }).fill('What is the capital of Italy?');
    await page.getByRole('button', { name: 'Send as a new branch' }).click();
    await settled(page);
    expect(await page.getByRole('article').first().textContent()).toContain('Italy');
    await page.reload();
    expect(await page.getByRole('article').first().textContent()).toContain('Italy');
    await page.getByRole('button', { name: 'Previous branch' }).first().click();
    expect(await shownAnswers(page)).toEqual([first]);
    await page.close();
  });

  it('stops a long answer and keeps what has come', async () => {
    const { page } = await open();
    await page.getByLabel('temperature', { exact: true }).fill('1.9');
    await page.getByText('Length and stops').click();
    await page.getByLabel('ignore_eos').selectOption('true');
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Count.');
    await page.keyboard.press('Enter');
    await page.getByRole('listbox', { name: 'Answer tokens' }).getByRole('option').nth(3).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('stopped', { exact: true }).waitFor();
    expect((await shownAnswers(page))[0]!.length).toBeGreaterThan(3);
    await page.close();
  });

  it('shows the tokens of a prompt as the api does, and continues a text', async () => {
    const { page, troubles } = await open();
    await page.getByRole('button', { name: 'Completion' }).click();
    await page.getByLabel('temperature', { exact: true }).fill('0');
    await page.getByLabel('Prompt', { exact: true }).fill('The capital of France is');
    await page.getByRole('button', { name: 'Probabilities of the prompt' }).click();
    const options = page.getByRole('listbox', { name: 'Prompt tokens' }).getByRole('option');
    await options.first().waitFor();
    const expected = await call<Completion>('/v1/completions', {
      prompt: 'The capital of France is',
      max_tokens: 1,
      temperature: 0,
      prompt_logprobs: 5,
      return_token_ids: true,
    });
    const { prompt_token_ids: ids, prompt_logprobs: listed } = expected.choices[0]!;
    expect((await numbersOf(options, 'data-logprob')).slice(1)).toEqual(
      ids!.slice(1).map((id, index) => listed![index + 1]![id]!.logprob),
    );
    await page.getByRole('button', { name: 'Continue the text' }).click();
    await page.getByRole('listbox', { name: 'Answer tokens' }).getByRole('option').first().waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('copies a long text, which is in several blocks, with its own line breaks', async () => {
    const { page } = await open();
    const text = `${'word '.repeat(30)}\n`.repeat(20).trimEnd();
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text);
    await page.keyboard.press('Enter');
    const sent = page.getByRole('article', { name: 'user message' }).locator('.whitespace-pre-wrap');
    expect(await sent.locator('> *').count()).toBeGreaterThan(3);
    const copied = await sent.evaluate(element => {
      const selection = element.ownerDocument.getSelection()!;
      selection.selectAllChildren(element);
      return selection.toString();
    });
    expect(copied).toBe(text);
    await page.close();
  });

  it('shows an answer of hostile text as text', async () => {
    const { page, troubles, foreignRequests } = await open();
    const hostile = [
      '<img src=x onerror="document.title=1"><script>document.title=1</script>',
      '</span></div><iframe src="https://example.com"></iframe><a href="javascript:document.title=1">x</a>',
      '![x](https://example.com/x.png) [y](javascript:document.title=1) <style>*{display:none}</style>',
    ];
    for (const text of hostile) {
      await page.getByLabel('Form of the answer').selectOption('One of these lines');
      await page.getByRole('textbox', { name: 'One of these lines' }).fill(text);
      await ask(page, 'Say it.');
      expect((await shownAnswers(page)).at(-1)).toContain(text);
      await page.getByLabel('Token probabilities').uncheck();
      await page.getByText(text, { exact: true }).last().waitFor();
      await page.getByLabel('Token probabilities').check();
    }
    const answers = page.getByRole('region', { name: 'Conversation' });
    expect(await answers.locator('img, script, iframe, a, style').count()).toBe(0);
    expect(await page.title()).toBe('Ortler console');
    expect({ troubles, foreignRequests }).toEqual({ troubles: [], foreignRequests: [] });
    await page.close();
  });

  it('answers in a schema that was made from a form, and gives the request as code', async () => {
    const { page, troubles } = await open();
    await page.getByLabel('Form of the answer').selectOption('JSON Schema');
    await page.getByLabel('Property 1', { exact: true }).fill('city');
    await page.getByRole('button', { name: 'Add property' }).click();
    await page.getByLabel('Property 2', { exact: true }).fill('mood');
    await page.getByLabel('Type of property 2').selectOption('one of');
    await page.getByLabel('Values of property 2').fill('good, bad');
    await page.getByRole('button', { name: 'Code' }).click();
    const code = page.getByRole('region', { name: 'Code' });
    expect(await code.textContent()).toContain(`curl '${server.url}/v1/chat/completions'`);
    expect(await code.textContent()).not.toContain(server.apiKey);
    await ask(page, 'A city and its mood?');
    await page.getByText('JSON', { exact: true }).first().waitFor();
    await page.getByLabel('Token probabilities').uncheck();
    const answer = await page.getByRole('article').last().locator('[dir=auto]').first().textContent();
    expect(JSON.parse(answer!)).toEqual({
      city: expect.any(String),
      mood: expect.stringMatching(/^(good|bad)$/),
    });
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('keeps an answer as feedback and as a trajectory', async () => {
    const model = await call<{ id: string }>('/v1/preview/models', {
      base_model: 'ortler-demo',
      name: 'kept',
    });
    const { page, troubles } = await open();
    await ask(page, QUESTION);
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByLabel('Project').fill('acme/app');
    await page.getByLabel('Note').fill('well said');
    await page.getByRole('button', { name: 'Send as feedback' }).click();
    await page.getByText('Stored.').waitFor();
    await page.getByRole('button', { name: 'Log as trajectory' }).click();
    await page.getByText('Stored.').nth(1).waitFor();
    expect(troubles).toEqual([]);
    await page.close();
    const reply = await fetch(`${server.url}/v1/preview/models/${model.id}/trajectories`, {
      headers: { authorization: `Bearer ${server.apiKey}` },
    });
    expect(await reply.json()).toMatchObject({ data: [{ reward: 1, split: 'train', trainable_items: [1] }] });
  });

  it('compares two settings with the same seed', async () => {
    const { page, troubles } = await open();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('button', { name: 'Settings of B' }).click();
    await page.getByLabel('temperature', { exact: true }).fill('0');
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill(QUESTION);
    const sent: { seed: number; temperature?: number }[] = [];
    page.on('request', request => {
      if (request.url().includes('chat.stream')) sent.push(JSON.parse(request.postData()!)['0']);
    });
    await page.keyboard.press('Enter');
    await page
      .getByText(/tokens, \d/)
      .nth(1)
      .waitFor();
    expect(sent.map(({ temperature }) => temperature).sort()).toEqual([0, undefined]);
    expect(sent[0]!.seed).toBe(sent[1]!.seed);
    await page.getByText(`Seed of both: ${sent[0]!.seed}`).waitFor();
    expect(troubles).toEqual([]);
    await page.close();
  });

  it('shows calls of tools and sends their results', async () => {
    const { page, troubles } = await open();
    const sent: { messages: { role: string; tool_call_id?: string; content: string | null }[] }[] = [];
    // The demo model calls no tool by itself; the first request makes it.
    await page.route(/chat\.stream/, async route => {
      const body = JSON.parse(route.request().postData()!);
      sent.push(body['0']);
      Object.assign(body['0'], {
        tool_choice: sent.length === 1 ? 'required' : 'none',
        parallel_tool_calls: false,
      });
      await route.continue({ postData: JSON.stringify(body) });
    });
    await page.getByRole('button', { name: 'Add tools' }).click();
    await ask(page, 'How warm is it in Rome?');
    await page.getByLabel(/^Result of get_weather/).fill('31 degrees');
    await page.getByRole('button', { name: 'Send results' }).click();
    await page.getByRole('article', { name: 'tool message' }).getByText('31 degrees').waitFor();
    await settled(page);
    const [question, call, result] = sent[1]!.messages;
    expect([question!.role, call!.role, result!.role]).toEqual(['user', 'assistant', 'tool']);
    expect(result).toMatchObject({ content: '31 degrees', tool_call_id: expect.stringMatching(/./) });
    expect(troubles).toEqual([]);
    await page.close();
  });
});
