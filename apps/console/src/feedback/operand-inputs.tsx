// Inputs of one operand of a filter: the name of a field, and a value with its type.

import { useId, useState } from 'react';
import { Input, Select } from '../components/ui/input.tsx';
import type { FieldInfo } from './field-info.ts';
import { type FieldType, literalOfType, typedLiteral } from './filter-edit.ts';
import { type FilterNode, field, type Literal, literal } from './filter-node.ts';

interface FieldInputProps {
  readonly label: string;
  readonly name: string;
  readonly fields: readonly FieldInfo[];
  readonly onChange: (node: FilterNode) => void;
}

/** A field, with those that the payloads have as suggestions. */
export function FieldInput({ label, name, fields, onChange }: FieldInputProps) {
  const id = useId();
  return (
    <>
      <Input
        aria-label={label}
        list={id}
        className="w-48 font-mono text-xs"
        placeholder="payload.score"
        spellCheck={false}
        value={name}
        onChange={({ target }) => onChange(field(target.value))}
      />
      <datalist id={id}>
        {fields.map(each => (
          <option key={each.name} value={each.name}>
            {each.type}
          </option>
        ))}
      </datalist>
    </>
  );
}

const TYPE_NAMES = { string: 'text', number: 'number', boolean: 'true/false', object: 'null' } as const;
type LiteralType = keyof typeof TYPE_NAMES;

interface LiteralProps {
  readonly label: string;
  readonly node: Literal;
  readonly type: FieldType;
  readonly onChange: (node: FilterNode) => void;
}

/** A text, number, truth value or null. */
export function LiteralInput({ label, node: { value, typed }, type, onChange }: LiteralProps) {
  const current = typeof value as LiteralType;
  const isChosenNumber = current === 'number' && typed === undefined;
  // The text of a chosen number, as long as it stands for the value: `0.` on the way to `0.5`.
  const [draft, setDraft] = useState(String(value));
  const text = typed ?? (literalOfType(draft, 'numeric').value === value ? draft : String(value));
  const choose = (chosen: LiteralType) => {
    const text = String(value ?? '');
    const number = Number(text);
    const values = {
      string: text,
      number: text.trim() !== '' && Number.isFinite(number) ? number : 0,
      boolean: text === 'true',
      object: null,
    };
    onChange(literal(values[chosen]));
  };
  return (
    <>
      {(current === 'string' || current === 'number') && (
        <Input
          aria-label={label}
          className="w-36"
          value={text}
          onChange={({ target }) => {
            setDraft(target.value);
            // `5` is a number where the field has numbers.
            onChange(
              isChosenNumber ? literalOfType(target.value, 'numeric') : typedLiteral(target.value, type),
            );
          }}
        />
      )}
      {current === 'boolean' && (
        <Select
          aria-label={label}
          className="w-24"
          value={String(value)}
          onChange={({ target }) => onChange(literal(target.value === 'true'))}
        >
          <option>true</option>
          <option>false</option>
        </Select>
      )}
      <Select
        aria-label={`${label}: type`}
        className="w-24 text-xs"
        value={current}
        onChange={({ target }) => choose(target.value as LiteralType)}
      >
        {Object.entries(TYPE_NAMES).map(([name, shown]) => (
          <option key={name} value={name}>
            {shown}
          </option>
        ))}
      </Select>
    </>
  );
}
