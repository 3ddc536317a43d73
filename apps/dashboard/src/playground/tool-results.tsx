import { Button, Stack, Textarea } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { Turn } from './chat.js';

interface ToolResultsProps {
  calls: NonNullable<Turn['toolCalls']>;
  onSend: (results: readonly string[]) => void;
}

/** Fields for what the called tools have found, which the model goes on with. */
export function ToolResults({ calls, onSend }: ToolResultsProps): ReactNode {
  const [results, setResults] = useState<Readonly<Record<string, string>>>({});
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onSend(calls.map(({ id }) => results[id] ?? ''));
  };
  return (
    <form onSubmit={send}>
      <Stack gap="xs" align="flex-start">
        {calls.map(({ id, name }) => (
          <Textarea
            key={id}
            label={`Result of ${name}`}
            autosize
            minRows={1}
            maxRows={8}
            w="100%"
            value={results[id] ?? ''}
            onChange={({ currentTarget }) => setResults({ ...results, [id]: currentTarget.value })}
          />
        ))}
        <Button type="submit" size="xs" variant="default">
          Send results
        </Button>
      </Stack>
    </form>
  );
}
