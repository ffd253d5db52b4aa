// Which rules of a grammar may become terminals. llguidance reads terminals greedily: it never ends one while the text
// goes on matching it. A rule may be read so only where that cannot take away characters that what follows needs.

import type { EbnfGrammar } from './ebnf-node.ts';
import { rulesIn } from './parse-ebnf.ts';

/** Names of the rules to write as terminals. */
export function chooseTerminals(rules: EbnfGrammar): ReadonlySet<string> {
  const regular = regularRules(rules);
  // A grammar that is regular as a whole is one terminal: nothing follows it.
  return regular.has('root') ? regular : new Set();
}

/** Rules that mention no rule that leads back to them. */
function regularRules(rules: EbnfGrammar): ReadonlySet<string> {
  const regular = new Set<string>();
  let before = -1;
  while (before !== regular.size) {
    before = regular.size;
    for (const [name, node] of rules)
      if ([...rulesIn(node)].every(used => regular.has(used))) regular.add(name);
  }
  return regular;
}
