// Checks a caller's Lark grammar, which llguidance compiles as it is: its size, and rule options that would change sampling.

import type { ConstraintLimits } from '../constraint-spec.ts';
import { refuse } from '../refuse.ts';
import { checkPatternSize } from '../regex/check-regex.ts';

const RULE = /^[ \t]*[?!]?([A-Za-z_][A-Za-z0-9_-]*)(?:\.-?\d+)?[ \t]*(?:\[[^\]\n]*\])?[ \t]*:/gm;
/** Rule options that hide tokens from the model, change its sampling, or end a rule by length. */
const FORBIDDEN = /^[^"/\n]*\[[^\]\n]*\b(stop|stop_capture|temperature|max_tokens)\s*=/m;

/** String literals, comments, and regular expressions between slashes. */
const PATTERN = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|#[^\n]*|\/((?:[^/\\\n]|\\.)+)\//g;

/** The grammar with a `start` rule. Throws: `invalid_constraint`. */
export function checkLark(text: string, limits: ConstraintLimits): string {
  const rules = [...text.matchAll(RULE)].map(match => match[1]!);
  if (rules.length === 0) refuse('grammar', 'The grammar has no rule: neither name ::= ... nor name: ...');
  if (rules.length > limits.ruleCount)
    refuse('grammar', `A grammar may have ${limits.ruleCount} rules at most`);
  const option = FORBIDDEN.exec(text)?.[1];
  if (option !== undefined) refuse('grammar', `The rule option ${option} is not supported`);
  for (const pattern of larkPatterns(text)) checkPatternSize(pattern, 'grammar', limits);
  return rules.includes('start') ? text : `start: ${rules[0]}\n${text}`;
}

/** The regular expressions of a grammar. */
function larkPatterns(text: string): readonly string[] {
  return [...text.matchAll(PATTERN)].flatMap(([, pattern]) => (pattern === undefined ? [] : [pattern]));
}
