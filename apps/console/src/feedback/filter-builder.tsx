// The builder of filters: every operator of the language, nested to any depth. It edits nodes; filter-json.ts is the JSON beside
// it.

import { useId } from 'react';
import { Button } from '../components/ui/button.tsx';
import { Checkbox, Select } from '../components/ui/input.tsx';
import type { FieldInfo } from './field-info.ts';
import {
  CONDITION_NAMES,
  type ConditionName,
  type FieldType,
  operatorOf,
  operatorsFor,
  subjectOf,
  withKind,
  withOperator,
} from './filter-edit.ts';
import {
  CONVERT_TARGETS,
  type ConvertTarget,
  type FilterNode,
  type Group,
  group,
  isCondition,
  type Kind,
  literal,
  newCondition,
} from './filter-node.ts';
import { FieldInput, LiteralInput } from './operand-inputs.tsx';
import { fieldType } from './settle-types.ts';

interface EditorProps<Node extends FilterNode = FilterNode> {
  readonly node: Node;
  readonly fields: readonly FieldInfo[];
  readonly onChange: (node: FilterNode) => void;
}

/** A group of conditions with what is added to it. */
export function GroupEditor({
  node,
  fields,
  onChange,
  onRemove,
}: EditorProps<Group> & { readonly onRemove?: () => void }) {
  const setChild = (index: number, child: FilterNode) =>
    onChange({ ...node, children: node.children.map((each, at) => (at === index ? child : each)) });
  const removeChild = (index: number) =>
    onChange({ ...node, children: node.children.filter((_, at) => at !== index) });
  const add = (child: FilterNode) => onChange({ ...node, children: [...node.children, child] });
  return (
    <fieldset className="min-w-0 rounded-md border bg-surface p-2">
      <legend className="flex items-center gap-2 px-1 text-xs text-muted">
        <Select
          aria-label="Group"
          className="h-6 w-20 text-xs"
          value={node.operator}
          onChange={({ target }) => onChange({ ...node, operator: target.value as Group['operator'] })}
        >
          <option value="$and">all of</option>
          <option value="$or">any of</option>
        </Select>
      </legend>
      <ul className="flex flex-col gap-1.5">
        {node.children.map((child, index) => (
          <li key={`${index} of ${node.children.length}`} className="flex items-start gap-1">
            <div className="min-w-0 flex-1">
              <ConditionEditor node={child} fields={fields} onChange={next => setChild(index, next)} />
            </div>
            <Button
              variant="ghost"
              size="icon"
              aria-label="Remove condition"
              onClick={() => removeChild(index)}
            >
              ×
            </Button>
          </li>
        ))}
      </ul>
      <div className="mt-2 flex flex-wrap gap-1">
        <Button size="sm" onClick={() => add(newCondition(fields[0]?.name ?? ''))}>
          Add condition
        </Button>
        <Button
          size="sm"
          onClick={() =>
            add(group(node.operator === '$and' ? '$or' : '$and', newCondition(fields[0]?.name ?? '')))
          }
        >
          Add group
        </Button>
        <Button size="sm" onClick={() => add({ kind: 'not', child: newCondition(fields[0]?.name ?? '') })}>
          Add negation
        </Button>
        {onRemove !== undefined && (
          <Button size="sm" variant="danger" onClick={onRemove}>
            Remove group
          </Button>
        )}
      </div>
    </fieldset>
  );
}

function ConditionEditor({ node, fields, onChange }: EditorProps) {
  if (node.kind === 'group') return <GroupEditor node={node} fields={fields} onChange={onChange} />;
  if (node.kind === 'not')
    return (
      <div className="flex items-start gap-2 rounded-md border border-dashed p-1.5">
        <span className="pt-1.5 text-xs text-muted">not</span>
        <div className="min-w-0 flex-1">
          <ConditionEditor
            node={node.child}
            fields={fields}
            onChange={child => onChange({ ...node, child })}
          />
        </div>
        <Button size="sm" variant="ghost" onClick={() => onChange(node.child)}>
          Drop “not”
        </Button>
      </div>
    );
  // A value as a condition: true unless it is null, 0, false or empty.
  if (!isCondition(node))
    return <OperandEditor node={node} fields={fields} onChange={onChange} label="Value" />;
  const subject = subjectOf(node);
  const type = fieldType(subject, fields);
  const setSubject = (next: FilterNode) => {
    if (node.kind === 'compare') onChange({ ...node, left: next });
    else if (node.kind === 'member') onChange({ ...node, value: next });
    else if (node.kind === 'text' || node.kind === 'exists') onChange({ ...node, input: next });
  };
  return (
    <div className="flex flex-wrap items-start gap-1.5">
      <OperandEditor node={subject} fields={fields} onChange={setSubject} label="Field" />
      <Select
        aria-label="Operator"
        className="w-32"
        value={operatorOf(node) ?? ''}
        onChange={({ target }) => onChange(withOperator(node, target.value as ConditionName))}
      >
        {operatorsFor(type).map(operator => (
          <option key={operator} value={operator}>
            {CONDITION_NAMES[operator]}
          </option>
        ))}
      </Select>
      <ObjectEditor node={node} fields={fields} onChange={onChange} type={type} />
    </div>
  );
}

/** The other side of a condition. */
function ObjectEditor({ node, fields, onChange, type }: EditorProps & { readonly type: FieldType }) {
  const id = useId();
  if (node.kind === 'compare')
    return (
      <OperandEditor
        node={node.right}
        fields={fields}
        type={type}
        label="Value"
        onChange={right => onChange({ ...node, right })}
      />
    );
  if (node.kind === 'text')
    return (
      <>
        <OperandEditor
          node={node.needle}
          fields={fields}
          label="Text"
          onChange={needle => onChange({ ...node, needle })}
        />
        <span className="flex h-8 items-center gap-1.5 text-xs">
          <Checkbox
            id={id}
            checked={node.ignoresCase}
            onChange={({ target }) => onChange({ ...node, ignoresCase: target.checked })}
          />
          <label htmlFor={id}>any case</label>
        </span>
      </>
    );
  if (node.kind === 'member')
    return (
      <div className="flex flex-col gap-1">
        {node.list.map((element, index) => (
          <span key={`${index} of ${node.list.length}`} className="flex gap-1">
            <OperandEditor
              node={element}
              fields={fields}
              type={type}
              label={`Value ${index + 1}`}
              onChange={next =>
                onChange({ ...node, list: node.list.map((each, at) => (at === index ? next : each)) })
              }
            />
            <Button
              variant="ghost"
              size="icon"
              aria-label={`Remove value ${index + 1}`}
              onClick={() => onChange({ ...node, list: node.list.filter((_, at) => at !== index) })}
            >
              ×
            </Button>
          </span>
        ))}
        <Button
          size="sm"
          className="self-start"
          onClick={() => onChange({ ...node, list: [...node.list, literal('')] })}
        >
          Add value
        </Button>
      </div>
    );
  return null;
}

const OPERAND_NAMES: Readonly<Partial<Record<Kind, string>>> = {
  field: 'field',
  literal: 'value',
  convert: 'convert',
  size: 'size of',
  group: 'condition',
};

interface OperandProps extends EditorProps {
  readonly label: string;
  /** Type of the field that it is compared with. */
  readonly type?: FieldType;
}

/** A field, a value, a conversion, a size, or a condition as a value. */
function OperandEditor({ node, fields, onChange, label, type = 'unknown' }: OperandProps) {
  const shown = isCondition(node) ? 'group' : node.kind;
  return (
    <div className="flex min-w-0 flex-wrap items-start gap-1">
      <Select
        aria-label={`${label}: kind`}
        className="w-20 text-xs"
        value={shown}
        onChange={({ target }) => onChange(withKind(node, target.value as Kind))}
      >
        {Object.entries(OPERAND_NAMES).map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </Select>
      {node.kind === 'field' && (
        <FieldInput label={label} name={node.name} fields={fields} onChange={onChange} />
      )}
      {node.kind === 'literal' && <LiteralInput label={label} node={node} type={type} onChange={onChange} />}
      {(node.kind === 'convert' || node.kind === 'size') && (
        <OperandEditor
          node={node.input}
          fields={fields}
          label={`${label}: input`}
          onChange={input => onChange({ ...node, input })}
        />
      )}
      {node.kind === 'convert' && (
        <Select
          aria-label={`${label}: convert to`}
          className="w-24"
          value={node.to}
          onChange={({ target }) => onChange({ ...node, to: target.value as ConvertTarget })}
        >
          {CONVERT_TARGETS.map(target => (
            <option key={target}>{target}</option>
          ))}
        </Select>
      )}
      {isCondition(node) && <ConditionEditor node={node} fields={fields} onChange={onChange} />}
    </div>
  );
}
