// One request to one server: a connection within a time limit, a first byte within another, and no longer silence than a third
// while the answer is read. The answer is read as fast as its reader takes it.

import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
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
  /** To be read once, to its end or left. Throws: `UpstreamError` `silent`, `broken`, or the reason of the signal. */
  readonly body: AsyncIterable<Buffer>;
  /** Ends the connection, where the body is not read. */
  leave(): void;
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
  const fail = (error: unknown) => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    outgoing.destroy();
    reject(error);
  };
  const onAbort = () => fail(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const tooSlow = (code: 'unreachable' | 'slow', what: string, limitMs: number) =>
    fail(new UpstreamError(code, `${url.host} gave no ${what} within ${limitMs} ms.`));
  let timer = setTimeout(() => tooSlow('unreachable', 'connection', timeouts.connectMs), timeouts.connectMs);
  const onConnected = () => {
    isConnected = true;
    clearTimeout(timer);
    timer = setTimeout(() => tooSlow('slow', 'answer', timeouts.firstByteMs), timeouts.firstByteMs);
  };
  outgoing.on('socket', socket => {
    if (!socket.connecting) onConnected();
    else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnected);
  });
  outgoing.on('error', error => {
    const [code, text] = isConnected
      ? (['broken', 'ended the connection before it answered'] as const)
      : (['unreachable', 'cannot be reached'] as const);
    fail(new UpstreamError(code, `${url.host} ${text}.`, { cause: error }));
  });
  outgoing.on('response', incoming => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    resolve({
      status: incoming.statusCode!,
      headers: incoming.headers,
      body: readBody(incoming, { host: url.host, silenceMs: timeouts.silenceMs, signal }),
      leave: () => incoming.destroy(),
    });
  });
  outgoing.end(body ?? undefined);
  return promise;
}

async function* readBody(
  incoming: IncomingMessage,
  {
    host,
    silenceMs,
    signal,
  }: { readonly host: string; readonly silenceMs: number; readonly signal: AbortSignal },
): AsyncGenerator<Buffer, void, undefined> {
  const chunks = incoming[Symbol.asyncIterator]() as AsyncIterator<Buffer, void>;
  const onAbort = () => incoming.destroy(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    for (;;) {
      const timer = setTimeout(
        () => incoming.destroy(new UpstreamError('silent', `${host} sent nothing for ${silenceMs} ms.`)),
        silenceMs,
      );
      const step = await chunks.next().finally(() => clearTimeout(timer));
      if (step.done === true) return;
      yield step.value;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof UpstreamError) throw error;
    throw new UpstreamError('broken', `${host} ended the connection within its answer.`, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
    // A reader that left before the end ends the generation of the server with the connection; else the connection is kept.
    if (incoming.complete) incoming.resume();
    else incoming.destroy();
  }
}
