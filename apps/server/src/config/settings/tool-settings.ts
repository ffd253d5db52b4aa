// Tool calling: whether requests may ask for it, and the dialect of each model. Caller: `../settings.ts`.

import { TOOL_DIALECT_OPTIONS } from '@ortler/engine';
import { namesByModel, oneOf } from '../setting-values.ts';
import { setting } from './setting.ts';

export const TOOL_SETTINGS = {
  toolCalling: setting({
    variable: 'ORTLER_TOOL_CALLING',
    flag: '--tool-calling',
    valueName: 'on or off',
    fallback: 'off',
    description:
      'Tool calling: with on, a request with tools may be answered with calls of them (tool_choice auto, required or a function; auto if it does not say). With off, tool_choice is none: the prompt describes the tools, and the answer is text.',
    schema: oneOf(['on', 'off']),
  }),
  toolDialects: setting({
    variable: 'ORTLER_TOOL_DIALECT',
    flag: '--tool-dialect',
    valueName: 'name|id=name,...',
    fallback: 'auto',
    shownFallback: "auto, by the model's chat template",
    description: `Tool calling: dialect in which models write calls, for all models or per model: ${TOOL_DIALECT_OPTIONS.join(', ')}.`,
    schema: namesByModel(TOOL_DIALECT_OPTIONS, 'auto'),
  }),
} as const;
