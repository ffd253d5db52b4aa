export interface PinnedTool {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly bin: Readonly<Record<string, string>>;
}

export const PINNED_NODES: Readonly<Record<string, PinnedTool>>;
export const PINNED_PNPM: PinnedTool;

/** `package.json` and `package-lock.json` of a folder with these tools. */
export function toLockedManifests(tools: readonly PinnedTool[]): {
  readonly manifest: object;
  readonly lock: object;
};
