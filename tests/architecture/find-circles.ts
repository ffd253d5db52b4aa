// Circles of imports, for the boundary test. It knows nothing of files but their names.

import type { SourceImport } from './imports.ts';

/**
 * Circles of imports, each as its files in order: none where there is none, and at least one for every group of files that
 * reach each other. Where the search begins decides which ones of a group are found, so mend one and look again.
 */
export function findCircles(imports: readonly SourceImport[]): readonly string[] {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    const start = path.indexOf(file);
    if (start >= 0) circles.push([...path.slice(start), file].join(' -> '));
    if (start >= 0 || finished.has(file)) return;
    for (const { to } of targets.get(file) ?? []) visit(to, [...path, file]);
    finished.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return circles;
}
