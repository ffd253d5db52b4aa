// The tools that the model may call.

import { LazyJsonEditor } from '../components/lazy-json-editor.tsx';
import { Button } from '../components/ui/button.tsx';
import { EXAMPLE_TOOLS, readTools } from './tool-list.ts';

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
        <LazyJsonEditor label="Tools" value={tools} onChange={next => next !== tools && onChange(next)} />
      )}
      {fault !== undefined && <p className="text-xs text-danger">{fault}</p>}
    </div>
  );
}
