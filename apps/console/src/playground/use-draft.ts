// A text that a person writes. It outlives other views, other pages and a reload of the tab.

import { useEffect, useState } from 'react';
import { type DraftName, readDraft, saveDraft } from './saved-playground.ts';

export function useDraft(name: DraftName) {
  const [text, setText] = useState(() => readDraft(name));
  useEffect(() => saveDraft(name, text), [name, text]);
  return [text, setText] as const;
}
