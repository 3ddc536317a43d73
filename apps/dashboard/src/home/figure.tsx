import { Anchor, Box, Card, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { LINE_PX, Sparkline } from './sparkline.js';

/** Height of a card, whatever of it is loaded: two lines of its note have their place. */
export const CARD_PX = 162;
const NOTE_PX = 36;

interface FigureProps {
  name: string;
  /** The page that it is of. */
  to: string;
  /** Owner of the figure, such as the name of the organization. */
  scope: string;
  /** History of the figure, where it is known, and its meaning in words; null where none is asked. */
  course: { heights: readonly (number | null)[] | null; note: string } | null;
  children: ReactNode;
}

export function Figure({ name, to, scope, course, children }: FigureProps): ReactNode {
  const { slug } = useOrg();
  return (
    <Card padding="md" mih={course === null ? undefined : CARD_PX}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" c="dimmed" style={WHOLE}>
          {name}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {scope}
        </Text>
      </Group>
      <Anchor component={Link} to={`/o/${slug}${to}`} fz="xl" fw={650} c="inherit" style={NO_STRETCH}>
        {children}
      </Anchor>
      {course !== null && (
        <>
          <Box my={6} mih={LINE_PX}>
            {course.heights !== null && <Sparkline heights={course.heights} />}
          </Box>
          <Text size="xs" c="dimmed" mih={NOTE_PX}>
            {course.note}
          </Text>
        </>
      )}
    </Card>
  );
}

/** A card lays its parts out as a column: the link is as wide as its words. */
const NO_STRETCH = { alignSelf: 'flex-start' } as const;
/** The scope beside a name is cut, not the name. */
const WHOLE = { flex: 'none', maxWidth: '100%' } as const;
