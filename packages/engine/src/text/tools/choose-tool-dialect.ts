// Which dialect the calls of a model have: the one that was set by name, or the one whose marks its chat template has.

import { findNamedDialect, NAMED_DIALECTS, type ToolDialect } from '@ortler/tool-calling';
import type { ToolDialectOption } from '../../request/tool-dialect-option.ts';

/** A dialect, and who shows tools and past calls to the model. */
export interface ChosenDialect {
  readonly dialect: ToolDialect;
  /** The template does not know tools: `written-tools.ts` puts them into the messages. */
  readonly isWritten: boolean;
}

const KNOWS_TOOLS = /\btools\b/;

/** @param template The chat template that the messages go through. */
export function chooseToolDialect(option: ToolDialectOption, template: string): ChosenDialect {
  const knowsTools = KNOWS_TOOLS.test(template);
  const generic: ChosenDialect = { dialect: NAMED_DIALECTS.hermes.dialect, isWritten: true };
  if (option === 'generic') return generic;
  if (option !== 'auto') {
    const { dialect } = NAMED_DIALECTS[option];
    return { dialect, isWritten: !knowsTools && option === 'hermes' };
  }
  const found = knowsTools ? findNamedDialect(template) : null;
  return found === null ? generic : { dialect: found.dialect, isWritten: false };
}
