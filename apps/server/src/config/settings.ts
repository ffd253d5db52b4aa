// The one table of settings, joined from its groups: environment variable, flag, default, meaning and check. Parsing,
// `--help` and the README's table are all made from it, in this order.

import { CONSTRAINT_SETTINGS } from './settings/constraint-settings.ts';
import { DATA_SETTINGS } from './settings/data-settings.ts';
import { GENERATION_SETTINGS } from './settings/generation-settings.ts';
import { MODEL_SETTINGS } from './settings/model-settings.ts';
import { SERVER_SETTINGS } from './settings/server-settings.ts';

export const SETTINGS = {
  ...SERVER_SETTINGS,
  ...DATA_SETTINGS,
  ...MODEL_SETTINGS,
  ...GENERATION_SETTINGS,
  ...CONSTRAINT_SETTINGS,
} as const;
