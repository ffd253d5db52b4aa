// The script of a page. TanStack Router reloads the window where a script cannot be fetched, which is right after an update of
// the server: the new index.html names the new scripts. With the server away it would leave the error page of the browser.

import { lazyRouteComponent } from '@tanstack/react-router';
import { serverUrl } from '../connection/server-url.ts';

/** The component of a page whose script is fetched when the page is opened; again where that failed before. */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (error) {
      throw (await isServerThere()) ? error : new Error('The server does not answer.', { cause: error });
    }
  }, name);

async function isServerThere(): Promise<boolean> {
  try {
    return (await fetch(serverUrl('version'), { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
