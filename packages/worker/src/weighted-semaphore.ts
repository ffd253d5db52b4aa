// A limit on what pieces of work hold together, each with a weight of its own: the bytes of bodies whose objects are in memory.

interface Waiting {
  readonly weight: number;
  readonly start: () => void;
}

export class WeightedSemaphore {
  readonly #limit: number;
  readonly #waiting: Waiting[] = [];
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits until the weight fits, whatever the limit where nothing else runs. What fits goes first: small work does not wait for large. */
  async run<Result>(weight: number, work: () => Promise<Result>): Promise<Result> {
    if (this.#fits(weight)) this.#used += weight;
    else await new Promise<void>(start => this.#waiting.push({ weight, start }));
    try {
      return await work();
    } finally {
      this.#used -= weight;
      this.#startWaiting();
    }
  }

  #fits(weight: number): boolean {
    return this.#used === 0 || this.#used + weight <= this.#limit;
  }

  #startWaiting(): void {
    for (let index = this.#waiting.findIndex(({ weight }) => this.#fits(weight)); index !== -1; ) {
      const [next] = this.#waiting.splice(index, 1);
      this.#used += next!.weight;
      next!.start();
      index = this.#waiting.findIndex(({ weight }) => this.#fits(weight));
    }
  }
}
