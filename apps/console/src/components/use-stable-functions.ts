// Functions for memoised components.

import { useRef, useState } from 'react';

type Functions<Given> = { readonly [Name in keyof Given]: (...values: never[]) => void };

/** The same functions in every render; each does what that of the last render does. Their names must not change. */
export function useStableFunctions<Given extends Functions<Given>>(functions: Given): Given {
  const latest = useRef(functions);
  latest.current = functions;
  const [stable] = useState(() => {
    const call =
      (name: keyof Given) =>
      (...values: never[]) =>
        latest.current[name](...values);
    const names = Object.keys(functions) as (keyof Given & string)[];
    return Object.fromEntries(names.map(name => [name, call(name)])) as unknown as Given;
  });
  return stable;
}
