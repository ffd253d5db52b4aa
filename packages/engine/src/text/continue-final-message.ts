// Leaves the last message of a rendered conversation open, so that the answer continues it: a mark is put after its
// text before the template runs, and the prompt is cut at the mark. chat-template.ts sets the mark, prompt-encoder.ts
// cuts. Source: `apply_chat_template(continue_final_message=True)` of transformers 4.57.

import { EngineError } from '../errors.ts';
import type { ChatMessage } from '../request/chat-message.ts';

/** The trailing blank shows whether the template trims the end of the text. */
const MARK = '<ORTLER_END_OF_FINAL_MESSAGE> ';
const BARE_MARK = MARK.trimEnd();

/** The conversation with its mark, and the text that must survive the template. */
export interface OpenConversation {
  readonly messages: readonly ChatMessage[];
  readonly finalText: string;
}

/** Marks the end of the last message's text; of content parts the last one. Throws: `template_failed`. */
export function markFinalMessage(messages: readonly ChatMessage[]): OpenConversation {
  const final = messages.at(-1);
  const place = typeof final?.content === 'string' ? 0 : (final?.content.length ?? 0) - 1;
  if (final === undefined || place < 0) throw cannotContinue('the last message has no text to continue');
  const before = messages.slice(0, -1);
  if (typeof final.content === 'string') {
    return {
      messages: [...before, { ...final, content: final.content + MARK }],
      finalText: final.content,
    };
  }
  const { text } = final.content[place]!;
  const content = [...final.content.slice(0, place), { type: 'text' as const, text: text + MARK }];
  return { messages: [...before, { ...final, content }], finalText: text };
}

/** The rendered prompt up to the mark. Throws: `template_failed` when the text did not survive the template. */
export function cutAtMark(rendered: string, finalText: string): string {
  const at = rendered.lastIndexOf(BARE_MARK);
  if (at === -1 || !rendered.includes(finalText.trim())) {
    throw cannotContinue('the text of the last message does not survive the chat template');
  }
  const open = rendered.slice(0, at);
  if (open.includes(BARE_MARK)) {
    throw cannotContinue('the chat template shows the last message more than once');
  }
  // A template that trims the message would have trimmed the blanks before the mark as well.
  return rendered.startsWith(MARK, at) ? open : open.trimEnd();
}

function cannotContinue(reason: string): EngineError {
  return new EngineError('template_failed', `continueFinalMessage is not possible: ${reason}.`, {
    parameter: 'prompt.template.continueFinalMessage',
  });
}
