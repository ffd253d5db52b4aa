// The main function of a child process that runs a token side. It never outlives its parent.

import { CoreLoop, type LoadCore } from './core-loop.ts';

export async function serveProcess(load: LoadCore): Promise<void> {
  const send = process.send?.bind(process);
  if (send === undefined) throw new Error('This module runs in a child process with an IPC channel only.');
  // The channel closes when the parent ends, however it ends.
  process.on('disconnect', () => process.exit(0));
  // Ctrl-C and service managers signal the whole group; the parent drains and then closes this process.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  let delivered: Promise<void> = Promise.resolve();
  const loop = new CoreLoop(load, message => {
    delivered = new Promise(resolve => send(message, undefined, undefined, () => resolve()));
  });
  process.on('message', message => loop.receive(message as Parameters<CoreLoop['receive']>[0]));
  await loop.run();
  // The last message may say why the loop ended; disconnecting must not overtake it.
  await delivered;
  process.disconnect();
}
