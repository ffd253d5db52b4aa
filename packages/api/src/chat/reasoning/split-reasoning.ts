// Separates what a model thinks from what it answers while the text comes in pieces: a mark may be split over any
// number of them. Joined, the pieces given out are the same however the text was cut. Called for every choice.

import { findFirst, longestOpenMark } from './find-marks.ts';
import type { ReasoningFormat, TagFormat } from './reasoning-format.ts';
import type { ReasoningSplitter, SplitText } from './reasoning-splitter.ts';
import { createChannelSplitter } from './split-channels.ts';

/** @param isOpen The prompt already began the thinking. */
export function createReasoningSplitter(format: ReasoningFormat, isOpen: boolean): ReasoningSplitter {
  return format.kind === 'channels' ? createChannelSplitter() : createTagSplitter(format, isOpen);
}

function createTagSplitter({ starts, ends }: TagFormat, isOpen: boolean): ReasoningSplitter {
  // Thinking is looked for at the very beginning only: later, a start is text like any other.
  let state: 'start' | 'thinking' | 'answer' = isOpen ? 'thinking' : 'start';
  let held = '';

  function settle(text: string): SplitText {
    held += text;
    if (state === 'start') {
      const visible = held.trimStart();
      const start = starts.find(mark => visible.startsWith(mark));
      if (start === undefined) {
        if (starts.some(mark => mark.startsWith(visible))) return { reasoning: '', content: '' };
        state = 'answer';
      } else {
        state = 'thinking';
        held = visible.slice(start.length);
      }
    }
    let reasoning = '';
    if (state === 'thinking') {
      const end = findFirst(held, ends);
      if (end === null) {
        const cut = held.length - longestOpenMark(held, ends);
        reasoning = held.slice(0, cut);
        held = held.slice(cut);
        return { reasoning, content: '' };
      }
      reasoning = held.slice(0, end.at);
      held = held.slice(end.at + end.mark.length);
      state = 'answer';
    }
    const content = held;
    held = '';
    return { reasoning, content };
  }

  return {
    push: settle,
    finish() {
      const rest = held;
      held = '';
      return state === 'thinking' ? { reasoning: rest, content: '' } : { reasoning: '', content: rest };
    },
    get isThinking() {
      return state === 'thinking';
    },
  };
}
