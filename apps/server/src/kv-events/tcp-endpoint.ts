// An address as ZeroMQ writes it: `tcp://*:5557`.

/** Where a socket listens; `*` is every interface. */
export interface TcpEndpoint {
  readonly host: string;
  readonly port: number;
}

/** Null for any other text. */
export function parseTcpEndpoint(text: string): TcpEndpoint | null {
  const match = /^tcp:\/\/(\*|\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[2]) > 65_535) return null;
  return { host: match[1]!.replace(/^\[|\]$/g, ''), port: Number(match[2]) };
}
