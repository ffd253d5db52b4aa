// Runs before a package is packed. npm would leave `workspace:` and `catalog:` in the manifest, and exports that name
// sources; nobody could install such a tarball.

if (!(process.env.npm_config_user_agent ?? '').startsWith('pnpm/')) {
  console.error('Pack with `npm run pack` in the root of the repository: only pnpm fills in the versions.');
  process.exitCode = 1;
}
