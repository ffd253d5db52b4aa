// Which token's candidates are shown. The pointer selects in passing; a click or a key pins the selection until another
// click or Escape.

import { useState } from 'react';

export interface TokenSelection {
  /** The turn, or another text with tokens. */
  readonly owner: string;
  readonly index: number;
  readonly pinned: boolean;
}

export function useTokenSelection() {
  const [selection, setSelection] = useState<TokenSelection | null>(null);
  return {
    selection,
    clear: () => setSelection(null),
    /** The selected index in the text of this owner. */
    indexIn: (owner: string) => (selection?.owner === owner ? selection.index : null),
    select: (owner: string, index: number | null, pinned: boolean) =>
      setSelection(current => {
        if (index === null) return null;
        return current?.pinned === true && !pinned ? current : { owner, index, pinned };
      }),
  };
}
