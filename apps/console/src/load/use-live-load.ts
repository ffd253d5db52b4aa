// The live samples of the server's load, one a second, and the state of the connection.

import { useEffect, useState } from 'react';
import { messageOf, useTRPCClient } from '../connection/api-client.ts';
import { type LoadSample, pushSample } from './load-history.ts';

/** Pause before a subscription that ended, as of a server that stopped, is opened again. */
const REOPEN_MS = 2_000;

export interface LiveLoad {
  readonly history: readonly LoadSample[];
  /** Null while samples come. */
  readonly problem: string | null;
}

export function useLiveLoad(): LiveLoad {
  const client = useTRPCClient();
  const [history, setHistory] = useState<readonly LoadSample[]>([]);
  const [problem, setProblem] = useState<string | null>('connecting');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    let open: { unsubscribe(): void } | undefined;
    const reopen = (why: string) => {
      setProblem(why);
      open?.unsubscribe();
      if (!isOver) timer = setTimeout(subscribe, REOPEN_MS);
    };
    const subscribe = () => {
      open = client.server.load.subscribe(undefined, {
        onData: sample => {
          setProblem(null);
          setHistory(current => pushSample(current, sample));
        },
        onConnectionStateChange: ({ state, error }) => {
          if (state === 'connecting' && error) setProblem(messageOf(error));
        },
        onError: error => reopen(messageOf(error)),
        onComplete: () => reopen('the server has ended the connection'),
      });
    };
    subscribe();
    return () => {
      isOver = true;
      clearTimeout(timer);
      open?.unsubscribe();
    };
  }, [client]);
  return { history, problem };
}
