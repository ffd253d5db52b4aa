// The grammar of answers that are messages of several channels, which gpt-oss writes: reasoning and preambles, then a call
// or the final answer. The header of each message is its trigger.

import type { TagNode } from '@ortler/structured-output';
import { anyText, choice, sequence, text } from './nodes.ts';

export interface HarmonyParts {
  /** The header of a call up to the name. */
  readonly lead: string;
  readonly calls: TagNode;
  readonly answer: TagNode | undefined;
  /** The answer is a call. */
  readonly isForced: boolean;
}

const MESSAGE_END = '<|end|><|start|>assistant';

export function harmonyGrammar({ lead, calls, answer = anyText(''), isForced }: HarmonyParts): TagNode {
  const message = (channel: string) =>
    ({
      kind: 'tag',
      begin: `<|channel|>${channel}<|message|>`,
      content: anyText(''),
      ends: [MESSAGE_END],
    }) as const;
  const before: TagNode = {
    kind: 'separated',
    separator: '',
    tags: [message('analysis'), message('commentary')],
    needsOne: false,
    stopsAfterFirst: false,
  };
  const call = sequence(text(lead), calls);
  const final = sequence(text('<|channel|>final<|message|>'), answer);
  return sequence(before, isForced ? call : choice([call, final]));
}
