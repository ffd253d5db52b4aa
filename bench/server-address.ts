// Where a server that was started as a process listens.

import type { Readable } from 'node:stream';

/** The address the server prints once it listens. Its output is read on, so that it never waits for us. */
export function serverAddress(output: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    output.on('data', data => {
      text += data;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found !== null) resolve(found[0]);
    });
    output.once('end', () => reject(new Error(`The server ended:\n${text}`)));
  });
}
