import { Group, Text, Title } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { Toolbar } from './toolbar.js';

interface PageHeadProps {
  title: string;
  /** One line below it. */
  about?: ReactNode;
  /** Owner of the figures, such as the name of the organization. */
  scope?: string;
  /** Its primary action, and what stands beside it. */
  children?: ReactNode;
}

/** The head of every page. It takes the focus on navigation, so that a screen reader begins there. */
export function PageHead({ title, about, scope, children }: PageHeadProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Model Gateway`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="lg" gap="md">
      <div style={{ minWidth: 0 }}>
        <Title
          order={1}
          size="h2"
          ref={heading}
          tabIndex={-1}
          style={{ outline: 'none', overflowWrap: 'anywhere' }}
        >
          {title}
        </Title>
        {scope !== undefined && (
          <Text size="sm" mt={4}>
            {scope}
          </Text>
        )}
        {about !== undefined && (
          <Text c="dimmed" size="sm" mt={4} component="div">
            {about}
          </Text>
        )}
      </div>
      {children !== undefined && <Toolbar>{children}</Toolbar>}
    </Group>
  );
}
