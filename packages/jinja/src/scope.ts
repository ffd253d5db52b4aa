// Variables of a template while it runs. Loops, macros and blocks have scopes of their own; what they set is
// gone when they end.

import type { Value } from './values.ts';

export class Scope {
  readonly #variables = new Map<string, Value>();
  readonly #parent: Scope | null;

  constructor(parent: Scope | null) {
    this.#parent = parent;
  }

  get(name: string): Value | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.#parent) {
      const value = scope.#variables.get(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value);
  }
}
