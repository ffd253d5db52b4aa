// The first import of the package: modules after it use what an older Node lacks, and would name that alone.

if (typeof Float16Array === 'undefined')
  throw new Error(`Ortler needs Node 24.15 or newer; this is ${process.version}.`);
