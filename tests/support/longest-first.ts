// The order of test files. Without times of earlier runs, Vitest begins with the largest files. Small ones that run for half a
// minute would be the last ones, and keep one worker busy while the others have nothing left to do.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONG_BUT_SMALL = [
  'packages/feedback-query/test/clickhouse.test.ts',
  'packages/kernels/c-test/instruction-sets.test.ts',
  'packages/kernels/c-test/libraries.test.ts',
  'tests/engine/device-slots-families.gpu.test.ts',
  'tests/fuzz/endpoints.test.ts',
  'tests/sdk/training-python.test.ts',
  'tests/setup/packages-alone.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const [first, others] = [true, false].map(isFirst =>
      sorted.filter(({ moduleId }) => LONG_BUT_SMALL.some(name => moduleId.endsWith(name)) === isFirst),
    );
    return [...first!, ...others!];
  }
}
