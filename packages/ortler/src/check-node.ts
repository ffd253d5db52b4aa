// The first import of the package: what it runs on, before all else. Modules after it use what an older Node lacks, and would name
// that alone.

if (typeof Float16Array === 'undefined')
  throw new Error(`Ortler needs Node 24.15 or newer; this is ${process.version}.`);
if (process.versions.pnp !== undefined)
  throw new Error(
    "Ortler does not run under Plug'n'Play, which replaces Node's files: install with `nodeLinker: node-modules` in .yarnrc.yml.",
  );
