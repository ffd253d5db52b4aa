// The compiler, before the files that use it run at the same time.

import { installZig } from '../scripts/zig.mjs';

export async function setup(): Promise<void> {
  await installZig(console.error);
}
