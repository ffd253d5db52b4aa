import { expect, it } from 'vitest';
import { DECODER_GOLDENS } from '../../test/decoder-golden.ts';
import { parseDecoderConfig } from './read-decoder-config.ts';
import { variantFault } from './variant-fault.ts';

const configOf = (name: string) => DECODER_GOLDENS.find(({ family }) => family === name)!.cases[0]!.config;
const NEMOTRON_H = configOf('nemotron_h');

it.each([
  ['M-M*-M', 'layer 0 has a recurrent state (mamba-2)'],
  ['-*--*-', 'layer 0 has no attention'],
  ['******', 'layer 0 has no MLP'],
])('layers %s are for the CPU kernels alone', (hybrid_override_pattern, reason) => {
  const config = parseDecoderConfig('config.json', { ...NEMOTRON_H, hybrid_override_pattern });
  expect(variantFault('kernels', config)).toBeUndefined();
  for (const variant of ['slots', 'device-slots', 'paged'] as const)
    expect(variantFault(variant, config)?.message).toBe(`${reason}, which only the CPU kernels compute`);
});

it('latent attention is for the CPU kernels alone', () => {
  const config = parseDecoderConfig('config.json', configOf('minicpm3'));
  expect(variantFault('kernels', config)).toBeUndefined();
  for (const variant of ['slots', 'device-slots', 'paged'] as const)
    expect(variantFault(variant, config)).toEqual({
      key: 'kv_lora_rank',
      message: 'only the CPU kernels compute multi-head latent attention',
    });
});
