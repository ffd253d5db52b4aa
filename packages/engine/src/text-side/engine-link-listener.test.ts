import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { EngineError } from '../errors.ts';
import { IDLE_STATS } from '../protocol/core-stats.ts';
import { EngineLinkListener } from './engine-link-listener.ts';
import type { OpenRequest } from './open-requests.ts';

const thrown: unknown[] = [];
beforeEach(() => {
  thrown.length = 0;
  // What a microtask throws is an uncaught exception.
  vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(task => {
    try {
      task();
    } catch (error) {
      thrown.push(error);
    }
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const fault = new Error('The host has a fault.');
const fail = (): never => {
  throw fault;
};

function openRequest() {
  const heard: unknown[] = [];
  const request: OpenRequest = {
    isOver: false,
    start: prefilled => heard.push(prefilled),
    update: update => heard.push(update),
    fail: error => heard.push(error),
  };
  return { request, heard };
}

describe('a callback of the host that throws', () => {
  test('leaves no request open when the model stops', () => {
    const listener = new EngineLinkListener({ onFailed: fail });
    const { request, heard } = openRequest();
    listener.requests.set(1, request);
    const error = new EngineError('engine_failed', 'The process ended.');
    listener.onDown(error);
    expect(heard).toEqual([error]);
    expect(listener.requests.size).toBe(0);
    expect(thrown).toEqual([fault]);
  });

  test('takes no event from a request', () => {
    const listener = new EngineLinkListener({ onCacheEvents: fail, onWarmUp: fail });
    const { request, heard } = openRequest();
    listener.requests.set(1, request);
    listener.onWarmUp({ doneCount: 1, totalCount: 2 });
    const prefilled = { requestId: 1, cachedTokenCount: 0, timing: { queuedMs: 0, prefillMs: 0 } };
    const update = { requestId: 1, choiceIndex: 0, tokenIds: [5] };
    const cacheEvents = [{ kind: 'removed', blockHashes: [1] } as const];
    const stats = IDLE_STATS;
    listener.onMessage({ kind: 'step', updates: [update], prefilled: [prefilled], stats, cacheEvents });
    expect(heard).toEqual([prefilled, update]);
    expect(thrown).toEqual([fault, fault]);
  });
});
