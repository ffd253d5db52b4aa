// Completions of a text: their run, and going on from another candidate in an answer or in the prompt.

import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTRPCClient } from '../connection/api-client.ts';
import { type Answer, type AnswerReader, type Candidate, EMPTY_ANSWER } from './answer-reader.ts';
import { beginningOf, findCandidateId, promptOf } from './continue-from.ts';
import { choiceCountOf } from './parameters.ts';
import { readPromptTokens } from './prompt-tokens.ts';
import { ONE_CONTINUATION, toCompletionRequest } from './requests.ts';
import { createReaders, runAnswers } from './run-answer.ts';
import type { Settings } from './saved-playground.ts';
import { useDraft } from './use-draft.ts';

export function useCompletion(settings: Settings) {
  const client = useTRPCClient();
  const [prompt, setPrompt] = useDraft('prompt');
  const [answers, setAnswers] = useState<readonly Answer[]>([]);
  const [isRunning, setIsRunning] = useState(false);
  const run = useRef<AbortController | null>(null);
  useEffect(() => () => run.current?.abort(), []);
  const promptTokens = useMutation({ mutationFn: () => readPromptTokens(client, settings, prompt) });

  const start = async (
    count: number,
    open: (
      readers: readonly AnswerReader[],
      signal: AbortSignal,
    ) => Promise<Awaited<ReturnType<typeof client.completions.stream.mutate>>>,
  ) => {
    const controller = new AbortController();
    const readers = createReaders(count);
    run.current = controller;
    setIsRunning(true);
    setAnswers(readers.map(() => EMPTY_ANSWER));
    await runAnswers({
      open: signal => open(readers, signal),
      read: (reader, chunk, nowMs) => reader.readCompletion(chunk, nowMs),
      readers,
      signal: controller.signal,
      onAnswers: setAnswers,
    });
    setIsRunning(false);
  };

  return {
    prompt,
    setPrompt,
    answers,
    isRunning,
    stop: () => run.current?.abort(),
    /** Tokens of the prompt as it is now; undefined before they were asked for. */
    shownPrompt: promptTokens.data?.prompt === prompt ? promptTokens.data : undefined,
    promptTokens,
    complete: () =>
      start(choiceCountOf(settings.parameters, 'completion'), (_, signal) =>
        client.completions.stream.mutate(toCompletionRequest(settings, prompt), { signal }),
      ),

    /** Goes on from another candidate of an answer, which takes the place of all. */
    continueAnswer: (from: Answer, index: number, candidate: Candidate) =>
      start(1, async (readers, signal) => {
        const fork = { answer: from, index, candidate };
        const beginning = beginningOf(fork, await findCandidateId(client, from.model, fork, signal));
        for (const reader of readers) reader.begin(beginning);
        const request = {
          ...toCompletionRequest({ ...settings, model: from.model }, promptOf(beginning)),
          ...ONE_CONTINUATION,
        };
        return client.completions.stream.mutate(request, { signal });
      }),

    /** Cuts the prompt, takes another candidate there, and continues that. */
    continuePrompt: (index: number, candidate: Candidate) => {
      const tokens = promptTokens.data?.tokens ?? [];
      const kept = tokens.slice(0, index);
      setPrompt([...kept, candidate].map(({ text }) => text).join(''));
      const ids = [...kept.map(({ id }) => id), candidate.id].filter(id => id != null);
      return start(1, (_, signal) =>
        client.completions.stream.mutate(
          { ...toCompletionRequest(settings, ids), ...ONE_CONTINUATION },
          { signal },
        ),
      );
    },
  };
}
