// References to objects, ops and calls: `weave:///<entity>/<project>/object/<name>:<digest>` and its siblings.

/** A parsed reference. */
export type WeaveRef =
  | {
      readonly kind: 'object' | 'op';
      readonly projectId: string;
      readonly name: string;
      readonly digest: string;
    }
  | { readonly kind: 'call'; readonly projectId: string; readonly id: string };

const VERSIONED = /^weave:\/\/\/([^/]+\/[^/]+)\/(object|op)\/([^/:]+):([^/:]+)(?:\/.*)?$/;
const CALL = /^weave:\/\/\/([^/]+\/[^/]+)\/call\/([^/]+)$/;

/** Parses a reference; null for any other text. */
export function parseWeaveRef(text: string): WeaveRef | null {
  const versioned = VERSIONED.exec(text);
  if (versioned !== null) {
    const [, projectId, kind, name, digest] = versioned;
    return { kind: kind as 'object' | 'op', projectId: projectId!, name: name!, digest: digest! };
  }
  const call = CALL.exec(text);
  return call === null ? null : { kind: 'call', projectId: call[1]!, id: call[2]! };
}
