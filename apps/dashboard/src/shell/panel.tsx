import { Card, Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PanelProps {
  title?: string;
  about?: ReactNode;
  /** Owner of the figures, such as the name of the organization. */
  scope?: string | undefined;
  children: ReactNode;
}

/** The scope beside a title is cut, not the title. */
const WHOLE = { flex: 'none', maxWidth: '100%' } as const;

/** A box of a page. */
export function Panel({ title, about, scope, children }: PanelProps): ReactNode {
  return (
    <Card padding="md">
      {title !== undefined && (
        <Group justify="space-between" gap="xs" wrap="nowrap" mb={about === undefined ? 'sm' : 2}>
          <Title order={2} size="h4" style={WHOLE}>
            {title}
          </Title>
          {scope !== undefined && (
            <Text size="xs" c="dimmed" truncate>
              {scope}
            </Text>
          )}
        </Group>
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
