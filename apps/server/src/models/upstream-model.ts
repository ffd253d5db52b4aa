// A model that other servers answer for: their client, and what their model lists say of it. The lists are read at the start
// and then now and then, so that health knows of servers that are gone before a request does.

import type { UpstreamModel } from '@ortler/api';
import { createUpstream, UpstreamError, type UpstreamOptions } from '@ortler/upstream';
import type { UpstreamServers } from '../config/model-list.ts';

export interface UpstreamModelOptions {
  readonly model: UpstreamServers;
  readonly apiKey: string | undefined;
  readonly timeouts: NonNullable<UpstreamOptions['timeouts']>;
  /** A server does not answer, or not as it should; called once until it answers again. */
  readonly onFault: (server: string, reason: string) => void;
}

export interface RunningUpstreamModel extends UpstreamModel {
  /** Reads the model lists for the first time. Never rejects. */
  start(): Promise<void>;
  close(): void;
}

/** Between two readings of a model list. Unit: milliseconds. */
const LIST_INTERVAL_MS = 10_000;
/** The same, of a server that is away, so that health knows soon when it is back: another one may be stopped right after. */
const RETURN_INTERVAL_MS = 1_000;
/** Longest wait for a model list. */
const LIST_TIMEOUT_MS = 5_000;

/** What the last reading of a server's list has shown. */
interface Listing {
  readonly isReachable: boolean;
  readonly contextLength: number | null;
}

export function createUpstreamModel(options: UpstreamModelOptions): RunningUpstreamModel {
  const { model, apiKey, timeouts, onFault } = options;
  const upstream = createUpstream({ urls: model.urls, apiKey, timeouts });
  const stopping = new AbortController();
  const listings: (Listing | undefined)[] = model.urls.map(() => undefined);
  const timers: (NodeJS.Timeout | undefined)[] = [];

  async function readList(server: number): Promise<void> {
    const last = listings[server];
    const url = model.urls[server]!;
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(LIST_TIMEOUT_MS)]);
      const entry = findEntry(await upstream.getJson(server, 'models', signal), model.name);
      const contextLength = entry?.max_model_len;
      listings[server] = {
        isReachable: true,
        contextLength: Number.isSafeInteger(contextLength) ? (contextLength as number) : null,
      };
      if (entry === undefined && last === undefined)
        onFault(url, `its model list does not have ${model.name}`);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const isReachable = isAnswer(error);
      listings[server] = { isReachable, contextLength: last?.contextLength ?? null };
      if (last === undefined || last.isReachable) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!isReachable || isRefusal(error)) onFault(url, reason);
      }
    }
  }

  async function watch(server: number): Promise<void> {
    await readList(server);
    if (stopping.signal.aborted) return;
    const intervalMs = listings[server]!.isReachable ? LIST_INTERVAL_MS : RETURN_INTERVAL_MS;
    timers[server] = setTimeout(() => void watch(server), intervalMs).unref();
  }

  return {
    name: model.name,
    postForJson: request => upstream.postForJson(request),
    postForEvents: request => upstream.postForEvents(request),
    withoutKey: text => upstream.withoutKey(text),
    get servers() {
      return upstream.servers;
    },
    get state() {
      if (listings.every(listing => listing === undefined)) return 'loading';
      const isReady = upstream.servers.some(
        ({ breaker }, server) => breaker !== 'open' && listings[server]?.isReachable === true,
      );
      return isReady ? 'ready' : 'restarting';
    },
    get contextLength() {
      const lengths = listings.map(listing => listing?.contextLength).filter(length => length != null);
      // A request may go to any of them.
      return lengths.length === 0 ? null : Math.min(...lengths);
    },
    async start() {
      await Promise.all(model.urls.map((_, server) => watch(server)));
    },
    close() {
      stopping.abort();
      for (const timer of timers) clearTimeout(timer);
      upstream.close();
    },
  };
}

/** The entry of a model in a model list; undefined where the document has none. */
function findEntry(list: unknown, name: string): { readonly max_model_len?: unknown } | undefined {
  const { data } = (list ?? {}) as { readonly data?: unknown };
  if (!Array.isArray(data)) return undefined;
  return data.find((entry: { readonly id?: unknown } | null) => entry?.id === name);
}

/** The server is there: it may have no model list, or want another key. */
function isAnswer(error: unknown): boolean {
  return error instanceof UpstreamError && error.status !== undefined && error.status < 500;
}

function isRefusal(error: unknown): boolean {
  return error instanceof UpstreamError && (error.status === 401 || error.status === 403);
}
