import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { echoRequest, RecordingListener } from '../../test/core-link-conformance.ts';
import type { CoreFacts, ToCoreMessage } from '../protocol/messages.ts';
import { SCRIPTED_CORE_OPTIONS } from '../testing/scripted-core.ts';
import type { CoreChannelEvents } from './core-channel.ts';
import { SupervisedLink } from './supervised-link.ts';

const FACTS: CoreFacts = {
  backend: 'node',
  runner: 'scripted',
  device: 'cpu',
  vocabSize: 64,
  contextLength: 256,
  maxSequences: 4,
  onnxRuntimeVersion: 'none',
  weightBytes: 0,
  cacheBytes: 0,
  cacheBlockLength: 16,
  cacheBlockCount: 4,
};
const POLICY = { firstDelayMs: 100, longestDelayMs: 400, healthyMs: 10_000 };

interface PlayedChannel {
  readonly events: CoreChannelEvents;
  readonly sent: ToCoreMessage[];
  isEnded: boolean;
  /** Grace period that it got to end by itself. Unit: milliseconds. */
  graceMs?: number;
  /** Resolves when it ends. */
  ends: Promise<void>;
}

/** A link whose channels the test plays by hand. */
function createLink(stepTimeoutMs = 0) {
  const channels: PlayedChannel[] = [];
  const refusals = { count: 0 };
  const link = new SupervisedLink(
    SCRIPTED_CORE_OPTIONS,
    events => {
      if (refusals.count > 0) {
        refusals.count--;
        throw new Error('no room for another process');
      }
      const channel: PlayedChannel = { events, sent: [], isEnded: false, ends: Promise.resolve() };
      channels.push(channel);
      return {
        send: message => channel.sent.push(message),
        end: async graceMs => {
          channel.isEnded = true;
          channel.graceMs = graceMs;
          await channel.ends;
        },
      };
    },
    { policy: POLICY, stepTimeoutMs },
  );
  const listener = new RecordingListener();
  const started = link.start(listener);
  const last = () => channels.at(-1)!;
  return {
    link,
    listener,
    channels,
    refusals,
    started,
    becomeReady: () => last().events.onMessage({ kind: 'ready', facts: FACTS }),
    crash: () => last().events.onExit('process ended with SIGSEGV'),
    last,
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a crashing token side', () => {
  test('is started again after waits that double up to a bound', () => {
    const { channels, becomeReady, crash, link } = createLink();
    becomeReady();
    for (const [count, waitMs] of [100, 200, 400, 400, 400].entries()) {
      crash();
      expect(link.state).toBe('restarting');
      vi.advanceTimersByTime(waitMs - 1);
      expect(channels.length).toBe(count + 1);
      vi.advanceTimersByTime(1);
      expect(channels.length).toBe(count + 2);
      becomeReady();
      expect(link.state).toBe('ready');
    }
  });

  test('is started again only when the one that gave up has ended: both may not fit into memory', async () => {
    const { channels, becomeReady, last, link } = createLink();
    becomeReady();
    const ended = Promise.withResolvers<void>();
    last().ends = ended.promise;
    last().events.onMessage({ kind: 'fatal', code: 'engine_failed', message: 'The device is lost.' });
    await vi.advanceTimersByTimeAsync(4_000);
    expect(channels.length).toBe(1);
    expect(link.state).toBe('restarting');
    ended.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(channels.length).toBe(2);
    becomeReady();
    expect(link.state).toBe('ready');
  });

  test('waits for the one that gave up when it is closed, and starts none', async () => {
    const { channels, becomeReady, last, link } = createLink();
    becomeReady();
    const ended = Promise.withResolvers<void>();
    last().ends = ended.promise;
    last().events.onMessage({ kind: 'fatal', code: 'engine_failed', message: 'The device is lost.' });
    await vi.advanceTimersByTimeAsync(4_000);
    let isClosed = false;
    const closing = link.close().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isClosed).toBe(false);
    ended.resolve();
    await closing;
    expect(channels.length).toBe(1);
  });

  test('waits longer still when it crashes while it loads again', () => {
    const { channels, becomeReady, crash } = createLink();
    becomeReady();
    crash();
    vi.advanceTimersByTime(100);
    crash();
    vi.advanceTimersByTime(199);
    expect(channels.length).toBe(2);
    vi.advanceTimersByTime(1);
    expect(channels.length).toBe(3);
  });

  test('starts over with the first wait after a healthy time', () => {
    const { channels, becomeReady, crash } = createLink();
    becomeReady();
    crash();
    vi.advanceTimersByTime(100);
    becomeReady();
    vi.advanceTimersByTime(POLICY.healthyMs);
    crash();
    vi.advanceTimersByTime(100);
    expect(channels.length).toBe(3);
  });

  test('gives callers the delay until the next try', () => {
    const { becomeReady, crash, link } = createLink();
    becomeReady();
    crash();
    vi.advanceTimersByTime(100);
    becomeReady();
    crash();
    expect(() => link.submit(echoRequest(1, [11]))).toThrow(
      expect.objectContaining({ code: 'model_unavailable', retryAfterMs: 200 }),
    );
  });

  test('is given up when its folder has become unusable', () => {
    const { channels, becomeReady, crash, link, last, listener } = createLink();
    becomeReady();
    crash();
    vi.advanceTimersByTime(100);
    last().events.onMessage({ kind: 'fatal', code: 'model_invalid', message: 'The graph is gone.' });
    expect(link.state).toBe('failed');
    expect(listener.downErrors.at(-1)).toMatchObject({
      code: 'model_invalid',
      message: 'The graph is gone.',
    });
    vi.advanceTimersByTime(100_000);
    expect(channels.length).toBe(2);
  });

  test('is ignored once it was replaced', () => {
    const { channels, becomeReady, crash, listener, link } = createLink();
    becomeReady();
    crash();
    vi.advanceTimersByTime(100);
    becomeReady();
    channels[0]!.events.onExit('process ended late');
    channels[0]!.events.onMessage({ kind: 'fatal', code: 'engine_failed', message: 'late' });
    expect(link.state).toBe('ready');
    expect(listener.downErrors.length).toBe(1);
  });

  test('is tried again when it cannot even be opened', () => {
    const { link, listener, channels, refusals, becomeReady, crash } = createLink();
    becomeReady();
    refusals.count = 2;
    crash();
    vi.advanceTimersByTime(100 + 200);
    expect(refusals.count).toBe(0);
    expect(link.state).toBe('restarting');
    expect(listener.downErrors.at(-1)?.message).toContain('no room for another process');
    vi.advanceTimersByTime(400);
    becomeReady();
    expect(link.state).toBe('ready');
    expect(channels.length).toBe(2);
  });

  test('is not started again after close', async () => {
    const { channels, becomeReady, crash, link } = createLink();
    becomeReady();
    crash();
    await link.close();
    vi.advanceTimersByTime(100_000);
    expect(channels.length).toBe(1);
  });
});

describe('a token side that hangs in a step', () => {
  const TIMEOUT_MS = 1_000;
  const create = () => {
    const played = createLink(TIMEOUT_MS);
    const pings = () => played.last().sent.filter(({ kind }) => kind === 'ping').length;
    const answer = (hasWork: boolean) => played.last().events.onMessage({ kind: 'pong', hasWork });
    return { ...played, pings, answer };
  };

  test('is ended by force when it was silent for the whole time, and started again', async () => {
    const { link, listener, becomeReady, channels, last, pings } = create();
    becomeReady();
    link.submit(echoRequest(1, [11]));
    expect(pings()).toBe(1);
    vi.advanceTimersByTime(TIMEOUT_MS - 1);
    expect(link.state).toBe('ready');
    vi.advanceTimersByTime(1);
    expect(link.state).toBe('restarting');
    expect(last()).toMatchObject({ isEnded: true, graceMs: 0 });
    expect(listener.downErrors).toEqual([
      expect.objectContaining({
        code: 'engine_failed',
        message: "The model's process was ended: a step took longer than 1 s.",
      }),
    ]);
    await vi.advanceTimersByTimeAsync(POLICY.firstDelayMs);
    expect(channels.length).toBe(2);
    becomeReady();
    await vi.advanceTimersByTimeAsync(10 * TIMEOUT_MS);
    expect(link.state).toBe('ready');
  });

  test('is found also after steps that ended', () => {
    const { link, becomeReady, answer, pings } = create();
    becomeReady();
    link.submit(echoRequest(1, [11]));
    for (let count = 1; count <= 20; count++) {
      expect(pings()).toBe(count);
      answer(true);
      vi.advanceTimersByTime(TIMEOUT_MS / 4);
    }
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(link.state).toBe('restarting');
  });

  test('is not one that has nothing to do: it is not even asked', () => {
    const { link, becomeReady, answer, pings } = create();
    becomeReady();
    vi.advanceTimersByTime(10 * TIMEOUT_MS);
    expect(pings()).toBe(0);
    link.submit(echoRequest(1, [11]));
    answer(false);
    vi.advanceTimersByTime(10 * TIMEOUT_MS);
    expect(pings()).toBe(1);
    expect(link.state).toBe('ready');
  });

  test('is asked again about what was sent after the question', () => {
    const { link, becomeReady, answer, pings } = create();
    becomeReady();
    link.submit(echoRequest(1, [11]));
    link.submit(echoRequest(2, [12]));
    answer(false);
    vi.advanceTimersByTime(TIMEOUT_MS / 4);
    expect(pings()).toBe(2);
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(link.state).toBe('restarting');
  });

  test('is not one that loads, however long that takes', () => {
    const { link, becomeReady, crash, channels } = create();
    vi.advanceTimersByTime(10 * TIMEOUT_MS);
    becomeReady();
    link.submit(echoRequest(1, [11]));
    crash();
    vi.advanceTimersByTime(10 * TIMEOUT_MS);
    expect(link.state).toBe('restarting');
    expect(channels.length).toBe(2);
    expect(channels[1]!.isEnded).toBe(false);
  });

  test('is not one that is being closed', async () => {
    const { link, becomeReady, listener } = create();
    becomeReady();
    link.submit(echoRequest(1, [11]));
    await link.close();
    vi.advanceTimersByTime(10 * TIMEOUT_MS);
    expect(listener.downErrors).toEqual([expect.objectContaining({ code: 'engine_closed' })]);
  });
});

test('every close resolves only when the token side has ended', async () => {
  let end = (): void => undefined;
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  const link = new SupervisedLink(SCRIPTED_CORE_OPTIONS, () => ({ send: () => undefined, end: () => ended }));
  const started = expect(link.start(new RecordingListener())).rejects.toMatchObject({
    code: 'engine_closed',
  });
  let closedCount = 0;
  const closes = [link.close(), link.close()].map(closing => closing.then(() => closedCount++));
  await started;
  expect(closedCount).toBe(0);
  end();
  await Promise.all(closes);
  expect(closedCount).toBe(2);
});

test('a close while the model loads ends the start with `engine_closed`', async () => {
  const { link, started, last } = createLink();
  const failure = expect(started).rejects.toMatchObject({ code: 'engine_closed' });
  await link.close();
  await failure;
  expect(last().isEnded).toBe(true);
});
