// Assembles one choice of a request: token ids in, text deltas out. Detects stop strings and turns the ends reported by the
// token side into finish reasons. Independent of links and of other choices.

import type { StopReason, TokenFinishReason } from '../request/finish-reason.ts';
import type { ChoiceFinish } from '../request/generation-event.ts';
import type { Detokenizer } from './detokenizer.ts';
import { StopStringMatcher } from './stop-strings.ts';

export interface ChoiceAssemblerOptions {
  readonly detokenizer: Detokenizer;
  readonly stopStrings: readonly string[];
  /** Keep the matched stop string, and the text of the stop token. */
  readonly includeStopInOutput: boolean;
  /** Stop strings must end in text of tokens after this many. */
  readonly minTokens: number;
}

/** Text and ids of new tokens. `tokenIds` leaves out tokens after a stop string, which are dropped. */
export interface ChoiceDelta {
  readonly text: string;
  readonly tokenIds: readonly number[];
  readonly finish: ChoiceFinish | null;
  /** A stop string ended the choice, which the token side cannot see. */
  readonly endedByText: boolean;
}

export interface TokenFinish {
  readonly reason: TokenFinishReason;
  readonly stopTokenId: number | null;
  /** The last token is text, not a stop token. */
  readonly endsWithText?: true;
  readonly canEnd?: boolean;
}

export class ChoiceAssembler {
  readonly #detokenizer: Detokenizer;
  readonly #matcher: StopStringMatcher;
  readonly #includeStopInOutput: boolean;
  readonly #minTokens: number;
  #count = 0;
  #finished = false;

  constructor(options: ChoiceAssemblerOptions) {
    this.#detokenizer = options.detokenizer;
    this.#matcher = new StopStringMatcher({
      strings: options.stopStrings,
      includeInOutput: options.includeStopInOutput,
    });
    this.#includeStopInOutput = options.includeStopInOutput;
    this.#minTokens = options.minTokens;
  }

  /** Tokens so far, the one that ended the choice included. */
  get tokenCount(): number {
    return this.#count;
  }

  get isFinished(): boolean {
    return this.#finished;
  }

  /** Takes the tokens of one step. With `finish`, the last of them ended the choice. */
  push(tokenIds: readonly number[], finish: TokenFinish | null): ChoiceDelta {
    let text = '';
    for (let i = 0; i < tokenIds.length; i++) {
      this.#count++;
      const isLast = i === tokenIds.length - 1;
      const isStopToken = finish?.reason === 'stop' && finish.endsWithText !== true && isLast;
      // The text of a stop token is left out unless requested.
      if (isStopToken && !this.#includeStopInOutput) break;
      const result = this.#matcher.push(this.#detokenizer.push(tokenIds[i]!), this.#count > this.#minTokens);
      text += result.emit;
      if (result.kind === 'matched') {
        this.#finished = true;
        return {
          text,
          tokenIds: tokenIds.slice(0, i + 1),
          finish: { reason: 'stop', stopReason: result.stop },
          endedByText: finish === null,
        };
      }
    }
    if (finish === null) return { text, tokenIds, finish: null, endedByText: false };
    this.#finished = true;
    // An unfinished character is never sent, so the detokenizer's rest is dropped.
    text += this.#matcher.flush();
    const { reason } = finish;
    return { text, tokenIds, finish: { reason, stopReason: toStopReason(finish) }, endedByText: false };
  }
}

function toStopReason({ reason, stopTokenId }: TokenFinish): StopReason {
  if (reason === 'repetition') return 'repetition_detected';
  return reason === 'stop' ? stopTokenId : null;
}
