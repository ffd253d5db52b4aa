// The `response_template` of a tokenizer's configuration, with which models of transformers 5.23 and later say how their answers
// are read: the part about tool calls, where it is JSON between two texts.

import { isSchema } from './merged-schema.ts';
import type { CallPart, ToolDialect } from './tool-dialect.ts';

/** Null where there is none, or its calls are written in another form. */
export function readResponseTemplate(template: unknown): ToolDialect | null {
  if (!isSchema(template) || (template.version ?? 1) !== 1 || !isSchema(template.fields)) return null;
  const field = template.fields.tool_calls;
  if (!isSchema(field) || field.content !== 'json' || field.content_args !== undefined) return null;
  const open = readLiteral(field.open);
  const close = field.close === undefined ? '' : readLiteral(field.close);
  const keys = readKeys(field.transform);
  if (open === null || close === null || keys === null) return null;
  const isList = field.transform_each === true;
  const call = (before: string, after: string): readonly CallPart[] => [
    { text: `${before}{"${keys.name}": "` },
    'name',
    { text: `", "${keys.arguments}": ` },
    'arguments',
    { text: `}${after}` },
  ];
  return {
    name: 'response_template',
    trigger: open,
    position: 'anywhere',
    section: isList ? { open: `${open}[`, close: `]${close}` } : { open: '', close: '' },
    separator: isList ? ', ' : '',
    ...(!isList && field.repeats !== true && { isSingle: true }),
    call: isList ? call('', '') : call(open, close),
    arguments: { kind: 'json' },
    ids: { kind: 'random', prefix: 'call_', length: 24 },
  };
}

/** The first of several texts is the one that models write. */
function readLiteral(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : null;
}

/** Keys of the model's JSON, by where the transformation puts their values. Without one: those of the message. */
function readKeys(transform: unknown): { readonly name: string; readonly arguments: string } | null {
  if (transform === undefined) return { name: 'name', arguments: 'arguments' };
  if (!isSchema(transform)) return null;
  const target = isSchema(transform.function) ? transform.function : transform;
  const keyOf = (value: unknown) =>
    typeof value === 'string' ? (/^\{(?:content\.)?(\w+)\}$/.exec(value)?.[1] ?? null) : null;
  const name = keyOf(target.name);
  const values = keyOf(target.arguments);
  return name === null || values === null ? null : { name, arguments: values };
}
