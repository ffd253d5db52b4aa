// Asks for the API key once. It is checked with the list of models before it is kept.

import { type FormEvent, useState } from 'react';
import { Button } from '../components/ui/button.tsx';
import { Field } from '../components/ui/field.tsx';
import { Input } from '../components/ui/input.tsx';
import { createApiClient, messageOf } from '../connection/api-client.ts';
import { isPossibleKey } from '../connection/api-key.ts';

interface KeyFormProps {
  /** Why it is asked again. */
  readonly reason: string | null;
  readonly onKey: (key: string) => void;
}

export function KeyForm({ reason, onKey }: KeyFormProps) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState(reason);
  const [isChecking, setIsChecking] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const given = key.trim();
    if (!isPossibleKey(given)) {
      setProblem('Keys are of letters, digits and signs of ASCII, without spaces. Copy the key again.');
      return;
    }
    setIsChecking(true);
    try {
      await createApiClient(given).models.list.query();
      onKey(given);
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setIsChecking(false);
    }
  };

  return (
    <main className="grid h-full place-items-center p-4">
      <form onSubmit={submit} className="flex w-full max-w-sm flex-col gap-3 rounded-md border bg-raised p-5">
        <h1 className="text-base font-semibold">Ortler</h1>
        <Field
          label="API key"
          hint="The server showed one at its first start; its command “keys create” makes more. It stays in this tab."
          error={problem ?? undefined}
        >
          {ids => (
            <Input
              {...ids}
              type="password"
              autoComplete="off"
              spellCheck={false}
              autoFocus
              required
              value={key}
              aria-invalid={problem !== null}
              onChange={({ target }) => setKey(target.value)}
            />
          )}
        </Field>
        <div role="alert" className="sr-only">
          {problem}
        </div>
        <Button type="submit" variant="default" disabled={isChecking}>
          {isChecking ? 'Checking…' : 'Open the console'}
        </Button>
      </form>
    </main>
  );
}
