// The head of a table: one row with the names of its columns.

export function TableHead({ names, cell }: { readonly names: readonly string[]; readonly cell: string }) {
  return (
    <thead className="text-xs text-muted">
      <tr>
        {names.map((name, index) => (
          <th key={`${name} ${index}`} scope="col" className={`${cell} font-medium`}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
