// Where the server is: the folder that this page came from, whatever prefix a proxy has put before it.

/** Address of a path of the server, such as `trpc` or `version`. */
export function serverUrl(path: string): string {
  return new URL(path, new URL('.', document.baseURI)).href.replace(/#.*$/, '');
}
