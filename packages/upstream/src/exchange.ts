// One request to one server: a connection within a time limit, a first byte within another, and no longer silence than a third
// while the answer is read. The answer is read as fast as its reader takes it.

import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { ReplyBody } from './reply-body.ts';
import { UpstreamError } from './upstream-error.ts';

/** Unit: milliseconds. */
export interface Timeouts {
  readonly connectMs: number;
  /** From the connection to the headers of the answer. */
  readonly firstByteMs: number;
  /** Longest time without a byte while the answer is waited for. Time in which nobody reads does not count. */
  readonly silenceMs: number;
}

export interface ExchangeRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with POST; null: a GET. */
  readonly body: string | null;
  readonly agent: Agent;
  readonly timeouts: Timeouts;
  readonly signal: AbortSignal;
}

export interface Exchange {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** To be read to its end or left. */
  readonly body: ReplyBody;
}

/** Resolves with the headers of the answer. Throws: `UpstreamError` `unreachable`, `slow`, `broken`; the reason of the signal. */
export function exchange({
  url,
  headers,
  body,
  agent,
  timeouts,
  signal,
}: ExchangeRequest): Promise<Exchange> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const outgoing = send(url, {
    method: body === null ? 'GET' : 'POST',
    agent,
    headers: body === null ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
  });
  let isConnected = false;
  let timer: NodeJS.Timeout | undefined;
  const endLimit = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const fail = (error: unknown) => {
    endLimit();
    signal.removeEventListener('abort', onAbort);
    outgoing.destroy();
    reject(error);
  };
  const onAbort = () => fail(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const limit = (code: 'unreachable' | 'slow', what: string, limitMs: number) => {
    endLimit();
    const started = setTimeout(() => {
      // After a long turn of the event loop timers come first, so what has arrived meanwhile is read before it is called late.
      setImmediate(() => {
        if (timer !== started) return;
        fail(new UpstreamError(code, `${url.host} gave no ${what} within ${limitMs} ms.`));
      });
    }, limitMs);
    timer = started;
  };
  const onConnected = () => {
    isConnected = true;
    limit('slow', 'answer', timeouts.firstByteMs);
  };
  outgoing.on('socket', socket => {
    if (!socket.connecting) {
      onConnected();
      return;
    }
    limit('unreachable', 'connection', timeouts.connectMs);
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnected);
  });
  outgoing.on('error', error => {
    const [code, text] = isConnected
      ? (['broken', 'ended the connection before it answered'] as const)
      : (['unreachable', 'cannot be reached'] as const);
    fail(new UpstreamError(code, `${url.host} ${text}.`, { cause: error }));
  });
  outgoing.on('response', incoming => {
    endLimit();
    signal.removeEventListener('abort', onAbort);
    resolve({
      status: incoming.statusCode!,
      headers: incoming.headers,
      body: new ReplyBody(incoming, { host: url.host, silenceMs: timeouts.silenceMs, signal }),
    });
  });
  outgoing.end(body ?? undefined);
  return promise;
}
