// The tools that the model may call.

import { lazy, Suspense } from 'react';
import { Notice } from '../components/notice.tsx';
import { Button } from '../components/ui/button.tsx';
import { EXAMPLE_TOOLS, readTools } from './tool-list.ts';

const JsonEditor = lazy(() =>
  import('../components/json-editor.tsx').then(({ JsonEditor }) => ({ default: JsonEditor })),
);

interface ToolSettingsProps {
  readonly tools: string;
  readonly isOn: boolean;
  readonly onChange: (tools: string) => void;
}

export function ToolSettings({ tools, isOn, onChange }: ToolSettingsProps) {
  const { fault } = readTools(tools);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-center justify-between text-xs font-medium text-muted">
        <span>Tools{!isOn && ' (tool calling is off on this server)'}</span>
        <Button size="sm" variant="ghost" onClick={() => onChange(tools === '' ? EXAMPLE_TOOLS : '')}>
          {tools === '' ? 'Add tools' : 'Remove'}
        </Button>
      </div>
      {tools !== '' && (
        <Suspense fallback={<Notice>Loading the editor…</Notice>}>
          <JsonEditor label="Tools" value={tools} onChange={next => next !== tools && onChange(next)} />
        </Suspense>
      )}
      {fault !== undefined && <p className="text-xs text-danger">{fault}</p>}
    </div>
  );
}
