// The way of calling that a manifest names.

import type { OrtBackend } from '@ortler/onnxruntime';
import type { ModelManifest } from '../../../graph-contract/index.ts';
import type { CallConvention } from './call-convention.ts';
import { LengthsConvention } from './lengths-convention.ts';
import { MaskConvention, type MaskConventionOptions } from './mask-convention.ts';

export function createConvention(
  backend: OrtBackend,
  { inputConvention = 'lengths' }: ModelManifest,
  options: MaskConventionOptions,
): CallConvention {
  switch (inputConvention) {
    case 'lengths':
      return new LengthsConvention(backend, options.inputNames);
    case 'mask':
      return new MaskConvention(backend, options);
  }
}
