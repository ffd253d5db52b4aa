// Requests to one Hub. It follows redirects itself, because the token must not leave the Hub: files are served by hosts of
// content networks, with addresses that are signed and need no token.

import { HubError } from '../errors.ts';
import type { HubSettings } from '../hub-settings.ts';
import type { Tuning } from '../tuning.ts';
import { type RefusedRequest, toRefusal } from './refusals.ts';
import { SilenceTimer } from './silence-timer.ts';
import { TransportFailure } from './transport-failure.ts';

export interface HubRequest extends Pick<RefusedRequest, 'subject' | 'isFile' | 'repository' | 'revision'> {
  /** Below the address of the Hub, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HubReply {
  readonly status: number;
  readonly headers: Headers;
  /** Headers of the Hub's own reply, before a redirect to another host. */
  readonly hubHeaders: Headers;
  /** Throws: `TransportFailure` where the connection ends early or is silent. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Source: the limit of huggingface_hub is 10 as well. */
const MAX_REDIRECTS = 10;

export class HubClient {
  readonly #settings: Pick<HubSettings, 'endpoint' | 'token'>;
  readonly #tuning: Tuning;

  constructor(settings: Pick<HubSettings, 'endpoint' | 'token'>, tuning: Tuning) {
    this.#settings = settings;
    this.#tuning = tuning;
  }

  /**
   * Calls `read` with the reply of a GET. The connection is closed when `read` returns, read to its end or not.
   * Throws: `TransportFailure`, `HubError`, the reason of `signal`.
   */
  async get<T>(
    request: HubRequest,
    signal: AbortSignal | undefined,
    read: (reply: HubReply) => Promise<T>,
  ): Promise<T> {
    const silence = new SilenceTimer(this.#tuning.silenceMs);
    const ended = new AbortController();
    const signals = [silence.signal, ended.signal, ...(signal === undefined ? [] : [signal])];
    try {
      const { response, hubHeaders } = await this.#follow(request, AbortSignal.any(signals));
      silence.restart();
      return await read({
        status: response.status,
        headers: response.headers,
        hubHeaders,
        body: readBody(response, silence),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw toFailure(error, new URL(this.#settings.endpoint).host);
    } finally {
      silence.stop();
      ended.abort();
    }
  }

  async #follow(
    request: HubRequest,
    signal: AbortSignal,
  ): Promise<{ readonly response: Response; readonly hubHeaders: Headers }> {
    const { endpoint, token } = this.#settings;
    const hub = new URL(endpoint);
    let url = new URL(`${endpoint}${request.path}`);
    let hubHeaders: Headers | undefined;
    for (let count = 0; count <= MAX_REDIRECTS; count++) {
      const isHub = url.origin === hub.origin;
      const response = await fetch(url, {
        redirect: 'manual',
        signal,
        headers: {
          // Sizes and ranges are those of the file, not of a compressed copy.
          'accept-encoding': 'identity',
          'user-agent': 'ortler',
          ...request.headers,
          ...(isHub && token !== undefined ? { authorization: `Bearer ${token}` } : {}),
        },
      });
      if (isHub) hubHeaders = response.headers;
      const location = response.headers.get('location');
      if (response.status >= 300 && response.status < 400 && location !== null) {
        await response.body?.cancel();
        url = this.#redirected(location, url);
        continue;
      }
      if (response.status < 400) return { response, hubHeaders: hubHeaders! };
      await response.body?.cancel();
      // An address that was signed for a time has expired, or its host is in trouble: the Hub gives another.
      if (!isHub && response.status < 500 && response.status !== 429)
        throw new TransportFailure('busy', `${url.host} answered ${response.status} for ${request.subject}.`);
      throw toRefusal(response, { ...request, endpoint, hasToken: token !== undefined });
    }
    throw new HubError(
      'reply_invalid',
      `${endpoint} redirects ${request.subject} more than ${MAX_REDIRECTS} times.`,
    );
  }

  #redirected(location: string, from: URL): URL {
    const { endpoint } = this.#settings;
    if (!URL.canParse(location, from.href))
      throw new HubError('reply_invalid', `${endpoint} redirects to an address that cannot be read.`);
    const target = new URL(location, from);
    const isAllowed =
      target.protocol === 'https:' || (target.protocol === 'http:' && from.protocol === 'http:');
    if (isAllowed && target.username === '' && target.password === '') return target;
    const fault = isAllowed
      ? `an address of ${target.host} with a user name or password`
      : `${target.protocol}//${target.host}`;
    throw new HubError(
      'reply_invalid',
      `${endpoint} redirects from ${from.protocol}//${from.host} to ${fault}, which is not followed.`,
    );
  }
}

async function* readBody(response: Response, silence: SilenceTimer): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  for await (const bytes of response.body) {
    silence.restart();
    yield bytes;
    // The time that the reader took is not silence of the connection.
    silence.restart();
  }
}

/** `fetch` fails with a TypeError for everything below HTTP; its cause has the reason. */
function toFailure(error: unknown, host: string): unknown {
  if (error instanceof TransportFailure || error instanceof HubError) return error;
  if (!(error instanceof TypeError) && !(error instanceof DOMException)) return error;
  const cause = error instanceof TypeError ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  const reason = cause?.code ?? cause?.message ?? error.message;
  return new TransportFailure('connection', `The connection to ${host} failed (${reason}).`, {
    cause: error,
  });
}
