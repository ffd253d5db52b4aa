// Settings of each connection, in the form of the `options` of PostgreSQL's start-up message. The operator's own come first, so that
// theirs hold where ours do not say otherwise.

/** What transactions and queries rely on, whatever a database or a role has as its default. */
const SESSION_SETTINGS = {
  // Under a stricter level a transaction that waited for a lock does not see what it waited for.
  default_transaction_isolation: 'read committed',
  // A server that is frozen or cut off within a transaction must not hold its locks for hours. It is half the time limit of statements, so
  // that those that wait for the locks still get them. Unit: milliseconds.
  idle_in_transaction_session_timeout: '15000',
  // Doubles are read as text. With fewer digits a cursor is not the value of its row.
  extra_float_digits: '1',
} as const;

/** Where the connection goes, and its `options`: the driver prefers those of the address, so they are taken out of it. */
export interface SessionOptions {
  readonly connectionString: string;
  readonly options: string;
}

/** @param settings Further settings. */
export function sessionOptions(
  url: string,
  settings: Readonly<Record<string, string>> = {},
  environment: NodeJS.ProcessEnv = process.env,
): SessionOptions {
  const address = new URL(url);
  const own = address.searchParams.get('options');
  address.searchParams.delete('options');
  const ours = Object.entries({ ...SESSION_SETTINGS, ...settings }).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
  );
  return {
    connectionString: own === null ? url : address.href,
    options: [own ?? environment.PGOPTIONS ?? '', ...ours].join(' ').trim(),
  };
}
