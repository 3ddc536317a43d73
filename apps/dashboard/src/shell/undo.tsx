import { Button, CloseButton, Group, Paper, Text } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { asProblem } from '../api/problem.js';

interface Undoable {
  /** Sentence about what was done, such as "The key staging is suspended." */
  said: string;
  undo: () => Promise<unknown>;
}

let offered: Undoable | null = null;
const listeners = new Set<() => void>();

function offer(next: Undoable | null): void {
  offered = next;
  for (const listener of listeners) listener();
}

/** Offers to take back what was just done, in place of what was offered before. */
export function offerUndo(said: string, undo: Undoable['undo']): void {
  offer({ said, undo });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Bar with the newest thing that can be undone. It stays until it is closed or another page is opened: it has no clock. */
export default function UndoBar(): ReactNode {
  const done = useSyncExternalStore(subscribe, () => offered);
  const { pathname } = useLocation();
  useEffect(() => () => offer(null), [pathname]);
  return (
    <div aria-live="polite" style={PLACE}>
      {done !== null && <Offer key={done.said} done={done} />}
    </div>
  );
}

const PLACE = {
  position: 'fixed',
  bottom: 16,
  right: 16,
  left: 16,
  zIndex: 150,
  pointerEvents: 'none',
} as const;

function Offer({ done }: { done: Undoable }): ReactNode {
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const undo = async (): Promise<void> => {
    setRunning(true);
    try {
      await done.undo();
      if (offered === done) offer(null);
    } catch (failure) {
      setFault(asProblem(failure).message);
      setRunning(false);
    }
  };
  return (
    <Paper
      withBorder
      shadow="md"
      p="sm"
      w="fit-content"
      maw="100%"
      ml="auto"
      style={{ pointerEvents: 'auto' }}
    >
      <Group gap="sm" wrap="nowrap">
        <Text size="sm">{fault ?? done.said}</Text>
        <Button size="compact-sm" variant="default" loading={isRunning} onClick={() => void undo()}>
          Undo
        </Button>
        <CloseButton aria-label="Close the message" onClick={() => offer(null)} />
      </Group>
    </Paper>
  );
}
