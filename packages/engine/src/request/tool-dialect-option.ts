// Values of the option `toolDialect`; @ortler/tool-calling has the dialects.

import { TOOL_DIALECT_NAMES } from '@ortler/tool-calling';

/**
 * `auto`: the dialect whose marks the chat template has; `generic` where it has none. `generic`: objects of JSON between
 * `<tool_call>` and `</tool_call>`, described to the model in the messages, whatever the template knows of tools.
 */
export const TOOL_DIALECT_OPTIONS = ['auto', 'generic', ...TOOL_DIALECT_NAMES] as const;

export type ToolDialectOption = (typeof TOOL_DIALECT_OPTIONS)[number];
