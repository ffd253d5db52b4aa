// The whole console: the key first, then the pages with a client that carries it.

import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { createApiClient, statusOf, TRPCProvider } from '../connection/api-client.ts';
import { forgetApiKey, readApiKey, saveApiKey } from '../connection/api-key.ts';
import { forgetEverything } from './forget-everything.ts';
import { KeyForm } from './key-form.tsx';
import { createConsoleRouter } from './router.tsx';

const RETRIES = 2;

export function Console() {
  const [apiKey, setApiKey] = useState(readApiKey);
  const [reason, setReason] = useState<string | null>(null);
  if (apiKey === null)
    return (
      <KeyForm
        reason={reason}
        onKey={key => {
          saveApiKey(key);
          setApiKey(key);
        }}
      />
    );
  const leave = (why: string | null) => {
    forgetApiKey();
    setReason(why);
    setApiKey(null);
  };
  const forget = () => {
    // Pages save what is open on them when they go.
    flushSync(() => leave(null));
    forgetEverything();
  };
  return (
    <Connected
      key={apiKey}
      apiKey={apiKey}
      onRefused={() => leave('This key is no longer valid.')}
      onForget={forget}
    />
  );
}

interface ConnectedProps {
  readonly apiKey: string;
  readonly onRefused: () => void;
  readonly onForget: () => void;
}

function Connected({ apiKey, onRefused, onForget }: ConnectedProps) {
  const { client, queryClient, router } = useMemo(
    () => ({
      client: createApiClient(apiKey),
      queryClient: createQueryClient(onRefused),
      router: createConsoleRouter({ onForget }),
    }),
    // The parent makes a new component for another key.
    [apiKey],
  );
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={client} queryClient={queryClient}>
        <RouterProvider router={router} />
      </TRPCProvider>
    </QueryClientProvider>
  );
}

function createQueryClient(onRefusedKey: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: error => {
        if (statusOf(error) === 401) onRefusedKey();
      },
    }),
    defaultOptions: {
      queries: {
        refetchOnWindowFocus: false,
        // An answer that names a fault of the request would be the same again.
        retry: (count, error) => count < RETRIES && (statusOf(error) ?? 500) >= 500,
      },
    },
  });
}
