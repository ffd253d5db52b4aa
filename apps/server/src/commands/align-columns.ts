// Rows of a list on the terminal.

/** A line for each row; columns are as wide as their longest cell, and end together from number `right` on. */
export function alignColumns(rows: readonly (readonly string[])[], right: number): readonly string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)));
  const cell = (text: string, column: number) =>
    column < right ? text.padEnd(widths[column]!) : text.padStart(widths[column]!);
  return rows.map(row => row.map(cell).join('  ').trimEnd());
}
