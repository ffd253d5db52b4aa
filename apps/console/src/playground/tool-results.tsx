// The results of the calls that an answer ended with. The user answers in place of the tools.

import { useState } from 'react';
import { Button } from '../components/ui/button.tsx';
import { Field } from '../components/ui/field.tsx';
import { Textarea } from '../components/ui/input.tsx';
import type { ToolCall } from './answer-reader.ts';

interface ToolResultsProps {
  readonly calls: readonly ToolCall[];
  readonly onSend: (results: readonly string[]) => void;
}

export function ToolResults({ calls, onSend }: ToolResultsProps) {
  const [results, setResults] = useState<readonly string[]>(() => calls.map(() => ''));
  return (
    <form
      aria-label="Results of the calls"
      className="flex max-h-60 flex-col gap-2 overflow-auto border-t bg-surface px-4 py-2"
      onSubmit={event => {
        event.preventDefault();
        onSend(results);
      }}
    >
      {calls.map((call, index) => (
        <Field key={call.id} label={`Result of ${call.name}(${call.arguments})`}>
          {ids => (
            <Textarea
              {...ids}
              rows={1}
              className="min-h-8 font-mono text-xs"
              value={results[index]}
              onChange={({ target }) =>
                setResults(results.map((result, at) => (at === index ? target.value : result)))
              }
            />
          )}
        </Field>
      ))}
      <Button type="submit" size="sm" className="self-start">
        Send results
      </Button>
    </form>
  );
}
