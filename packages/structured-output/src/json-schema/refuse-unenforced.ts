// Where the grammar must say everything, a schema may hold no keyword that it does not enforce.

import { refuse } from '../refuse.ts';
import type { NormalisedSchema } from './normalise-schema.ts';

/** `within` is the place of the schema in what the caller wrote. Throws: `invalid_constraint` naming the first such keyword. */
export function refuseUnenforced({ unenforced }: NormalisedSchema, within = '#'): void {
  const first = unenforced[0];
  if (first === undefined) return;
  const place = within + first.place.slice(1);
  refuse(place, `The keyword ${first.keyword} cannot be enforced while the text is generated`);
}
