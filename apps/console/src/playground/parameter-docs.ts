// What each parameter does and its default, from the server's own OpenAPI document.

import { useQuery } from '@tanstack/react-query';
import { serverUrl } from '../connection/server-url.ts';
import type { Mode } from './parameters.ts';

export interface ParameterDoc {
  readonly description: string;
  /** As JSON; absent: the description tells it. */
  readonly default: string | undefined;
}

const COMPONENTS: Readonly<Record<Mode, string>> = {
  chat: 'ChatCompletionRequest',
  completion: 'CompletionRequest',
};

interface PropertySchema {
  readonly description?: string;
  readonly default?: unknown;
}

/** By parameter; empty until the document has come. */
export function useParameterDocs(mode: Mode): ReadonlyMap<string, ParameterDoc> {
  const { data } = useQuery({
    queryKey: ['openapi'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const response = await fetch(serverUrl('openapi.json'), { signal });
      if (!response.ok) throw new Error(`The server answered ${response.status}.`);
      return response.json() as Promise<{
        components: { schemas: Record<string, { properties?: Record<string, PropertySchema> }> };
      }>;
    },
  });
  const properties = data?.components.schemas[COMPONENTS[mode]]?.properties ?? {};
  return new Map(
    Object.entries(properties).map(([name, { description = '', default: value }]) => [
      name,
      { description, default: value === undefined ? undefined : JSON.stringify(value) },
    ]),
  );
}
