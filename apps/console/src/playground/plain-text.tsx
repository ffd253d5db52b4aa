// A text as it is, of any length, which may still grow.

import { cn } from '../components/class-names.ts';
import { toTextRuns } from './text-runs.ts';

interface PlainTextProps {
  readonly text: string;
  /** Whether more is to come. */
  readonly isOpen?: boolean;
  readonly className?: string;
}

export function PlainText({ text, isOpen = false, className }: PlainTextProps) {
  const runs = toTextRuns(text);
  return (
    <div className={cn('wrap-anywhere whitespace-pre-wrap', className)}>
      {runs.map((run, index) => (
        // Text is only ever added at the end. Of paragraphs a selection would copy more line breaks than the text has.
        <div key={index} dir="auto">
          {run}
          {isOpen && index === runs.length - 1 && (
            <span className="caret text-accent" aria-hidden="true">
              ▍
            </span>
          )}
        </div>
      ))}
    </div>
  );
}
