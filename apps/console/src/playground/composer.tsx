// Where the next message is written. Enter sends, Shift+Enter breaks the line.

import type { KeyboardEvent } from 'react';
import { Button } from '../components/ui/button.tsx';
import { Textarea } from '../components/ui/input.tsx';
import { useDraft } from './use-draft.ts';

interface ComposerProps {
  readonly isRunning: boolean;
  /** Why nothing can be sent now. */
  readonly obstacle: string | null;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

export function Composer({ isRunning, obstacle, onSend, onStop }: ComposerProps) {
  const [text, setText] = useDraft('message');
  const send = () => {
    if (isRunning || obstacle !== null || text.trim() === '') return;
    onSend(text);
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isRunning) onStop();
    // Input methods end a word with Enter, too.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="flex shrink-0 items-end gap-2 border-t p-3"
      onSubmit={event => {
        event.preventDefault();
        send();
      }}
    >
      <Textarea
        aria-label="Message"
        placeholder="Ask the model (Enter sends)"
        rows={2}
        className="max-h-60 min-h-12 flex-1 resize-none field-sizing-content"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      {isRunning ? (
        <Button onClick={onStop}>Stop</Button>
      ) : (
        <Button type="submit" variant="default" disabled={obstacle !== null} title={obstacle ?? undefined}>
          Send
        </Button>
      )}
    </form>
  );
}
