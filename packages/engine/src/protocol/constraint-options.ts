// Limits that the host puts on constraints of requests.

import type { ConstraintPreparerOptions } from '@ortler/structured-output';

export type ConstraintOptions = Pick<ConstraintPreparerOptions, 'limits' | 'timeLimitMs'>;
