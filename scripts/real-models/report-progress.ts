// Progress of a download in lines, for terminals and logs alike.

const STEP_PERCENT = 10;

/** Writes a line to stderr at every tenth of a file. */
export function reportProgress(): (file: string, doneBytes: number, totalBytes: number) => void {
  let shown = '';
  return (file, doneBytes, totalBytes) => {
    const percent =
      totalBytes > 0 ? Math.floor((100 * doneBytes) / totalBytes / STEP_PERCENT) * STEP_PERCENT : 0;
    const line = `downloading ${file}: ${percent} % of ${Math.round(totalBytes / 1e6)} MB`;
    if (line !== shown) console.error(line);
    shown = line;
  };
}
