// Workloads of the constraint benchmark: documents of the kind that programs ask for, with their schemas.

import type { ConstraintSpec } from '@ortler/engine';

export interface ConstraintWork {
  readonly spec: ConstraintSpec;
  /** An answer that the constraint allows. */
  readonly text: string;
}

const WORDS =
  'river stone lamp winter harbour glass copper field signal paper garden engine cloud market bridge'.split(
    ' ',
  );

const text = { type: 'string' };
const phrase = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => WORDS[(from * 7 + i * 3) % WORDS.length]).join(' ');

function works(index: number): ConstraintWork {
  const items = Array.from({ length: 40 }, (_, i) => index * 40 + i);
  switch (index % 4) {
    case 0:
      return json(
        {
          type: 'object',
          properties: {
            id: { type: 'integer' },
            customer: {
              type: 'object',
              properties: { name: text, email: { type: 'string', format: 'email' } },
              required: ['name', 'email'],
              additionalProperties: false,
            },
            lines: {
              type: 'array',
              items: {
                type: 'object',
                properties: {
                  sku: { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$' },
                  count: { type: 'integer', minimum: 1, maximum: 999 },
                  price: { type: 'number', minimum: 0 },
                },
                required: ['sku', 'count', 'price'],
                additionalProperties: false,
              },
            },
          },
          required: ['id', 'customer', 'lines'],
          additionalProperties: false,
        },
        {
          id: 100 + index,
          customer: { name: phrase(index, 2), email: 'anna@example.org' },
          lines: items.map(i => ({ sku: `ABC-${1000 + i}`, count: 1 + (i % 90), price: i + 0.5 })),
        },
      );
    case 1:
      return json(
        {
          type: 'array',
          items: { type: 'object', properties: { title: text, tags: { type: 'array', items: text } } },
        },
        items.map(i => ({ title: phrase(i, 5), tags: [phrase(i + 1, 1), phrase(i + 2, 2)] })),
        2,
      );
    case 2:
      return json(
        { type: 'object' },
        Object.fromEntries(items.map(i => [`key ${i}`, [phrase(i, 3), i, i % 2 === 0, null]])),
      );
    default:
      return json(
        {
          type: 'array',
          items: {
            anyOf: [
              {
                type: 'object',
                properties: { kind: { const: 'point' }, x: { type: 'number' }, y: { type: 'number' } },
                required: ['kind', 'x', 'y'],
                additionalProperties: false,
              },
              {
                type: 'object',
                properties: { kind: { const: 'label' }, text: { ...text, maxLength: 80 } },
                required: ['kind', 'text'],
                additionalProperties: false,
              },
            ],
          },
        },
        items.map(i =>
          i % 2 === 0 ? { kind: 'point', x: i, y: -i } : { kind: 'label', text: phrase(i, 6) },
        ),
        2,
      );
  }
}

function json(schema: object, value: unknown, indent?: number): ConstraintWork {
  return { spec: { jsonSchema: schema }, text: JSON.stringify(value, null, indent) };
}

/** Four kinds in turn, each with other content. */
export function createWorks(count: number): readonly ConstraintWork[] {
  return Array.from({ length: count }, (_, index) => works(index));
}
