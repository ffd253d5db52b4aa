// One message to two sides at once, with the same seed.

import { useEffect, useRef, useState } from 'react';
import { useTRPCClient } from '../connection/api-client.ts';
import { type Answer, EMPTY_ANSWER } from './answer-reader.ts';
import type { Turn } from './conversation.ts';
import { toChatRequest } from './requests.ts';
import { createReaders, runAnswers } from './run-answer.ts';
import type { Settings } from './saved-playground.ts';

export type Side = 'A' | 'B';
export const SIDES: readonly Side[] = ['A', 'B'];

export type Comparison = Readonly<Record<Side, Answer>>;

/** Seeds that are drawn here have at most this many values, to be read and typed by people. */
const SEED_COUNT = 1_000_000;

/** The seed of both sides: that of side A, or a new one where it names none. */
export function seedOf(settings: Settings, draw: () => number): string {
  const seed = settings.parameters.seed?.trim() ?? '';
  return seed === '' ? String(Math.floor(draw() * SEED_COUNT)) : seed;
}

export function useComparison(settings: Readonly<Record<Side, Settings>>) {
  const client = useTRPCClient();
  const [answers, setAnswers] = useState<Comparison | null>(null);
  const [seed, setSeed] = useState<string | null>(null);
  const [isRunning, setIsRunning] = useState(false);
  const run = useRef<AbortController | null>(null);
  useEffect(() => () => run.current?.abort(), []);

  const compare = async (text: string) => {
    const controller = new AbortController();
    const common = seedOf(settings.A, Math.random);
    const turn: Turn = { id: 'message', parentId: null, role: 'user', content: text };
    run.current = controller;
    setSeed(common);
    setAnswers({ A: EMPTY_ANSWER, B: EMPTY_ANSWER });
    setIsRunning(true);
    await Promise.all(
      SIDES.map(side => {
        const own = settings[side];
        const request = toChatRequest({ ...own, parameters: { ...own.parameters, seed: common } }, [turn]);
        return runAnswers({
          open: signal => client.chat.stream.mutate(request, { signal }),
          read: (reader, chunk, nowMs) => reader.readChat(chunk, nowMs),
          readers: createReaders(1),
          signal: controller.signal,
          onAnswers: ([answer]) => setAnswers(current => current && { ...current, [side]: answer }),
        });
      }),
    );
    setIsRunning(false);
  };

  return { answers, seed, isRunning, compare, stop: () => run.current?.abort() };
}
