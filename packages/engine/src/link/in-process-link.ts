// The link to a token side in this thread: each model call blocks it. For unit tests and small scripts.

import type { CoreOptions } from '../protocol/options.ts';
import type { CoreLink } from './core-link.ts';
import { CoreLoop, type LoadCore } from './core-loop.ts';
import type { RestartPolicy } from './restart-schedule.ts';
import { SupervisedLink } from './supervised-link.ts';

export function createInProcessLink(options: CoreOptions, load: LoadCore, policy?: RestartPolicy): CoreLink {
  return new SupervisedLink(
    options,
    events => {
      let isEnding = false;
      const loop = new CoreLoop(load, message => {
        if (!isEnding) events.onMessage(message);
      });
      const ended = loop.run();
      void ended.then(() => {
        if (!isEnding) events.onExit('loop ended');
      });
      return {
        send: message => loop.receive(message),
        end: async () => {
          isEnding = true;
          loop.receive({ kind: 'close' });
          await ended;
        },
      };
    },
    { policy },
  );
}
