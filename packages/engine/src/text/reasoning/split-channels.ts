// Splits reasoning from the answer where a model writes messages with a channel each, like gpt-oss:
//
//   <|channel|>analysis<|message|>reasoning<|end|><|start|>assistant<|channel|>final<|message|>answer<|return|>
//
// The channel `analysis` is reasoning; every other one is part of the answer. Text without a header is the answer.

import { findFirst, longestOpenMark } from '@ortler/tool-calling';
import type { ReasoningSplitter, SplitText } from './reasoning-splitter.ts';

const HEADER_STARTS = ['<|start|>', '<|channel|>'];
const HEADER_END = ['<|message|>'];
const MESSAGE_ENDS = ['<|end|>', '<|return|>', '<|call|>'];
const BODY_ENDS = [...MESSAGE_ENDS, ...HEADER_STARTS];
const REASONING_HEADER = /<\|channel\|>\s*analysis\b/;

/** A splitter of one choice. */
export function createChannelSplitter(): ReasoningSplitter {
  let state: 'header' | 'body' = 'body';
  let isReasoning = false;
  let held = '';

  function push(text: string): SplitText {
    held += text;
    const given = { reasoning: '', answer: '' };
    const give = (length: number): void => {
      given[isReasoning ? 'reasoning' : 'answer'] += held.slice(0, length);
      held = held.slice(length);
    };
    for (;;) {
      if (state === 'header') {
        const end = findFirst(held, HEADER_END);
        if (end === null) return given;
        isReasoning = REASONING_HEADER.test(held.slice(0, end.at));
        held = held.slice(end.at + end.mark.length);
        state = 'body';
        continue;
      }
      const end = findFirst(held, BODY_ENDS);
      if (end === null) {
        give(held.length - longestOpenMark(held, BODY_ENDS));
        return given;
      }
      give(end.at);
      if (HEADER_STARTS.includes(end.mark)) {
        // The header keeps its own first mark, which names the channel.
        state = 'header';
      } else {
        held = held.slice(end.mark.length);
        isReasoning = false;
      }
    }
  }

  return {
    push,
    finish() {
      // An incomplete header is not text.
      const rest = state === 'header' ? '' : held;
      held = '';
      return isReasoning ? { reasoning: rest, answer: '' } : { reasoning: '', answer: rest };
    },
    get isReasoning() {
      return isReasoning;
    },
  };
}
