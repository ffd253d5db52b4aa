// Text and log probabilities of one choice of a completion, delta by delta, with the prompt in front where it is echoed. Whole and streamed replies use it, so that joined chunks are the whole reply.

import type { Engine, PromptReadyEvent, TokenDeltaEvent } from '@ortler/engine';
import type {
  CompletionLogprobs,
  CompletionRequest,
  ConstraintPosition,
  FinishReason,
  StopReason,
} from '@ortler/schemas';
import { toConstraintPosition } from '../generation/to-constraint-position.ts';
import { toFinishReason } from '../generation/to-finish-reason.ts';
import { endOffset, type PlacedToken, toCompletionLogprobs } from './to-completion-logprobs.ts';
import { isEchoAlone } from './to-generation-requests.ts';

/** Part of a choice that one event adds. */
export interface CompletionDelta {
  readonly text: string;
  readonly logprobs: CompletionLogprobs | null;
}

/** How a choice ended, in the fields of the wire. */
export interface CompletionEnd {
  readonly finish_reason: FinishReason;
  readonly stop_reason: StopReason;
  readonly constraint_position?: ConstraintPosition;
}

/** A prompt as the engine encoded it. */
export interface EncodedPrompt {
  readonly given: string | readonly number[];
  readonly ready: PromptReadyEvent;
}

export class CompletionChoiceWriter {
  readonly #request: CompletionRequest;
  readonly #prompt: EncodedPrompt;
  readonly #engine: Pick<Engine, 'decode'>;
  #isFirst = true;
  /** Unit: characters. Where the next token starts. */
  #offset = 0;

  constructor(request: CompletionRequest, prompt: EncodedPrompt, engine: Pick<Engine, 'decode'>) {
    this.#request = request;
    this.#prompt = prompt;
    this.#engine = engine;
  }

  /** Mutates: the writer; events are passed once and in order. */
  write(event: TokenDeltaEvent): CompletionDelta {
    const { echo, logprobs: topCount } = this.#request;
    const leavesOutAnswer = isEchoAlone(this.#request);
    const echoes = echo && this.#isFirst;
    this.#isFirst = false;
    const text = (echoes ? this.#promptText() : '') + (leavesOutAnswer ? '' : event.text);
    if (topCount == null) return { text, logprobs: null };
    const tokens: PlacedToken[] = echoes ? this.#promptTokens() : [];
    if (!leavesOutAnswer)
      for (const [index, tokenId] of event.tokenIds.entries())
        tokens.push({ tokenId, logprob: event.logprobs?.[index] ?? null });
    const form = {
      topCount,
      asTokenIds: this.#request.return_tokens_as_token_ids === true,
      decode: (tokenIds: readonly number[]) => this.#engine.decode(tokenIds),
    };
    const logprobs = toCompletionLogprobs(tokens, form, this.#offset);
    this.#offset = endOffset(logprobs, this.#offset);
    return { text, logprobs };
  }

  /** Null before the choice ends. An answer of the prompt alone is cut by its length, whichever token is left out. */
  end({ finish }: TokenDeltaEvent): CompletionEnd | null {
    if (finish === null) return null;
    if (finish.reason === 'stop' && isEchoAlone(this.#request))
      return { finish_reason: 'length', stop_reason: null };
    return {
      finish_reason: toFinishReason(finish.reason),
      stop_reason: finish.stopReason,
      ...toConstraintPosition(finish),
    };
  }

  /** The text that was given; of ids, and of a prompt that was cut, the text of its tokens. */
  #promptText(): string {
    const { given, ready } = this.#prompt;
    const isWhole = this.#request.truncate_prompt_tokens == null;
    return typeof given === 'string' && isWhole ? given : this.#engine.decode(ready.promptTokenIds);
  }

  #promptTokens(): PlacedToken[] {
    const { promptTokenIds, promptLogprobs } = this.#prompt.ready;
    return promptTokenIds.map((tokenId, index) => ({ tokenId, logprob: promptLogprobs?.[index] ?? null }));
  }
}
