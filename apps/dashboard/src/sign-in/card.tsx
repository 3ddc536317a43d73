import { Anchor, Center, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { Mark } from '../shell/mark.js';

interface CardProps {
  title: string;
  about?: ReactNode;
  children: ReactNode;
  /** A link back to sign-in below the card. */
  back?: boolean;
}

/** The one card of the pages that need no session. */
export function Card({ title, about, children, back = false }: CardProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Model Gateway`;
  }, [title]);
  return (
    <Center component="main" mih="100vh" p="md" bg="var(--page-background)">
      <Stack w="100%" maw={400} gap="lg">
        <Group gap={8} justify="center">
          <Mark />
          <Text fw={700} size="md">
            Model Gateway
          </Text>
        </Group>
        <Paper radius="lg" p="xl" shadow="sm">
          <Title order={1} size="h3" mb={4}>
            {title}
          </Title>
          {about !== undefined && (
            <Text size="sm" c="dimmed" mb="md">
              {about}
            </Text>
          )}
          {children}
        </Paper>
        {back && (
          <Anchor component={Link} to="/login" size="sm" ta="center">
            Back to sign-in
          </Anchor>
        )}
      </Stack>
    </Center>
  );
}
