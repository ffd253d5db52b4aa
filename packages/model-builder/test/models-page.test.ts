import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KNOWN_MODELS } from '../src/architectures/known-models.ts';
import { parseDecoderConfig } from '../src/architectures/read-decoder-config.ts';
import { BUILT_TYPES, modelsPage, PAGE } from './models-page.ts';

describe('docs/models.md', () => {
  it('is what the tables say: node packages/model-builder/test/write-models-page.ts', () => {
    const page = readFileSync(join(import.meta.dirname, '../../..', PAGE), 'utf8');
    expect(page).toBe(modelsPage());
  });

  it('names every model type that is built', () => {
    expect(BUILT_TYPES.filter(type => KNOWN_MODELS[type] === undefined)).toEqual([]);
  });
});

it.each(Object.entries(KNOWN_MODELS).filter(([type]) => !BUILT_TYPES.includes(type)))(
  'a %s is refused by name with what it would need',
  (type, { names, needs }) => {
    const parse = () => parseDecoderConfig('config.json', { model_type: type });
    expect(parse).toThrow(`key model_type: is "${type}" (${names}), which would need ${needs}; allowed are`);
    expect(parse).toThrow(expect.objectContaining({ code: 'unsupported', key: 'model_type' }));
  },
);
