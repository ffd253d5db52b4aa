// The form of the answer: any text, or a structured output. A schema is made from a form, or written.

import { LazyJsonEditor } from '../components/lazy-json-editor.tsx';
import { Button } from '../components/ui/button.tsx';
import { Field } from '../components/ui/field.tsx';
import { Input, Select, Textarea } from '../components/ui/input.tsx';
import {
  type AnswerFormat,
  FORMAT_NAMES,
  type FormatKind,
  PROPERTY_TYPES,
  type SchemaProperty,
  toFormatFields,
  toProperties,
  toSchema,
} from './answer-format.ts';

interface FormatSettingsProps {
  readonly format: AnswerFormat;
  readonly onChange: (format: AnswerFormat) => void;
}

const NEW_PROPERTY: SchemaProperty = { name: '', type: 'string', values: '' };
const print = (rows: readonly SchemaProperty[]) => JSON.stringify(toSchema(rows), null, 2);

export function FormatSettings({ format, onChange }: FormatSettingsProps) {
  const { kind, text } = format;
  const { fault } = toFormatFields(format);
  const choose = (chosen: FormatKind) =>
    onChange({ kind: chosen, text: chosen === 'schema' ? print([{ ...NEW_PROPERTY, name: 'answer' }]) : '' });
  return (
    <div className="flex flex-col gap-2">
      <Field label="Form of the answer">
        {ids => (
          <Select {...ids} value={kind} onChange={({ target }) => choose(target.value as FormatKind)}>
            {Object.entries(FORMAT_NAMES).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {kind === 'schema' && (
        <>
          <SchemaForm rows={toProperties(text)} onChange={rows => onChange({ kind, text: print(rows) })} />
          <LazyJsonEditor
            label="JSON Schema"
            value={text}
            onChange={next => next !== text && onChange({ kind, text: next })}
          />
        </>
      )}
      {(kind === 'choice' || kind === 'regex') && (
        <Textarea
          aria-label={FORMAT_NAMES[kind]}
          rows={kind === 'choice' ? 3 : 1}
          className="min-h-8 font-mono text-xs"
          value={text}
          onChange={({ target }) => onChange({ kind, text: target.value })}
        />
      )}
      {fault !== undefined && <p className="text-xs text-danger">{fault}</p>}
    </div>
  );
}

interface SchemaFormProps {
  /** Null: the schema says more than the form can show. */
  readonly rows: readonly SchemaProperty[] | null;
  readonly onChange: (rows: readonly SchemaProperty[]) => void;
}

function SchemaForm({ rows, onChange }: SchemaFormProps) {
  if (rows === null) return <p className="text-xs text-muted">This schema is edited as JSON only.</p>;
  const set = (index: number, changed: Partial<SchemaProperty>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...changed } : row)));
  return (
    <div className="flex flex-col gap-1">
      {rows.map((row, index) => (
        <div key={`${index} of ${rows.length}`} className="flex flex-wrap gap-1">
          <Input
            aria-label={`Property ${index + 1}`}
            className="h-7 w-24 flex-1 text-xs"
            value={row.name}
            onChange={({ target }) => set(index, { name: target.value })}
          />
          <Select
            aria-label={`Type of property ${index + 1}`}
            className="h-7 w-24 text-xs"
            value={row.type}
            onChange={({ target }) => set(index, { type: target.value as SchemaProperty['type'] })}
          >
            {PROPERTY_TYPES.map(type => (
              <option key={type}>{type}</option>
            ))}
          </Select>
          <Button
            variant="ghost"
            size="icon"
            aria-label={`Remove property ${index + 1}`}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          >
            ×
          </Button>
          {row.type === 'one of' && (
            <Input
              aria-label={`Values of property ${index + 1}`}
              className="h-7 text-xs"
              placeholder="good, bad"
              value={row.values}
              onChange={({ target }) => set(index, { values: target.value })}
            />
          )}
        </div>
      ))}
      <Button
        size="sm"
        className="self-start"
        onClick={() => onChange([...rows, { ...NEW_PROPERTY, name: `property${rows.length + 1}` }])}
      >
        Add property
      </Button>
    </div>
  );
}
