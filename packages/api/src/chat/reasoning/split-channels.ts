// Separates thinking from answer where a model writes whole messages with a channel each, as gpt-oss does:
//
//   <|channel|>analysis<|message|>thought<|end|><|start|>assistant<|channel|>final<|message|>answer<|return|>
//
// The channel `analysis` is thought; every other one is part of the answer. Text without a header is the answer.

import { findFirst, longestOpenMark } from './find-marks.ts';
import type { ReasoningSplitter, SplitText } from './reasoning-splitter.ts';

const HEADER_STARTS = ['<|start|>', '<|channel|>'];
const HEADER_END = ['<|message|>'];
const MESSAGE_ENDS = ['<|end|>', '<|return|>', '<|call|>'];
const BODY_ENDS = [...MESSAGE_ENDS, ...HEADER_STARTS];
const THINKING_HEADER = /<\|channel\|>\s*analysis\b/;

/** A splitter of one choice. */
export function createChannelSplitter(): ReasoningSplitter {
  let state: 'header' | 'body' = 'body';
  let isThinking = false;
  let held = '';

  function push(text: string): SplitText {
    held += text;
    const given = { reasoning: '', content: '' };
    const give = (length: number): void => {
      given[isThinking ? 'reasoning' : 'content'] += held.slice(0, length);
      held = held.slice(length);
    };
    for (;;) {
      if (state === 'header') {
        const end = findFirst(held, HEADER_END);
        if (end === null) return given;
        isThinking = THINKING_HEADER.test(held.slice(0, end.at));
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
        isThinking = false;
      }
    }
  }

  return {
    push,
    finish() {
      // A header that never ended is no text.
      const rest = state === 'header' ? '' : held;
      held = '';
      return isThinking ? { reasoning: rest, content: '' } : { reasoning: '', content: rest };
    },
    get isThinking() {
      return isThinking;
    },
  };
}
