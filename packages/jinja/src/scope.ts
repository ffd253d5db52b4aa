// Variables of a template while it runs. Loops, macros and blocks have scopes of their own; what they set is
// gone when they end.

import type { Marked } from './markup.ts';

export class Scope {
  readonly #variables = new Map<string, Marked>();
  readonly #parent: Scope | null;

  constructor(parent: Scope | null) {
    this.#parent = parent;
  }

  get(name: string): Marked | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.#parent) {
      const value = scope.#variables.get(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  set(name: string, value: Marked): void {
    this.#variables.set(name, value);
  }
}
