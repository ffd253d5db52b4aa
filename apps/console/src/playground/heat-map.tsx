// A text as its tokens, each coloured by its probability. One stop for the keyboard: arrow keys move between the tokens.

import { type KeyboardEvent, memo, useId } from 'react';
import { cn } from '../components/class-names.ts';
import { sameItems } from '../components/same-items.ts';
import type { ShownToken } from './answer-reader.ts';
import { END_NOTE, formatProbability, toProbability } from './probability.ts';
import { type TokenRun, toTokenRuns } from './text-runs.ts';

interface HeatMapProps {
  readonly label: string;
  readonly tokens: readonly ShownToken[];
  /** Index of the token whose candidates are shown; null: none of this text. */
  readonly selected: number | null;
  /** `pinned`: by a click or a key, so that it stays when the pointer leaves. */
  readonly onSelect: (index: number | null, pinned: boolean) => void;
  readonly className?: string;
}

export function HeatMap({ label, tokens, selected, onSelect, className }: HeatMapProps) {
  const id = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    const from = selected ?? -1;
    const last = tokens.length - 1;
    const target =
      event.key === 'ArrowRight'
        ? Math.min(from + 1, last)
        : event.key === 'ArrowLeft'
          ? Math.max(from - 1, 0)
          : event.key === 'Home'
            ? 0
            : event.key === 'End'
              ? last
              : undefined;
    if (event.key === 'Escape') onSelect(null, false);
    if (target === undefined) return;
    event.preventDefault();
    onSelect(target, true);
    document.getElementById(`${id}-${target}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <div
      role="listbox"
      aria-label={label}
      aria-orientation="horizontal"
      tabIndex={0}
      aria-activedescendant={selected === null ? undefined : `${id}-${selected}`}
      onKeyDown={onKeyDown}
      onMouseOver={event => {
        const index = indexOf(event.target);
        if (index !== null) onSelect(index, false);
      }}
      // The keyboard has its own way: arrow keys select.
      onFocus={() => undefined}
      onClick={event => {
        const index = indexOf(event.target);
        if (index !== null) onSelect(index, true);
      }}
      className={cn('min-h-6 wrap-anywhere whitespace-pre-wrap', className)}
    >
      {toTokenRuns(tokens).map(run => (
        // Tokens are only ever added at the end.
        <RunOfTokens
          key={run.start}
          id={id}
          {...run}
          selected={
            selected !== null && selected >= run.start && selected < run.start + run.tokens.length
              ? selected
              : null
          }
        />
      ))}
    </div>
  );
}

interface RunProps extends TokenRun {
  /** Of the whole text. */
  readonly id: string;
  readonly selected: number | null;
}

const RunOfTokens = memo(
  function RunOfTokens({ id, start, tokens, selected }: RunProps) {
    return (
      <div role="presentation" dir="auto">
        {tokens.map((token, offset) => {
          const index = start + offset;
          return (
            <Token
              key={index}
              id={`${id}-${index}`}
              index={index}
              text={token.text}
              logprob={token.logprob}
              part={token.part}
              isSelected={index === selected}
            />
          );
        })}
      </div>
    );
  },
  (before, after) =>
    before.id === after.id && before.selected === after.selected && sameItems(before.tokens, after.tokens),
);

/** Style of the token that ends the answer, which is not copied with the text. */
const END_STYLE = 'ml-1 border border-input px-1 font-mono text-xs text-muted select-none';

interface TokenProps {
  readonly id: string;
  readonly index: number;
  readonly text: string;
  readonly logprob: number;
  readonly part: ShownToken['part'];
  readonly isSelected: boolean;
}

const Token = memo(function Token({ id, index, text, logprob, part, isSelected }: TokenProps) {
  return (
    <span
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isSelected}
      aria-label={`${text.trim() === '' ? JSON.stringify(text) : text}, ${formatProbability(logprob)}${part === 'end' ? `, ${END_NOTE}` : ''}`}
      title={part === 'end' ? END_NOTE : undefined}
      data-index={index}
      data-logprob={logprob}
      data-selected={isSelected ? '' : undefined}
      className={cn('token', part === 'reasoning' && 'italic', part === 'end' && END_STYLE)}
      style={{ '--p': toProbability(logprob).toFixed(3) } as React.CSSProperties}
    >
      {text}
    </span>
  );
});

function indexOf(target: EventTarget): number | null {
  const found = target instanceof HTMLElement ? target.dataset.index : undefined;
  return found === undefined ? null : Number(found);
}
