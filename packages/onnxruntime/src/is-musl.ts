// Which C library this Linux has: native libraries are compiled for one of them.

let found: boolean | undefined;

/** Whether Node runs on Linux with another C library than glibc, which is musl. */
export function isMusl(): boolean {
  found ??= process.platform === 'linux' && readGlibcVersion() === undefined;
  return found;
}

/** Of Node's types, which lack `excludeNetwork`. */
interface Report {
  excludeNetwork: boolean;
  getReport(): object;
}

/** Node reports the version of glibc where it runs on that. */
function readGlibcVersion(): string | undefined {
  const report = process.report as unknown as Report;
  const { excludeNetwork } = report;
  // Otherwise it asks for the names of all connected hosts.
  report.excludeNetwork = true;
  const { header } = report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  report.excludeNetwork = excludeNetwork;
  return header.glibcVersionRuntime;
}
