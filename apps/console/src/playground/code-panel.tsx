// The next request as code, to be copied.

import { useState } from 'react';
import { copyText } from '../components/copy-text.ts';
import { Button } from '../components/ui/button.tsx';
import { serverUrl } from '../connection/server-url.ts';
import { type SnippetName, toSnippet } from './code-snippets.ts';

const NAMES: readonly SnippetName[] = ['curl', 'openai', 'AI SDK', 'ortler'];

interface CodePanelProps {
  readonly body: Readonly<Record<string, unknown>>;
  readonly defaultModel: string | undefined;
  readonly onClose: () => void;
}

export function CodePanel({ body, defaultModel, onClose }: CodePanelProps) {
  const [name, setName] = useState<SnippetName>('curl');
  const [isCopied, setIsCopied] = useState(false);
  const code = toSnippet(name, { body, defaultModel, serverUrl: serverUrl('.').replace(/\/$/, '') });
  return (
    <section aria-label="Code" className="flex min-h-0 flex-col border-b bg-surface">
      <div className="flex flex-wrap items-center gap-1 px-4 pt-2">
        {NAMES.map(each => (
          <Button
            key={each}
            size="sm"
            aria-pressed={each === name}
            onClick={() => {
              setName(each);
              setIsCopied(false);
            }}
          >
            {each}
          </Button>
        ))}
        <span className="flex-1" />
        <Button size="sm" onClick={() => void copyText(code).then(setIsCopied)}>
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
        <Button size="sm" variant="ghost" onClick={onClose}>
          Close
        </Button>
      </div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the keyboard
        tabIndex={0}
        className="max-h-56 min-h-0 overflow-auto px-4 py-2 font-mono text-xs"
      >
        {code}
      </pre>
    </section>
  );
}
