#!/usr/bin/env node
// Main module of the `ortler` command line. It imports nothing before it has looked at the version of Node: older ones lack modules
// that the rest imports, and would name one of those.

/** Earlier versions warn of SQLite; before 24.9 `fetch` left the connection of an aborted request open. */
const MIN_NODE = [24, 15] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  process.stderr.write(`Ortler needs Node ${MIN_NODE.join('.')} or newer; this is ${process.version}.\n`);
  process.exitCode = 1;
} else await import('./command-line.ts');
