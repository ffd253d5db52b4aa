// Settings of the Hub from the variables that Python's huggingface_hub reads, so that one environment serves both.

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { HubError } from './errors.ts';

/** What a caller may set; anything absent comes from the environment. */
export interface HubOptions {
  /** Address of the Hub. Default: HF_ENDPOINT, else https://huggingface.co. */
  readonly endpoint?: string | undefined;
  /** Folder of the cache. Default: HF_HUB_CACHE, else `hub` in HF_HOME, else ~/.cache/huggingface/hub. */
  readonly cacheDir?: string | undefined;
  /** Access token. Default: HF_TOKEN, else the file of HF_TOKEN_PATH, else `token` in HF_HOME. */
  readonly token?: string | undefined;
  /** Use the cache only. Default: HF_HUB_OFFLINE. */
  readonly offline?: boolean | undefined;
  /** The environment. Default: `process.env`. */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface HubSettings {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly cacheDir: string;
  readonly token: string | undefined;
  readonly isOffline: boolean;
  /** Whether snapshots may be symbolic links; without, they are hard links or copies. */
  readonly allowsSymlinks: boolean;
}

const DEFAULT_ENDPOINT = 'https://huggingface.co';

/** Throws: `reference_invalid` for an address, `access_denied` for a token that cannot be sent. */
export async function readHubSettings(options: HubOptions = {}): Promise<HubSettings> {
  const { variables = process.env } = options;
  const read = (name: string) => variables[name]?.trim() || undefined;
  const cacheHome = read('XDG_CACHE_HOME') ?? join(homedir(), '.cache');
  const home = expandHome(read('HF_HOME') ?? join(cacheHome, 'huggingface'));
  const cacheDir = options.cacheDir ?? read('HF_HUB_CACHE') ?? read('HUGGINGFACE_HUB_CACHE');
  const tokenPath = expandHome(read('HF_TOKEN_PATH') ?? join(home, 'token'));
  return {
    endpoint: checkEndpoint(options.endpoint ?? read('HF_ENDPOINT') ?? DEFAULT_ENDPOINT),
    cacheDir: resolve(expandHome(cacheDir ?? join(home, 'hub'))),
    token: checkToken(options.token ?? (await findToken(read, tokenPath))),
    isOffline: options.offline ?? (isTrue(read('HF_HUB_OFFLINE')) || isTrue(read('TRANSFORMERS_OFFLINE'))),
    allowsSymlinks: !isTrue(read('HF_HUB_DISABLE_SYMLINKS')),
  };
}

/** Whether a variable is on. Source: the words that huggingface_hub takes. */
export function isTrue(text: string | undefined): boolean {
  return /^(1|on|yes|true)$/i.test(text ?? '');
}

async function findToken(
  read: (name: string) => string | undefined,
  tokenPath: string,
): Promise<string | undefined> {
  if (isTrue(read('HF_HUB_DISABLE_IMPLICIT_TOKEN'))) return undefined;
  const token = read('HF_TOKEN') ?? read('HUGGING_FACE_HUB_TOKEN');
  if (token !== undefined) return token;
  // A file that is not there or not readable means that nobody has logged in.
  return readFile(tokenPath, 'utf8').then(
    text => text.trim() || undefined,
    () => undefined,
  );
}

function checkToken(token: string | undefined): string | undefined {
  const text = token?.trim();
  if (text === undefined || text === '') return undefined;
  // The value is left out of the message, because messages are logged.
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new HubError(
      'access_denied',
      'The token of the Hub (HF_TOKEN or its file) must be printable ASCII without spaces.',
    );
  return text;
}

function checkEndpoint(text: string): string {
  const endpoint = text.replace(/\/+$/, '');
  const { username = '', password = '' } = URL.parse(endpoint) ?? {};
  // The value is left out of the message, because messages are logged.
  if (username !== '' || password !== '')
    throw new HubError(
      'reference_invalid',
      'The address of the Hub (HF_ENDPOINT) must have no user name or password in it; a token is given by HF_TOKEN.',
    );
  if (/^https?:\/\//.test(endpoint) && URL.canParse(endpoint)) return endpoint;
  throw new HubError(
    'reference_invalid',
    `The address of the Hub (HF_ENDPOINT) must be a URL such as ${DEFAULT_ENDPOINT}; got "${text}".`,
  );
}

function expandHome(path: string): string {
  return path.replace(/^~(?=$|[/\\])/, () => homedir());
}
