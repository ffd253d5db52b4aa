// Splits the reasoning of a model from its answer while the text streams: a mark may be cut at any place. The joined parts
// do not depend on where the text was cut. Called for every choice.

import { findFirst, longestOpenMark } from '@ortler/tool-calling';
import type { ReasoningFormat, ReasoningStart, TagFormat } from './reasoning-format.ts';
import type { ReasoningSplitter, SplitText } from './reasoning-splitter.ts';
import { createChannelSplitter } from './split-channels.ts';

/** @param start State of the reasoning at the end of the prompt. */
export function createReasoningSplitter(format: ReasoningFormat, start: ReasoningStart): ReasoningSplitter {
  return format.kind === 'channels' ? createChannelSplitter() : createTagSplitter(format, start);
}

/** The splitter of output without reasoning. */
export const createPlainSplitter = (): ReasoningSplitter => ({
  push: text => ({ reasoning: '', answer: text }),
  finish: () => ({ reasoning: '', answer: '' }),
  isReasoning: false,
});

function createTagSplitter({ starts, ends }: TagFormat, promptEnd: ReasoningStart): ReasoningSplitter {
  // A start mark counts at the beginning of the output only; later it is plain text.
  let state: 'start' | 'reasoning' | 'answer' = promptEnd === 'open' ? 'reasoning' : 'start';
  let held = '';

  function settle(text: string): SplitText {
    held += text;
    if (state === 'start') {
      const visible = held.trimStart();
      const start = starts.find(mark => visible.startsWith(mark));
      if (start === undefined) {
        if (starts.some(mark => mark.startsWith(visible))) return { reasoning: '', answer: '' };
        state = 'answer';
      } else {
        state = 'reasoning';
        held = visible.slice(start.length);
      }
    }
    let reasoning = '';
    if (state === 'reasoning') {
      const end = findFirst(held, ends);
      if (end === null) {
        const cut = held.length - longestOpenMark(held, ends);
        reasoning = held.slice(0, cut);
        held = held.slice(cut);
        return { reasoning, answer: '' };
      }
      reasoning = held.slice(0, end.at);
      held = held.slice(end.at + end.mark.length);
      state = 'answer';
    }
    const answer = held;
    held = '';
    return { reasoning, answer };
  }

  return {
    push: settle,
    finish() {
      const rest = held;
      held = '';
      return state === 'reasoning' ? { reasoning: rest, answer: '' } : { reasoning: '', answer: rest };
    },
    get isReasoning() {
      return state === 'reasoning';
    },
  };
}
