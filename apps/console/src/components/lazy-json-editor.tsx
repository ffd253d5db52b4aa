// The JSON editor, loaded when it is first shown. Until then its text is shown in a box of the same size, so
// that nothing below moves.

import { type ComponentProps, lazy, Suspense } from 'react';

const JsonEditor = lazy(() =>
  import('./json-editor.tsx').then(({ JsonEditor }) => ({ default: JsonEditor })),
);

export function LazyJsonEditor(props: ComponentProps<typeof JsonEditor>) {
  return (
    <Suspense fallback={<Placeholder text={props.value} />}>
      <JsonEditor {...props} />
    </Suspense>
  );
}

/** Its measures are those of the editor: least and greatest height with the border, font, line height and padding of CodeMirror. */
function Placeholder({ text }: { readonly text: string }) {
  return (
    <pre
      aria-busy
      className="max-h-[calc(22rem+2px)] min-h-[calc(8rem+2px)] overflow-hidden rounded-md border border-input bg-raised py-1 pr-0.5 pl-1.5 font-mono text-xs leading-[1.4] wrap-anywhere whitespace-pre-wrap text-muted"
    >
      {text}
    </pre>
  );
}
