#!/usr/bin/env node
// Main module of the `ortler` command line. It imports nothing before it has looked at what it runs on: older versions of Node lack
// modules that the rest imports, and would name one of those.

/** Earlier versions warn of SQLite; before 24.9 `fetch` left the connection of an aborted request open. */
const MIN_NODE = [24, 15] as const;

const refusal = findRefusal(process.versions);
if (refusal === null) await import('./command-line.ts');
else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}

function findRefusal({ node, pnp }: NodeJS.ProcessVersions): string | null {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1]))
    return `Ortler needs Node ${MIN_NODE.join('.')} or newer; this is ${process.version}.`;
  if (pnp !== undefined)
    return "Ortler does not run under Plug'n'Play, which replaces Node's files: install with `nodeLinker: node-modules` in .yarnrc.yml.";
  return null;
}
