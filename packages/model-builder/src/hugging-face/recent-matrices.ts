// Files that store a matrix with inputs first have a row of the builder in every line, so such a matrix is read as a whole. A build
// asks for rows of gates and ups in turns, and goes from matrix to matrix otherwise: the last few are enough.

/** How many are kept: two that are read in turns, and the one before. */
const KEPT = 3;

export class RecentMatrices {
  /** In the order of their last use. */
  readonly #kept = new Map<string, Promise<unknown>>();

  /** What `load` gives for this name, which always loads the same type. Rejects as `load`, which is then tried again. */
  async get<T>(name: string, load: () => Promise<T>): Promise<T> {
    const loaded = (this.#kept.get(name) as Promise<T> | undefined) ?? load();
    this.#kept.delete(name);
    this.#kept.set(name, loaded);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT) this.#kept.delete(oldest!);
    try {
      return await loaded;
    } catch (error) {
      this.#kept.delete(name);
      throw error;
    }
  }
}
