// Model and parameters of the next request.

import { memo, useId } from 'react';
import { cn } from '../components/class-names.ts';
import { Field } from '../components/ui/field.tsx';
import { Checkbox, Input, Select, Textarea } from '../components/ui/input.tsx';
import { FormatSettings } from './format-settings.tsx';
import { type ParameterDoc, useParameterDocs } from './parameter-docs.ts';
import { PARAMETERS, type Parameter, readParameters } from './parameters.ts';
import { modeOf, type Settings } from './saved-playground.ts';
import { ToolSettings } from './tool-settings.tsx';

interface SettingsPanelProps {
  readonly settings: Settings;
  readonly models: readonly string[];
  /** Whether the server lets models call tools. */
  readonly toolCalling: boolean;
  readonly onChange: (settings: Settings) => void;
}

/** Parameters that are shown without opening a group. */
const FIRST = ['temperature', 'max_completion_tokens', 'max_tokens', 'top_p', 'seed'];

/** An answer that streams does not render it again. */
export const SettingsPanel = memo(function SettingsPanel(props: SettingsPanelProps) {
  const { settings, models, toolCalling, onChange } = props;
  const mode = modeOf(settings);
  const docs = useParameterDocs(mode);
  const { faults } = readParameters(settings.parameters, mode);
  const offered = PARAMETERS.filter(({ only }) => only === undefined || only === mode);
  const field = (parameter: Parameter) => (
    <ParameterField
      key={parameter.name}
      parameter={parameter}
      doc={docs.get(parameter.name)}
      text={settings.parameters[parameter.name] ?? ''}
      fault={faults[parameter.name]}
      onChange={text =>
        onChange({ ...settings, parameters: { ...settings.parameters, [parameter.name]: text } })
      }
    />
  );
  const groups = [...new Set(offered.map(({ group }) => group))];
  return (
    <div className="flex flex-col gap-3 p-4">
      <Field label="Model">
        {ids => (
          <Select
            {...ids}
            value={settings.model}
            onChange={({ target }) => onChange({ ...settings, model: target.value })}
          >
            <option value="">Default of the server</option>
            {[...new Set([...models, ...(settings.model === '' ? [] : [settings.model])])].map(model => (
              <option key={model}>{model}</option>
            ))}
          </Select>
        )}
      </Field>
      {mode === 'chat' && (
        <Field label="System message">
          {ids => (
            <Textarea
              {...ids}
              rows={2}
              value={settings.system}
              onChange={({ target }) => onChange({ ...settings, system: target.value })}
            />
          )}
        </Field>
      )}
      {mode === 'chat' && (
        <FormatSettings format={settings.format} onChange={format => onChange({ ...settings, format })} />
      )}
      {mode === 'chat' && (toolCalling || settings.tools !== '') && (
        <ToolSettings
          tools={settings.tools}
          isOn={toolCalling}
          onChange={tools => onChange({ ...settings, tools })}
        />
      )}
      <HeatSettings settings={settings} onChange={onChange} />
      {offered.filter(({ name }) => FIRST.includes(name)).map(field)}
      {groups.map(group => {
        const members = offered.filter(each => each.group === group && !FIRST.includes(each.name));
        const setCount = members.filter(({ name }) => (settings.parameters[name] ?? '') !== '').length;
        const hasFault = members.some(({ name }) => faults[name] !== undefined);
        return (
          <details key={group} className="border-t pt-2">
            <summary className={cn('text-xs font-medium', hasFault ? 'text-danger' : 'text-muted')}>
              {group}
              {setCount > 0 && ` (${setCount} set)`}
            </summary>
            <div className="mt-2 flex flex-col gap-3">{members.map(field)}</div>
          </details>
        );
      })}
    </div>
  );
});

function HeatSettings({ settings, onChange }: Omit<SettingsPanelProps, 'models' | 'toolCalling'>) {
  const id = useId();
  return (
    <div className="flex items-center gap-2 text-sm">
      <Checkbox
        id={id}
        checked={settings.showHeat}
        onChange={({ target }) => onChange({ ...settings, showHeat: target.checked })}
      />
      <label htmlFor={id} className="flex-1">
        Token probabilities
      </label>
      <Input
        type="number"
        min={1}
        max={20}
        aria-label="Candidates for each token"
        className="h-7 w-16"
        value={settings.candidateCount}
        disabled={!settings.showHeat}
        onChange={({ target }) => {
          const count = Math.trunc(target.valueAsNumber);
          if (count >= 1 && count <= 20) onChange({ ...settings, candidateCount: count });
        }}
      />
    </div>
  );
}

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly doc: ParameterDoc | undefined;
  readonly text: string;
  readonly fault: string | undefined;
  readonly onChange: (text: string) => void;
}

function ParameterField({ parameter: { name, kind }, doc, text, fault, onChange }: ParameterFieldProps) {
  const fallback = doc?.default === undefined ? 'default' : `default ${doc.default}`;
  return (
    <Field label={<code>{name}</code>} hint={doc?.description} error={fault}>
      {ids => {
        const common = { ...ids, 'aria-invalid': fault !== undefined, value: text };
        if (kind === 'boolean' || typeof kind !== 'string')
          return (
            <Select {...common} onChange={({ target }) => onChange(target.value)}>
              <option value="">{fallback}</option>
              {(kind === 'boolean' ? ['true', 'false'] : kind).map(option => (
                <option key={option}>{option}</option>
              ))}
            </Select>
          );
        if (kind === 'number' || kind === 'integer')
          return (
            <Input
              {...common}
              inputMode={kind === 'number' ? 'decimal' : 'numeric'}
              placeholder={fallback}
              onChange={({ target }) => onChange(target.value)}
            />
          );
        return (
          <Textarea
            {...common}
            rows={kind === 'json' || kind === 'text' ? 2 : 1}
            className="min-h-8 font-mono text-xs"
            placeholder={kind === 'lines' ? 'one for each line' : kind === 'json' ? 'JSON' : fallback}
            onChange={({ target }) => onChange(target.value)}
          />
        );
      }}
    </Field>
  );
}
