// Values of the option `toolDialect`; @ortler/tool-calling has the dialects.

import { TOOL_DIALECT_NAMES } from '@ortler/tool-calling';

/**
 * `auto`: the dialect in which the chat template writes past calls; `generic` where it writes none. `generic`: objects of JSON between
 * `<tool_call>` and `</tool_call>`, described to the model in the messages, whatever the template knows of tools.
 */
export const TOOL_DIALECT_OPTIONS = ['auto', 'generic', ...TOOL_DIALECT_NAMES] as const;

export type ToolDialectOption = (typeof TOOL_DIALECT_OPTIONS)[number];
