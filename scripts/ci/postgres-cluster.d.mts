export interface PostgresCluster {
  readonly url: string;
  /** Cuts open sessions, ends the server, and starts it again on its data and port. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

/** Throws: when PostgreSQL is not installed, or does not start. */
export function startPostgresCluster(): Promise<PostgresCluster>;
