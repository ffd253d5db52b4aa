// One completion of a text: its run, and going on from another candidate in the answer or in the prompt.

import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTRPCClient } from '../connection/api-client.ts';
import { type Answer, AnswerReader, type Candidate, EMPTY_ANSWER } from './answer-reader.ts';
import { beginningOf, findCandidateId, promptOf } from './continue-from.ts';
import { readPromptTokens } from './prompt-tokens.ts';
import { toCompletionRequest } from './requests.ts';
import { runAnswer } from './run-answer.ts';
import type { Settings } from './saved-playground.ts';

export function useCompletion(settings: Settings) {
  const client = useTRPCClient();
  const [prompt, setPrompt] = useState('');
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [isRunning, setIsRunning] = useState(false);
  const run = useRef<AbortController | null>(null);
  useEffect(() => () => run.current?.abort(), []);
  const promptTokens = useMutation({ mutationFn: () => readPromptTokens(client, settings, prompt) });

  const start = async (
    open: (
      reader: AnswerReader,
      signal: AbortSignal,
    ) => Promise<Awaited<ReturnType<typeof client.completions.stream.mutate>>>,
  ) => {
    const controller = new AbortController();
    const reader = new AnswerReader(performance.now());
    run.current = controller;
    setIsRunning(true);
    setAnswer(EMPTY_ANSWER);
    await runAnswer({
      open: signal => open(reader, signal),
      read: (chunk, nowMs) => reader.readCompletion(chunk, nowMs),
      reader,
      signal: controller.signal,
      onAnswer: setAnswer,
    });
    setIsRunning(false);
  };

  return {
    prompt,
    setPrompt,
    answer,
    isRunning,
    stop: () => run.current?.abort(),
    /** Tokens of the prompt as it is now; undefined before they were asked for. */
    shownPrompt: promptTokens.data?.prompt === prompt ? promptTokens.data : undefined,
    promptTokens,
    complete: () =>
      start((_, signal) =>
        client.completions.stream.mutate(toCompletionRequest(settings, prompt), { signal }),
      ),

    /** Goes on from another candidate of the answer. */
    continueAnswer: (from: Answer, index: number, candidate: Candidate) =>
      start(async (reader, signal) => {
        const fork = { answer: from, index, candidate };
        const beginning = beginningOf(fork, await findCandidateId(client, from.model, fork, signal));
        reader.begin(beginning);
        const request = toCompletionRequest({ ...settings, model: from.model }, promptOf(beginning));
        return client.completions.stream.mutate(request, { signal });
      }),

    /** Cuts the prompt, takes another candidate there, and continues that. */
    continuePrompt: (index: number, candidate: Candidate) => {
      const tokens = promptTokens.data?.tokens ?? [];
      const kept = tokens.slice(0, index);
      setPrompt([...kept, candidate].map(({ text }) => text).join(''));
      const ids = [...kept.map(({ id }) => id), candidate.id].filter(id => id != null);
      return start((_, signal) =>
        client.completions.stream.mutate(toCompletionRequest(settings, ids), { signal }),
      );
    },
  };
}
