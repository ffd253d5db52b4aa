// An editor for JSON, loaded with the pages that have one. It lives in a shadow root: there CodeMirror's styles are constructed
// style sheets, which the content security policy allows, unlike style elements.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useLayoutEffect, useRef } from 'react';

interface JsonEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Its measures are also those of the placeholder in lazy-json-editor.tsx. */
const LOOK = EditorView.theme({
  '&': {
    color: 'var(--foreground)',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--input)',
    borderRadius: '6px',
    fontSize: '12px',
    maxHeight: '22rem',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-scroller': { fontFamily: 'ui-monospace, Menlo, Consolas, monospace', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--foreground)', minHeight: '8rem' },
  '.cm-cursor': { borderLeftColor: 'var(--foreground)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--border)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--foreground)',
    border: '1px solid var(--border)',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--hover)' },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warning)' },
]);

export function JsonEditor({ label, value, onChange }: JsonEditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const initial = useRef(value);

  // Before the first paint, so that nothing below moves up for a moment.
  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const created = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: initial.current,
        extensions: [
          history(),
          drawSelection(),
          bracketMatching(),
          json(),
          syntaxHighlighting(COLOURS),
          LOOK,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          // Tab moves on, as everywhere in the page.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of(update => {
            if (update.docChanged) changed.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = created;
    return () => {
      created.destroy();
      view.current = null;
    };
  }, [label]);

  // A value from outside, as of the builder beside it, replaces the text; the person's own typing is the same text.
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return <div ref={holder} />;
}
