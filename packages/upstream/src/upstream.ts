// A pool of servers that answer for one model. Before the first byte of an answer a request may move to another server;
// after it never, because the caller has seen it.

import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { CircuitBreakerOptions } from './circuit-breaker.ts';
import { EventStream } from './event-stream.ts';
import { type Exchange, exchange, type Timeouts } from './exchange.ts';
import { readErrorReply, readJson } from './read-reply.ts';
import { type Lease, ServerPool, type ServerState } from './server-pool.ts';
import { UpstreamError } from './upstream-error.ts';

export interface UpstreamOptions {
  /** Base addresses, such as https://host/v1. */
  readonly urls: readonly string[];
  /** Sent as a bearer token. */
  readonly apiKey?: string | undefined;
  readonly timeouts?: Partial<Timeouts>;
  readonly breaker?: Partial<CircuitBreakerOptions>;
}

export interface UpstreamRequest {
  /** Below the base address, such as `chat/completions`. */
  readonly path: string;
  /** JSON. */
  readonly body: string;
  /** Sent beside those of the client. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Requests with the same key prefer the same server; see `prefixKey`. */
  readonly key: string | null;
  /** Ends the request on the server too. */
  readonly signal: AbortSignal;
}

export interface Upstream {
  /** Each server as it is now, in the order of their addresses. */
  readonly servers: readonly ServerState[];
  /** Time until some server may be asked; 0: one may be now. Unit: milliseconds. */
  readonly remainingMs: number;
  /**
   * The value of a JSON document of one server, by its place. It neither waits for the circuit breaker nor counts for it.
   * Throws: as `postForJson`.
   */
  getJson(server: number, path: string, signal: AbortSignal): Promise<unknown>;
  /** The value of a JSON answer. Throws: `UpstreamError`, or the reason of the signal. */
  postForJson(request: UpstreamRequest): Promise<unknown>;
  /**
   * The data of each event, once the first has come. To be read to its end or left, which ends the request.
   * Throws: as `postForJson`; while it is read, `silent`, `broken` and `invalid_reply`.
   */
  postForEvents(request: UpstreamRequest): Promise<AsyncIterableIterator<string, void>>;
  /** A server's words about an error within an answer, without the key, which some servers repeat. */
  withoutKey(text: string): string;
  /** Closes idle connections. */
  close(): void;
}

const TIMEOUTS: Timeouts = { connectMs: 5_000, firstByteMs: 300_000, silenceMs: 120_000 };
const BREAKER: CircuitBreakerOptions = {
  failureLimit: 5,
  pauseMs: 1_000,
  maxPauseMs: 30_000,
  now: () => performance.now(),
};
/** A server alone is asked once more: a kept connection may have ended just then. */
const MIN_ATTEMPTS = 2;
/** The server did not work on the request. */
const MOVED_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface SentBody {
  readonly body: string | null;
}

/** Reads an answer until the caller may have it. Takes the lease where it gives something that goes on. */
type Open<Result> = (reply: Exchange, lease: Lease) => Promise<Result>;

export function createUpstream({ urls, apiKey, timeouts, breaker }: UpstreamOptions): Upstream {
  const bases = urls.map(url => new URL(url.endsWith('/') ? url : `${url}/`));
  const pool = new ServerPool(bases, { ...BREAKER, ...breaker });
  const limits = { ...TIMEOUTS, ...timeouts };
  const agents = { http: new Agent({ keepAlive: true }), https: new TlsAgent({ keepAlive: true }) };
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const withoutKey = (text: string) => (apiKey === undefined ? text : text.replaceAll(apiKey, '***'));

  /** One request to one server. Throws: an answer whose status is not 200. */
  async function send(
    server: URL,
    { path, body, signal, headers }: Pick<UpstreamRequest, 'path' | 'signal' | 'headers'> & SentBody,
    accept: string,
  ): Promise<Exchange> {
    const url = new URL(path, server);
    const reply = await exchange({
      url,
      headers: {
        ...headers,
        ...authorization,
        accept,
        ...(body !== null && { 'content-type': 'application/json' }),
      },
      body,
      agent: url.protocol === 'https:' ? agents.https : agents.http,
      timeouts: limits,
      signal,
    });
    if (reply.status !== 200) throw await readErrorReply(url.host, reply, withoutKey);
    return reply;
  }

  /** Asks one server. The lease has ended where this throws. */
  async function ask<Result>(
    lease: Lease,
    request: UpstreamRequest,
    accept: string,
    open: Open<Result>,
  ): Promise<Result> {
    const { signal } = request;
    try {
      return await open(await send(lease.url, request, accept), lease);
    } catch (error) {
      lease.end(outcomeOf(error, signal));
      throw error;
    }
  }

  /** Throws: the failure of the last server that was asked, or `unavailable`. */
  async function askUntilAnswered<Result>(
    request: UpstreamRequest,
    accept: string,
    open: Open<Result>,
  ): Promise<Result> {
    const tried = new Set<string>();
    let failure: unknown;
    for (let attempt = 0; attempt < Math.max(MIN_ATTEMPTS, pool.size); attempt++) {
      const lease = pool.take(request.key, tried);
      if (lease === undefined) break;
      // Only a lost connection is tried again on the same server; a busy or slow one would only get more to do.
      if (tried.has(lease.url.href) && !isLostConnection(failure)) {
        lease.end('left');
        break;
      }
      tried.add(lease.url.href);
      try {
        return await ask(lease, request, accept, open);
      } catch (error) {
        if (request.signal.aborted || !mayMove(error)) throw error;
        failure = error;
      }
    }
    throw (
      failure ??
      new UpstreamError('unavailable', 'No server of this model can be asked now.', {
        retryAfterMs: pool.remainingMs,
      })
    );
  }

  return {
    get servers() {
      return pool.servers;
    },
    get remainingMs() {
      return pool.remainingMs;
    },
    async getJson(server, path, signal) {
      const url = bases[server]!;
      const reply = await send(url, { path, body: null, signal }, 'application/json');
      return readJson(url.host, reply);
    },
    postForJson: request =>
      askUntilAnswered(request, 'application/json', async (reply, lease) => {
        const value = await readJson(lease.url.host, reply);
        lease.end('succeeded');
        return value;
      }),
    postForEvents: request =>
      askUntilAnswered(request, 'text/event-stream', async (reply, lease) => {
        const type = reply.headers['content-type'] ?? 'no type';
        if (!type.startsWith('text/event-stream')) {
          reply.body.leave();
          throw new UpstreamError('invalid_reply', `${lease.url.host} answered a stream with ${type}.`);
        }
        const { body } = reply;
        const stream = await EventStream.start({
          body,
          lease,
          outcomeOf: error => outcomeOf(error, request.signal),
        });
        lease.answer();
        return stream;
      }),
    withoutKey,
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** A status below 500 but 429 says that the server is well. */
function outcomeOf(error: unknown, signal: AbortSignal): Parameters<Lease['end']>[0] {
  if (signal.aborted || !(error instanceof UpstreamError)) return 'left';
  if (error.code === 'rejected' || error.code === 'rate_limited') return 'succeeded';
  return mayMove(error) ? 'moved' : 'failed';
}

function isLostConnection(error: unknown): boolean {
  return error instanceof UpstreamError && error.code === 'broken';
}

function mayMove(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  if (error.status !== undefined) return MOVED_STATUSES.has(error.status);
  return ['unreachable', 'slow', 'silent', 'broken'].includes(error.code);
}
