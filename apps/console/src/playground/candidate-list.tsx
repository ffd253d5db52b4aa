// The tokens that the model could have taken at one place, with their probabilities.

import type { Candidate, ShownToken } from './answer-reader.ts';
import { END_NOTE, formatProbability, toProbability, visibleText } from './probability.ts';

interface CandidateListProps {
  readonly token: ShownToken | null;
  /** Place of the token in its text, from 1. */
  readonly position: number;
  /** Takes another candidate; null: that is not possible here, for this reason. */
  readonly onTake: ((candidate: Candidate) => void) | null;
  readonly reason: string;
}

export function CandidateList({ token, position, onTake, reason }: CandidateListProps) {
  return (
    <section aria-label="Candidates" className="flex h-44 min-h-0 flex-col overflow-auto border-t bg-surface">
      {token === null ? (
        <p className="px-4 py-2 text-xs text-muted">
          Point at a token, or focus the answer and use the arrow keys, to see what else the model could have
          said.
        </p>
      ) : (
        <>
          <p className="flex flex-wrap gap-x-3 px-4 pt-2 pb-1 text-xs text-muted" aria-live="polite">
            <span>
              Token {position}: <code className="text-foreground">{visibleText(token.text)}</code>
            </span>
            <span>{formatProbability(token.logprob)}</span>
            <span>log probability {token.logprob.toFixed(4)}</span>
            {token.part === 'end' && <span>{END_NOTE}</span>}
            {token.id !== null && <span>id {token.id}</span>}
            {onTake === null && <span>{reason}</span>}
          </p>
          <ol className="min-h-0 flex-1 overflow-auto px-3 pb-2">
            {token.candidates.map((candidate, index) => {
              const isTaken = index === 0 && candidate.text === token.text;
              return (
                <li key={index}>
                  <button
                    type="button"
                    disabled={onTake === null || isTaken}
                    data-logprob={candidate.logprob}
                    title={isTaken ? 'The token of the answer' : 'Continue from this candidate'}
                    onClick={() => onTake?.(candidate)}
                    className="group grid w-full grid-cols-[minmax(6rem,14rem)_5rem_1fr] items-center gap-2 rounded-sm px-1 py-0.5 text-left text-xs not-disabled:hover:bg-hover"
                  >
                    <code className="truncate">{visibleText(candidate.text)}</code>
                    <span className="text-right">{formatProbability(candidate.logprob)}</span>
                    <span className="flex items-center gap-2">
                      <svg
                        viewBox="0 0 100 6"
                        preserveAspectRatio="none"
                        className="h-1.5 w-24"
                        aria-hidden="true"
                      >
                        <rect width="100" height="6" className="fill-border" />
                        <rect
                          width={toProbability(candidate.logprob) * 100}
                          height="6"
                          className="fill-accent"
                        />
                      </svg>
                      <span className="text-muted">{isTaken ? 'taken' : ''}</span>
                    </span>
                  </button>
                </li>
              );
            })}
          </ol>
        </>
      )}
    </section>
  );
}
