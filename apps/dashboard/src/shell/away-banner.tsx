import { Alert, Button, Group, Text } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useEffect, useState, type ReactNode } from 'react';

const TICK_MS = 1_000;

/** Banner that says of all reads at once that the gateway is away, and when they are tried again. */
export default function AwayBanner({ nextTry, retry }: { nextTry: number; retry: () => void }): ReactNode {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((nextTry - now) / 1_000);
  return (
    <Alert color="red" variant="light" mb="md" icon={<IconPlugConnectedX size={18} />}>
      <Group justify="space-between" gap="sm">
        <div>
          <Text size="sm" fw={600}>
            The gateway cannot be reached
          </Text>
          {/* Read out once: a count that is said each second drowns all else. */}
          <Text size="sm" aria-live="off">
            {seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again…'}
          </Text>
        </div>
        <Button variant="default" size="xs" onClick={retry}>
          Retry
        </Button>
      </Group>
    </Alert>
  );
}
