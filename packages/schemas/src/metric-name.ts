// Metric names: keys that every database can store in an index.

import { z } from 'zod';
import { isStorableText } from './storable-text.ts';

/** Unit: UTF-16 code units. */
export const MAX_METRIC_NAME_LENGTH = 200;

export const metricName = z
  .string()
  .min(1)
  .max(MAX_METRIC_NAME_LENGTH)
  .refine(
    isStorableText,
    'Value error, a metric name must not contain control characters or lone surrogates',
  );
