import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OTHER_MODELS } from '../src/architectures/other-models.ts';
import { parseDecoderConfig } from '../src/architectures/read-decoder-config.ts';
import { OTHER_ARCHITECTURES } from '../src/gguf/other-architectures.ts';
import { BUILT_MODELS, modelsPage, PAGE } from './models-page.ts';

describe('docs/models.md', () => {
  it('is what the tables say: node packages/model-builder/test/write-models-page.ts', () => {
    const page = readFileSync(join(import.meta.dirname, '../../..', PAGE), 'utf8');
    expect(page).toBe(modelsPage());
  });

  it('says of no model type that is built what it would need', () => {
    expect(BUILT_MODELS.filter(([type]) => Object.hasOwn(OTHER_MODELS, type))).toEqual([]);
  });
});

it.each(Object.entries(OTHER_MODELS))(
  'a %s is refused by name with what it would need',
  (type, { names, needs }) => {
    const parse = () => parseDecoderConfig('config.json', { model_type: type });
    expect(parse).toThrow(`key model_type: is "${type}" (${names}), which would need ${needs}; supported: `);
    expect(parse).toThrow(expect.objectContaining({ code: 'unsupported', key: 'model_type' }));
  },
);

it('names a model type that is known for every other name of GGUF', () => {
  const unknown = Object.entries(OTHER_ARCHITECTURES).filter(
    ([, type]) => !Object.hasOwn(OTHER_MODELS, type),
  );
  expect(unknown).toEqual([]);
});
