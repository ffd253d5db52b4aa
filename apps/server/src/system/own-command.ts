// How a user runs a further command: in the way in which this program was started, because a clone and npx put no `ortler` on the path.

/** The scripts of this repository that run this program, as npm tells them. */
const CLONE_SCRIPT = /^node scripts\/run\.mjs (start|dev|ortler)\b/;

/**
 * A command as the user can type it: `npm run ortler -- keys list`, `npx ortler keys list` or `ortler keys list`.
 * @param env What npm tells the programs that it starts.
 */
export function ownCommand(command: string, env: NodeJS.ProcessEnv = process.env): string {
  if (CLONE_SCRIPT.test(env.npm_lifecycle_script ?? '')) return `npm run ortler -- ${command}`;
  return env.npm_lifecycle_event === 'npx' ? `npx ortler ${command}` : `ortler ${command}`;
}
