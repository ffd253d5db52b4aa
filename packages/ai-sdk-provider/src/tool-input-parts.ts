// Deltas of tool calls -> parts of the AI SDK: the input of each call while it streams, then the whole call.

import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ToolCallDelta } from '@ortler/engine';

type StreamParts = Generator<LanguageModelV4StreamPart, void, undefined>;

/** State of one answer: the call whose input is open. */
export class ToolInputParts {
  #open: { readonly id: string; readonly toolName: string; input: string } | null = null;

  /** Mutates: the state of the answer. */
  *write(deltas: readonly ToolCallDelta[]): StreamParts {
    for (const { start, arguments: delta } of deltas) {
      if (start !== undefined) {
        yield* this.close();
        this.#open = { id: start.id, toolName: start.name, input: '' };
        yield { type: 'tool-input-start', id: start.id, toolName: start.name };
      }
      if (delta === '' || this.#open === null) continue;
      this.#open.input += delta;
      yield { type: 'tool-input-delta', id: this.#open.id, delta };
    }
  }

  /** Ends the open call. An input that was cut off is not a call. */
  *close(): StreamParts {
    if (this.#open === null) return;
    const { id, toolName, input } = this.#open;
    this.#open = null;
    yield { type: 'tool-input-end', id };
    if (isJson(input)) yield { type: 'tool-call', toolCallId: id, toolName, input };
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
