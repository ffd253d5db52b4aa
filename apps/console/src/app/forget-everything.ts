// What a person leaves in a browser that others use too.

import { THEME_STORAGE } from '../components/theme.ts';

/** Removes the key and all that was written, asked and set here. The theme stays. */
export function forgetEverything(): void {
  for (const storage of [localStorage, sessionStorage])
    for (const name of Object.keys(storage))
      if (name.startsWith('ortler-') && name !== THEME_STORAGE) storage.removeItem(name);
}
