// The conversation and its running answer.

import { useEffect, useRef, useState } from 'react';
import { randomId } from '../components/random-id.ts';
import { useTRPCClient } from '../connection/api-client.ts';
import { type Answer, type Candidate, EMPTY_ANSWER } from './answer-reader.ts';
import { beginningOf, findCandidateId, promptOf } from './continue-from.ts';
import {
  addAnswers,
  addTurn,
  type Conversation,
  EMPTY_CONVERSATION,
  pathTo,
  setAnswers,
  shownTurns,
  type Turn,
} from './conversation.ts';
import { choiceCountOf } from './parameters.ts';
import { chatLengthOf, ONE_CONTINUATION, toChatRequest, toCompletionRequest } from './requests.ts';
import { createReaders, runAnswers } from './run-answer.ts';
import { readConversation, type Settings, saveConversation } from './saved-playground.ts';

/** An answer that was still open when the page was closed has stopped. */
function loadConversation(): Conversation {
  const conversation = readConversation();
  return {
    ...conversation,
    turns: conversation.turns.map(turn =>
      turn.answer?.phase === 'waiting' || turn.answer?.phase === 'streaming'
        ? { ...turn, answer: { ...turn.answer, phase: 'stopped' } }
        : turn,
    ),
  };
}

export function useChat(settings: Settings) {
  const client = useTRPCClient();
  const [conversation, setConversation] = useState(loadConversation);
  const [isRunning, setIsRunning] = useState(false);
  const run = useRef<AbortController | null>(null);
  /** What was not saved because an answer is being written; it is saved when the page is left. */
  const unsaved = useRef<Conversation | null>(null);

  useEffect(() => {
    // The message is saved before its answer begins, because some browsers end a page without an event.
    if (!isRunning || unsaved.current === null) saveConversation(conversation);
    unsaved.current = isRunning ? conversation : null;
  }, [conversation, isRunning]);
  useEffect(() => {
    const saveOpenAnswer = () => {
      if (unsaved.current !== null) saveConversation(unsaved.current);
    };
    window.addEventListener('pagehide', saveOpenAnswer);
    return () => {
      window.removeEventListener('pagehide', saveOpenAnswer);
      run.current?.abort();
      saveOpenAnswer();
    };
  }, []);

  /** Adds answers after a turn, as branches, and lets `work` fill them. */
  const answerAfter = async (
    base: Conversation,
    parentId: string | null,
    count: number,
    work: (controls: {
      readonly signal: AbortSignal;
      readonly onAnswers: (answers: readonly Answer[]) => void;
    }) => Promise<unknown>,
  ) => {
    const ids = Array.from({ length: count }, randomId);
    const controller = new AbortController();
    run.current = controller;
    setIsRunning(true);
    setConversation(addAnswers(base, parentId, ids));
    try {
      await work({
        signal: controller.signal,
        onAnswers: answers => setConversation(current => setAnswers(current, ids, answers)),
      });
    } finally {
      setIsRunning(false);
    }
  };

  const askAfter = (base: Conversation, parentId: string | null) => {
    const count = choiceCountOf(settings.parameters, 'chat');
    return answerAfter(base, parentId, count, controls => {
      const request = toChatRequest(settings, pathTo(base.turns, parentId));
      return runAnswers({
        open: signal => client.chat.stream.mutate(request, { signal }),
        read: (reader, chunk, nowMs) => reader.readChat(chunk, nowMs),
        readers: createReaders(count),
        ...controls,
      });
    });
  };

  return {
    conversation,
    turns: shownTurns(conversation),
    isRunning,
    setConversation,
    stop: () => run.current?.abort(),
    clear: () => {
      run.current?.abort();
      setConversation(EMPTY_CONVERSATION);
    },

    /** Adds a message after a turn and asks for its answer. */
    send: (text: string, parentId: string | null = conversation.leafId) => {
      const turn: Turn = { id: randomId(), parentId, role: 'user', content: text };
      return askAfter(addTurn(conversation, turn), turn.id);
    },

    /** Answers the calls of a turn, in their order, and asks for what the model makes of them. */
    sendResults: (turn: Turn, results: readonly string[]) => {
      let base = conversation;
      let parentId = turn.id;
      for (const [index, content] of results.entries()) {
        const toolCallId = turn.answer?.toolCalls[index]?.id ?? '';
        const result: Turn = { id: randomId(), parentId, role: 'tool', content, toolCallId };
        base = addTurn(base, result);
        parentId = result.id;
      }
      return askAfter(base, parentId);
    },

    /** Asks once more for an answer to the same messages. */
    regenerate: ({ parentId }: Turn) => askAfter(conversation, parentId),

    /** Takes another candidate at a token of an answer and goes on from there, as a branch. */
    continueFrom: (turn: Turn, index: number, candidate: Candidate) =>
      answerAfter(conversation, turn.parentId, 1, controls => {
        const answer = turn.answer ?? EMPTY_ANSWER;
        const { model } = answer;
        const readers = createReaders(1);
        return runAnswers({
          open: async signal => {
            const fork = { answer, index, candidate };
            const beginning = beginningOf(fork, await findCandidateId(client, model, fork, signal));
            for (const reader of readers) reader.begin(beginning);
            const prompt = promptOf(beginning);
            const limits = await client.tokenizer.encode.query({ model, prompt: '.' }, { signal });
            const request = {
              ...toCompletionRequest({ ...settings, model }, prompt),
              max_tokens: chatLengthOf(settings, prompt.length, limits.max_model_len),
              ...ONE_CONTINUATION,
            };
            return client.completions.stream.mutate(request, { signal });
          },
          read: (reader, chunk, nowMs) => reader.readCompletion(chunk, nowMs),
          readers,
          ...controls,
        });
      }),
  };
}
