import { Card, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PanelProps {
  title?: string;
  about?: ReactNode;
  children: ReactNode;
}

/** A box of a page. */
export function Panel({ title, about, children }: PanelProps): ReactNode {
  return (
    <Card withBorder padding="md">
      {title !== undefined && (
        <Title order={2} size="h5" mb={about === undefined ? 'sm' : 2}>
          {title}
        </Title>
      )}
      {about !== undefined && (
        <Text size="sm" c="dimmed" mb="sm" component="div">
          {about}
        </Text>
      )}
      {children}
    </Card>
  );
}
