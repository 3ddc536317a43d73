import { Button, Skeleton, Stack, Text } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import classes from './states.module.css';

/** Shaped like what will stand there; nothing flashes where the answer comes at once. */
export function Loading({ height = 160, rows = 1 }: { height?: number; rows?: number }): ReactNode {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Stack gap="xs" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={height} visible={isShown} opacity={isShown ? 1 : 0} radius="md" />
      ))}
    </Stack>
  );
}

const PLACE_PX = 120;

/** Place of content whose failure a banner speaks for. */
export function Unread(): ReactNode {
  return (
    <div role="status" aria-label="Not read yet">
      <Skeleton height={PLACE_PX} radius="md" animate={false} />
    </div>
  );
}

interface EmptyProps {
  children: ReactNode;
  action?: { label: string; run: () => void } | undefined;
}

/** Nothing there yet: one sentence, and what to do about it. */
export function Empty({ children, action }: EmptyProps): ReactNode {
  return (
    <Stack align="center" gap="sm" py="xl" px="md" className={classes.empty}>
      <Text c="dimmed" ta="center" size="sm" maw={460}>
        {children}
      </Text>
      {action !== undefined && <Button onClick={action.run}>{action.label}</Button>}
    </Stack>
  );
}
