// Opens the console of a running server in Debian's Chromium. Where there is none the tests of the console are skipped, unless
// TEST_BROWSER=required.

import { existsSync } from 'node:fs';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** How long one step may take on a busy machine. */
const STEP_TIMEOUT_MS = 20_000;

/** The program of the browser; undefined where there is none. */
export function findBrowser(): string | undefined {
  const found = [process.env.TEST_BROWSER_PATH ?? '', ...PATHS].find(path => path !== '' && existsSync(path));
  if (found === undefined && process.env.TEST_BROWSER === 'required')
    throw new Error('TEST_BROWSER=required, but there is no Chromium: apt-get install chromium');
  return found;
}

/** Whether the tests of the console are left out. */
export const hasNoBrowser = findBrowser() === undefined;

export function launchBrowser(options: readonly string[] = []): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('There is no Chromium.');
  // Chromium's sandbox refuses to run as root.
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), ...options];
  return chromium.launch({ executablePath, args });
}

const KEY = "'ortler-api-key'";
const REPORT_BREACHES = `document.addEventListener('securitypolicyviolation', event =>
  console.error('CSP: ' + event.violatedDirective + ' ' + event.blockedURI))`;

export interface ConsolePage {
  readonly page: Page;
  /** Errors of scripts, messages of the console, and breaches of the content security policy so far. */
  readonly troubles: readonly string[];
  /** Requests to other hosts than the server so far. */
  readonly foreignRequests: readonly string[];
}

export interface OpenOptions {
  /** Absent: the form that asks for it is shown. */
  readonly apiKey?: string;
  /** After the #. */
  readonly path?: string;
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** Opens the console in a window of its own. */
export async function openConsole(
  browser: Browser,
  serverUrl: string,
  { apiKey, path = '/', colorScheme = 'light', viewport = { width: 1280, height: 800 } }: OpenOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ colorScheme, viewport, reducedMotion: 'reduce' });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const page = await context.newPage();
  const troubles: string[] = [];
  const foreignRequests: string[] = [];
  page.on('pageerror', error => troubles.push(`error: ${error.message}`));
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') troubles.push(message.text());
  });
  page.on('request', request => {
    if (!request.url().startsWith(new URL(serverUrl).origin)) foreignRequests.push(request.url());
  });
  await page.addInitScript(REPORT_BREACHES);
  if (apiKey !== undefined)
    await page.addInitScript(`sessionStorage.getItem(${KEY}) ?? sessionStorage.setItem(${KEY}, '${apiKey}')`);
  await page.goto(`${serverUrl}/#${path}`);
  return { page, troubles, foreignRequests };
}

/** A number that each of the elements has in an attribute. */
export function numbersOf(elements: Locator, attribute: string): Promise<readonly number[]> {
  return elements.evaluateAll(
    (all, name) => all.map(element => Number(element.getAttribute(name))),
    attribute,
  );
}
