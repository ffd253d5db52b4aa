// Tools whose schemas have the kinds of values that calls have.

import type { Tool } from '../src/tool-dialect.ts';

const tool = (name: string, parameters: Tool['parameters']): Tool => ({ name, parameters, isStrict: false });

export const EXAMPLE_TOOLS: readonly Tool[] = [
  tool('get_weather', {
    type: 'object',
    properties: {
      city: { type: 'string' },
      unit: { enum: ['celsius', 'fahrenheit'] },
      days: { type: 'integer', minimum: 1, maximum: 14 },
    },
    required: ['city'],
  }),
  tool('get_weather_station', {
    type: 'object',
    properties: { note: { anyOf: [{ type: 'string' }, { type: 'null' }] }, wet: { type: 'boolean' } },
    required: ['note', 'wet'],
  }),
  tool('save', {
    type: 'object',
    properties: {
      point: {
        type: 'object',
        properties: { x: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } } },
        required: ['x', 'tags'],
      },
      all: { type: 'array', items: { $ref: '#/$defs/kind' } },
    },
    required: ['point'],
    $defs: { kind: { enum: ['a', 'b"c'] } },
  }),
  tool('ping', { type: 'object', properties: {} }),
];
